"""A board version: its definitions as they were when it was published, and the board held to them ever since."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.catalog.compare import differences
from pegboard.catalog.plain import spec_from_json, spec_to_json
from pegboard.core import Call, FailureCode, Handler, Result, Tool, ToolSpec
from pegboard.core.draft import Unbound
from pegboard.schema.diff import Weight
from pegboard.schema.types import JsonObject, digest

COMPOSED = "compose"
"""The name of the source that every composed tool has."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """The definitions of a board version.

    Parameters:
        version: what it is called.
        specs: its tools, in their order.
        tables: the config's tables of composed and deprecated tools, by kind and name.
    """

    version: str
    specs: tuple[ToolSpec, ...]
    tables: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])

    def to_json(self) -> JsonObject:
        """As plain data, each definition with its digest."""
        tools = [{"digest": spec.digest, "spec": spec_to_json(spec)} for spec in self.specs]
        return plain({"tools": tools, "tables": self.tables})

    @classmethod
    def from_json(cls, version: str, content: JsonObject) -> "Frozen":
        """What `to_json` wrote.

        Raises:
            ValueError: it is not one of these, or another Pegboard's.
        """
        try:
            return cls(version, tuple(spec_from_json(row["spec"]) for row in content["tools"]), content["tables"])
        except (KeyError, TypeError) as problem:
            raise ValueError(f"The board version {version} cannot be read: {problem}") from problem

    @property
    def digest(self) -> str:
        """Identifies the definitions, whatever the version is called."""
        return digest(self.to_json())

    def hold(self, tools: Sequence[Tool]) -> list[Tool]:
        """What the sources offer now, held to this version; what has changed too much, or is gone, refuses to run.

        Tools that are not in this version stay, so that composed ones can be bound; `only` leaves them out.
        """
        wanted = {spec.name: spec for spec in self.specs if spec.source.name != COMPOSED}
        present = {tool.name for tool in tools}
        held = [self._held(wanted[tool.name], tool) if tool.name in wanted else tool for tool in tools]
        return [*held, *(Tool(spec, self._gone(spec)) for name, spec in wanted.items() if name not in present)]

    def only(self, tools: Iterable[Tool]) -> list[Tool]:
        """The tools of this version and no others, in its order; composed ones are held to it here."""
        present = {tool.name: tool for tool in tools}
        return [self._only(spec, present.get(spec.name)) for spec in self.specs]

    def _only(self, spec: ToolSpec, tool: Tool | None) -> Tool:
        if tool is None:
            return Tool(spec, self._gone(spec))
        return self._held(spec, tool) if spec.source.name == COMPOSED else Tool(spec, tool.handler)

    def _held(self, spec: ToolSpec, tool: Tool) -> Tool:
        if isinstance(tool.handler, Unbound) or tool.spec == spec:
            return tool
        if tool.spec.digest == spec.digest:
            return Tool(spec, tool.handler)
        broken = [one.message for one in differences(spec, tool.spec) if one.weight is Weight.BREAKING]
        return Tool(spec, self._changed(spec, broken) if broken else tool.handler)

    def _changed(self, spec: ToolSpec, broken: Sequence[str]) -> Handler:
        return _refusing(
            FailureCode.BLOCKED,
            f"{spec.name} has changed since the board version {self.version} was published: {'; '.join(broken[:3])}."
            " Nothing was done.",
            "Use another tool. Whoever runs the board can publish a new version, or give the change a name of its own.",
        )

    def _gone(self, spec: ToolSpec) -> Handler:
        return _refusing(
            FailureCode.UNAVAILABLE,
            f"{spec.name} stands in the board version {self.version}, and nothing offers it any more.",
            "Use another tool. Whoever runs the board can publish a new version.",
        )


def freeze(version: str, tools: Iterable[Tool], tables: Mapping[str, JsonObject]) -> Frozen:
    """The definitions of a board now.

    Parameters:
        version: what it shall be called.
        tools: its tools.
        tables: the config's tables of composed and deprecated tools.
    """
    return Frozen(version, tuple(tool.spec for tool in tools), plain(tables))


def plain(value: Any) -> Any:
    """As JSON reads it: tuples are lists. The order of keys stays, since models fill arguments in it."""
    return json.loads(json.dumps(value, default=str))


def _refusing(code: FailureCode, message: str, step: str) -> Handler:
    async def refuse(call: Call) -> Result:
        return Result.failed(code, message, next_step=step)

    return refuse
