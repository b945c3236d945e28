"""The tables `[deprecated.NAME]` of a config: any tool, also a foreign one, can be on its way out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pegboard.catalog import AliasTable, Catalog, Unknown, resolve
from pegboard.compose.succession import Succession
from pegboard.core import Note, NoteKind, Tool, ToolName
from pegboard.core.draft import Unbound
from pegboard.errors import PegboardError
from pegboard.schema.shorthand import read_object
from pegboard.schema.template import Template
from pegboard.schema.types import JsonObject


def deprecate(tools: Sequence[Tool], tables: Mapping[str, JsonObject]) -> tuple[list[Tool], list[Note]]:
    """Mark the tools that the tables name; one with `args` becomes a tool over its successor, still to be bound.

    Parameters:
        tools: the tools of all sources.
        tables: the tables by tool, defaults filled in.

    Returns:
        The tools in their order, those that no source offers any more last; and notes on tables that were set aside.
    """
    catalog = Catalog.of(tools)
    found = dict(catalog.tools)
    notes: list[Note] = []
    for name, table in tables.items():
        try:
            tool = _deprecated(name, table, catalog)
            found[tool.name] = tool
        except PegboardError as error:
            notes.append(Note(NoteKind.SET_ASIDE, name, f"deprecated.{name}", str(error)))
    return list(found.values()), notes


def _deprecated(name: str, table: JsonObject, catalog: Catalog) -> Tool:
    meant = resolve(name, catalog, AliasTable())
    tool = None if isinstance(meant, Unknown) else catalog.get(meant)
    args, sunset = table.get("args"), table.get("sunset")
    note, successor = table.get("note") or "", table.get("successor")
    if args:
        return _over(name, table, tool)
    if tool is None:
        near = meant.candidates if isinstance(meant, Unknown) else ()
        remedy = f"Did you mean {' or '.join(near)}?" if near else "Give `successor` and `args`, and it works over it."
        raise PegboardError(f"There is no tool {name!r}.", next_step=remedy)
    return Tool(replace(tool.spec, deprecated=note, successor=successor, sunset=sunset), tool.handler)


def _over(name: str, table: JsonObject, tool: Tool | None) -> Tool:
    where = f"deprecated.{name}"
    if not table.get("successor"):
        raise PegboardError("`args` are those of a successor.", where=where, next_step='Write successor = "...".')
    value = table.get("value")
    definition = Succession(
        name=ToolName.parse(name) if tool is None else tool.name,
        successor=table["successor"],
        args=Template.parse(table["args"]),
        note=table.get("note") or "",
        sunset=table.get("sunset"),
        value=None if value is None else Template.parse(value),
        old=None if tool is None or isinstance(tool.handler, Unbound) else tool.spec,
        input=read_object(table.get("input") or None, f"{where}.input"),
        description=table.get("description") or "",
    )
    return Unbound.tool(definition, definition.description)


def succeed(tools: Sequence[Tool]) -> list[Tool]:
    """The tools, each successor by its full name: in the namespace of the tool that names it first."""
    catalog = Catalog.of(tools)
    return [_named(tool, catalog) if tool.spec.successor else tool for tool in tools]


def _named(tool: Tool, catalog: Catalog) -> Tool:
    text = tool.spec.successor or ""
    sibling = ToolName(tool.name.namespace, text)
    found = sibling if sibling in catalog else resolve(text, catalog, AliasTable())
    if isinstance(found, Unknown) or str(found) == text:
        return tool
    return Tool(replace(tool.spec, successor=str(found)), tool.handler)
