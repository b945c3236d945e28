"""The tools that were on offer while the traces were made: what insight reads of a catalog."""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from pegboard.core import Effects, Note, SourceRef, ToolSpec
from pegboard.errors import ConfigError
from pegboard.insight.names import reads
from pegboard.normalise import normalise
from pegboard.schema.types import Json, Schema
from pegboard.sources.recorded import read_rows


@dataclass(frozen=True)
class Offer:
    """Tools by every name under which a trace may show them.

    Parameters:
        specs: the tools.
    """

    specs: tuple[ToolSpec, ...] = ()

    @cached_property
    def _names(self) -> Mapping[str, ToolSpec]:
        found: dict[str, ToolSpec] = {}
        for spec in self.specs:
            bare = spec.name.name
            wire = f"{spec.name.namespace}__{bare}"
            for name in (str(spec.name), bare, wire, f"mcp__{wire}", *spec.aliases):
                found.setdefault(name, spec)
        return found

    def find(self, tool: str) -> ToolSpec | None:
        """The tool that a trace means by this name, or None."""
        return self._names.get(tool)

    def called(self, spec: ToolSpec, tools: Container[str]) -> bool:
        """Whether a tool is among those that traces show, under any of its names."""
        return any(name in tools for name, meant in self._names.items() if meant is spec)

    def reads(self, tool: ToolSpec | str) -> bool:
        """Whether a tool only reads: as its spec says, else as its name does."""
        spec = self.find(tool) if isinstance(tool, str) else tool
        if spec is not None and spec.effects is not Effects.UNKNOWN:
            return spec.effects is Effects.READ_ONLY
        return reads(spec.name.name if spec else str(tool))

    def parameters(self, tool: str) -> Mapping[str, Schema]:
        """A tool's parameters with their schemas; none where it is not on offer."""
        spec = self.find(tool)
        return cast("Mapping[str, Schema]", spec.properties) if spec else {}

    def takes_list(self, tool: str, parameter: str) -> bool:
        """Whether a parameter takes a list already."""
        schema: Any = self.parameters(tool).get(parameter)
        if not isinstance(schema, Mapping):
            return False
        kind = cast("Mapping[str, Any]", schema).get("type")
        return kind == "array" or isinstance(kind, list) and "array" in kind

    @staticmethod
    def composite(spec: ToolSpec) -> str | None:
        """What sort of composite a tool is, or None."""
        kind = _meta(spec).get("pegboard/composite")
        return kind if isinstance(kind, str) else None

    @staticmethod
    def uses(spec: ToolSpec) -> tuple[str, ...]:
        """The tools that a composite calls or replaces, in order."""
        replaced = spec.replaces or spec.meta.get("replaces")
        used = _meta(spec).get("pegboard/uses")
        used = replaced or used if Offer.composite(spec) == "bundle" else used or replaced
        return tuple(map(str, cast("list[Json]", used))) if isinstance(used, list | tuple) else ()


def _meta(spec: ToolSpec) -> Mapping[str, Any]:
    inner = spec.meta.get("_meta")
    return {**spec.meta, **cast("Mapping[str, Any]", inner)} if isinstance(inner, Mapping) else spec.meta


def read_offer(path: Path) -> tuple[Offer, tuple[Note, ...]]:
    """The tools of a file: a JSON list of tool rows in any provider's spelling, a `tools/list` answer, or JSON Lines.

    Raises:
        ConfigError: the file cannot be read, or holds no tools.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read the catalog: {error}.", where=str(path)) from error
    notes: list[Note] = []
    try:
        _, rows = read_rows(text, notes)
    except (ValueError, json.JSONDecodeError) as error:
        raise ConfigError(f"The catalog is no list of tools: {error}", where=str(path)) from error
    return offer_of(rows, notes), tuple(notes)


def offer_of(rows: Iterable[Json], notes: list[Note] | None = None) -> Offer:
    """The tools of these rows; `notes` takes what was odd about them."""
    specs: list[ToolSpec] = []
    for row in rows:
        found = normalise(row, namespace="", source=SourceRef("catalog", "recorded"), trusted=True)
        if notes is not None:
            notes.extend(found.notes)
        if found.spec is not None:
            specs.append(found.spec)
    return Offer(tuple(specs))
