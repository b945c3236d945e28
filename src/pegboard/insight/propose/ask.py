"""What a proposal is made from: the finding, the findings beside it, and the tools on offer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pegboard.core import ToolSpec
from pegboard.insight.offer import Offer
from pegboard.schema.types import Json

LONGEST_NAME = 48
"""Characters of a name that is made here: with a namespace before it, it has to stay below what providers take."""

Row = Mapping[str, Any]
"""A finding as plain data: what `pegboard insight --json` lists."""


@dataclass(frozen=True)
class Ask:
    """One finding to be made into something.

    Parameters:
        row: the finding.
        others: all findings of the same traces; other entries to a bundle stand among them.
        offer: the tools on offer.
        name: the new tool's name, where a person has chosen it.
    """

    row: Row
    others: Sequence[Row] = ()
    offer: Offer = field(default_factory=Offer)
    name: str | None = None

    @property
    def id(self) -> str:
        """The finding's id."""
        return str(self.row["id"])

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that it is about."""
        return tuple(map(str, cast("Sequence[str]", self.row["tools"])))

    def spec(self, tool: str) -> ToolSpec | None:
        """A tool's definition, where it is on offer."""
        return self.offer.find(tool)

    def full(self, tool: str) -> str:
        """A tool's full name on the board, or as traces show it."""
        spec = self.spec(tool)
        return str(spec.name) if spec else tool

    def named(self, name: str) -> str:
        """A new tool's full name: in the namespace of its parts, where they share one, and not taken."""
        spaces = {self.full(tool).rpartition(".")[0] for tool in self.tools}
        space = spaces.pop() if len(spaces) == 1 else ""
        wanted = self.name or (name if name[:1].isalpha() else f"do_{name}")[:LONGEST_NAME].rstrip("_")
        full = wanted if "." in wanted or not space else f"{space}.{wanted}"
        taken = {str(spec.name) for spec in self.offer.specs}
        return next(each for each in (full, *(f"{full}_{n}" for n in range(2, 1000))) if each not in taken)

    def parameter(self, tool: str, path: str) -> str | None:
        """The declared parameter that a path in a tool's arguments belongs to; None where there is no such one."""
        name = path.partition(".")[0].partition("[")[0]
        known = list(self.offer.parameters(tool))
        if not self.spec(tool) or name in known:
            return name or None
        at = name.removeprefix("arg")
        return known[int(at)] if at.isdigit() and int(at) < len(known) else None

    def required(self, tool: str) -> list[str]:
        """The parameters that a tool cannot do without."""
        spec = self.spec(tool)
        return list(map(str, spec.input.get("required", ()))) if spec else []

    def schema(self, tool: str, parameter: str) -> Json:
        """A parameter's schema as a config can hold it: without nulls and references."""
        return portable(self.offer.parameters(tool).get(parameter, {}))


def portable(schema: Json) -> Json:
    """A schema without what TOML or another document cannot hold: nulls, and references into the old document."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Json]", schema)
        if "$ref" in node:
            return {key: node[key] for key in ("description",) if isinstance(node.get(key), str)}
        return {key: portable(value) for key, value in node.items() if value is not None}
    if isinstance(schema, list | tuple):
        return [portable(value) for value in cast("list[Json]", schema) if value is not None]
    return schema
