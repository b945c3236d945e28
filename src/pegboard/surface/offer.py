"""What one request offers a model of a board, and the way back from what the model asks for."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from pegboard.catalog import Unknown, View, readable_name, resolve
from pegboard.core import Call, Session, ToolName, ToolSpec
from pegboard.core.spec import OWN_META
from pegboard.schema.lower import Loss
from pegboard.schema.raise_ import raise_arguments
from pegboard.schema.types import Json, JsonObject
from pegboard.surface.definition import Definition, define, wire_name
from pegboard.surface.describing import Cap

SEARCH = ToolName("", "tool_search")
"""The meta-tool whose work a provider's own search takes over."""

REPLACED = frozenset({SEARCH, ToolName("", "tool_call")})
"""Meta-tools that nobody needs where a provider loads deferred definitions itself."""


@dataclass(frozen=True)
class Offer:
    """The tools of one request, and what it took to say them in a provider's form.

    Parameters:
        to: the dialect.
        tools: the entries of the request's `tools`.
        definitions: every tool of the request in its order, those that were refused too.
        view: what was offered.
        groups: where tools are called by a namespace and a name inside it, each namespace by its wire name.
        cap: the most that a description may take.
        budget: bytes that each definition may take.
        notes: what a reader should know of the selection.
    """

    to: str
    tools: list[dict[str, Any]]
    definitions: tuple[Definition, ...]
    view: View
    groups: Mapping[str, str] = field(default_factory=dict[str, str])
    cap: Cap | None = None
    budget: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the provider no longer enforces of the tools that are sent; the author's schema still judges calls."""
        return tuple(loss for one in self.definitions if one.tool is not None for loss in one.losses)

    @property
    def refused(self) -> dict[str, str]:
        """Why a tool is not in the request, by its full name."""
        return {str(one.spec.name): one.refused for one in self.definitions if one.spec and one.refused}

    def to_json(self) -> dict[str, Json]:
        """The request's part and everything that was done for it, as `pegboard export --json` prints it."""
        rows = [one.to_json() for one in self.definitions]
        told = [{key: value for key, value in row.items() if key != "tool" and value} for row in rows]
        return {
            "target": self.to,
            "request": {"tools": self.tools},
            "definitions": [row for row in told if len(row) > 1],
            "notes": list(self.notes),
        }

    def find(self, name: str, namespace: str | None = None) -> ToolName:
        """The tool that a model means, in any spelling; a name that is nobody's comes back as it is.

        Parameters:
            name: the name that was called.
            namespace: the namespace beside it, where the provider has such.
        """
        inside = self._inside(self.groups[namespace], name) if namespace and namespace in self.groups else None
        if inside is not None:
            return inside
        for text in (f"{namespace}.{name}", name) if namespace else (name,):
            found = resolve(text, self.view, self.view.aliases)
            if not isinstance(found, Unknown):
                return found
        return self.view.aliases.full.get(name, ToolName(namespace or "", name))

    def _inside(self, namespace: str, name: str) -> ToolName | None:
        """The tool of a namespace that has a name inside of it."""
        wires = (inner_prefix(namespace) + name, name)
        found = [self.view.aliases.full.get(wire, ToolName("", wire)) for wire in wires]
        return next((one for one in found if one.namespace == namespace and one in self.view), None)

    def spec(self, name: ToolName) -> ToolSpec | None:
        """A tool of the view."""
        return self.view.tools.get(name)

    def definition(self, name: ToolName) -> Definition | None:
        """The definition of a tool of the view; one that is found by search is made when it is asked for."""
        known = self._by_name.get(name)
        spec = self.view.tools.get(name)
        if known is not None or spec is None:
            return known
        wire = wire_name(name, self.view.aliases, self.to)
        return define(spec, wire, self.to, cap=self.cap, budget=self.budget)

    @cached_property
    def _by_name(self) -> dict[ToolName, Definition]:
        return {one.spec.name: one for one in self.definitions if one.spec is not None}

    def call(
        self,
        tool: ToolName,
        arguments: Json,
        session: Session,
        *,
        id: str | None = None,
        parent: str | None = None,
        group: str | None = None,
        marks: JsonObject | None = None,
    ) -> Call:
        """The call of a tool with a model's arguments, raised to what the author's schema wants.

        Parameters:
            tool: the tool.
            arguments: what the model sent; anything that is no object is left for the pipeline to refuse.
            session: who calls.
            id: the provider's id of the call.
            parent: the id of the program that makes it.
            group: calls of one message share it.
            marks: what of the provider's item is kept with the call.
        """
        definition = self.definition(tool)
        if definition is not None and definition.lowered is not None:
            arguments = raise_arguments(definition.lowered, arguments).value
        meta = {OWN_META + key: value for key, value in (marks or {}).items() if value is not None}
        return Call(
            tool=tool, arguments=arguments, session=session, id=id, parent=parent, group=group, meta=meta
        )  # fmt: skip


def inner_prefix(namespace: str) -> str:
    """What a tool's wire name begins with, and its name inside of its namespace does not."""
    return f"{readable_name(ToolName('', namespace))}__" if namespace else ""


def read_arguments(text: Any) -> Json:
    """Arguments that come as JSON in a text; a text that is no JSON stays one, for the pipeline to refuse."""
    if not isinstance(text, str):
        return text
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def hits(value: Json, offer: Offer) -> list[ToolName]:
    """The tools that a search found, as the meta-tool's value names them, best first in each namespace."""
    groups = cast("Iterable[Any]", value.get("namespaces", ()) if isinstance(value, Mapping) else ())  # pyright: ignore[reportUnknownMemberType]
    named = [offer.find(row["name"]) for group in groups for row in group["tools"]]
    return [name for name in named if name in offer.view]


def without(specs: Iterable[ToolSpec], names: Iterable[ToolName]) -> tuple[ToolSpec, ...]:
    """The tools that are none of these."""
    left_out = set(names)
    return tuple(spec for spec in specs if spec.name not in left_out)
