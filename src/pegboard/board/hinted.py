"""Hints from a config: what the description of a tool should have said, added from outside."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from pegboard.board.aimed import aimed
from pegboard.catalog import Catalog
from pegboard.core import Hint, Relation, Tool
from pegboard.index.graph import REFUSED
from pegboard.schema.types import Json, JsonObject, as_list, as_object


def hinted(catalog: Catalog, tables: Mapping[str, JsonObject]) -> tuple[Catalog, tuple[str, ...]]:
    """The catalog with the hints of `[hint.NAME]` tables on its tools, and a warning for each table without a tool.

    Parameters:
        catalog: the tools.
        tables: the tables by the tool that each is about.
    """
    return aimed(catalog, "hint", tables, _told)


def _told(tool: Tool, table: JsonObject) -> Tool:
    note = str(table.get("note") or "").strip()
    hints = [_hint(relation, row) for relation in Relation for row in _rows(table, relation.value)]
    description = "\n".join(part for part in (tool.spec.description, note) if part)
    refused = [str(name) for name in _rows(table, "refuse")]
    meta = {**tool.spec.meta, REFUSED: refused} if refused else tool.spec.meta
    told = tuple(dict.fromkeys((*tool.spec.hints, *hints)))
    spec = replace(tool.spec, description=description, hints=told, meta=meta)
    return Tool(spec, tool.handler)


def _rows(table: JsonObject, key: str) -> list[Json]:
    """The rows of a key: a list where they come from JSON, a tuple where a config was read."""
    found = table.get(key)
    return list(cast("tuple[Json, ...]", found)) if isinstance(found, tuple) else as_list(found)


def _hint(relation: Relation, row: Json) -> Hint:
    table = as_object(row)
    return Hint(relation, str(table.get("tool", "")), str(table.get("when", "")), table.get("parameter"))
