"""What the operator says of a tool, laid over what its source says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pegboard.board.aimed import aimed
from pegboard.catalog import Catalog
from pegboard.core import Effects, Rung, Tool, ToolSpec
from pegboard.schema.types import JsonObject

_HINTS: Mapping[Effects, JsonObject] = {
    Effects.READ_ONLY: {"readOnlyHint": True},
    Effects.ADDITIVE: {"readOnlyHint": False, "destructiveHint": False},
    Effects.IDEMPOTENT: {"readOnlyHint": False, "idempotentHint": True},
    Effects.DESTRUCTIVE: {"readOnlyHint": False, "destructiveHint": True},
}
"""The hints of MCP that say the same as our effects."""
_SAID = {key for hints in _HINTS.values() for key in hints}


def overridden(catalog: Catalog, tables: Mapping[str, JsonObject]) -> tuple[Catalog, tuple[str, ...]]:
    """The catalog with the `[override.NAME]` tables over its tools, and a warning for each table without a tool.

    Parameters:
        catalog: the tools.
        tables: the tables by the tool that each is about.
    """
    return aimed(catalog, "override", tables, _told)


def _told(tool: Tool, table: JsonObject) -> Tool:
    return Tool(with_override(tool.spec, table), tool.handler)


def with_override(spec: ToolSpec, table: JsonObject) -> ToolSpec:
    """A spec with what a table says over it; keys that hold nothing leave it as it is.

    Parameters:
        spec: the tool.
        table: the keys of `[override.NAME]`.
    """
    plain = ("description", "title", "category", "auth")
    changes: dict[str, Any] = {key: table[key] for key in plain if table.get(key) is not None}
    if table.get("rung"):
        changes["rung"] = Rung(table["rung"])
    if table.get("aliases"):
        changes["aliases"] = tuple(dict.fromkeys((*spec.aliases, *table["aliases"])))
    if table.get("effects"):
        changes["effects"] = Effects(table["effects"])
        rest = {key: value for key, value in spec.annotations.items() if key not in _SAID}
        changes["annotations"] = {**rest, **_HINTS[changes["effects"]]}
    return replace(spec, **changes) if changes else spec
