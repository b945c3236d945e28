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


def succeed_over(tools: Sequence[Tool], tables: Mapping[str, JsonObject]) -> tuple[list[Tool], list[Note]]:
    """The tools, those that the tables give `args` to as tools over their successors, still to be bound.

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
            if table.get("args"):
                tool = _over(name, table, catalog)
                found[tool.name] = tool
        except PegboardError as error:
            notes.append(Note(NoteKind.SET_ASIDE, name, f"deprecated.{name}", str(error)))
    return list(found.values()), notes


def deprecate(tools: Sequence[Tool], tables: Mapping[str, JsonObject]) -> tuple[list[Tool], tuple[str, ...]]:
    """The tools, those that the tables name marked, each successor by its full name; and what has no effect.

    A successor is looked up in the namespace of the tool that names it first.

    Parameters:
        tools: all tools of the board, the composed ones among them.
        tables: the tables by tool, defaults filled in.
    """
    catalog = Catalog.of(tools)
    found = dict(catalog.tools)
    told: list[str] = []
    for name, table in tables.items():
        tool = _meant(name, catalog)
        if isinstance(tool, Tool) and not table.get("args"):
            fields = {key: table.get(key) for key in ("successor", "sunset")}
            found[tool.name] = Tool(replace(tool.spec, deprecated=table.get("note") or "", **fields), tool.handler)
        elif isinstance(tool, Unknown) and not table.get("args"):
            near = f"Did you mean {' or '.join(tool.candidates)}?" if tool.candidates else "Take the table out."
            told.append(f"deprecated.{name} has no effect: there is no tool of this name. {near}")
    named = [_named(tool, catalog, told) if tool.spec.successor else tool for tool in found.values()]
    return named, tuple(told)


def _meant(name: str, catalog: Catalog) -> Tool | Unknown:
    meant = resolve(name, catalog, AliasTable())
    return meant if isinstance(meant, Unknown) else catalog.tools[meant]


def _over(name: str, table: JsonObject, catalog: Catalog) -> Tool:
    where = f"deprecated.{name}"
    meant = _meant(name, catalog)
    tool = meant if isinstance(meant, Tool) else None
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


def _named(tool: Tool, catalog: Catalog, told: list[str]) -> Tool:
    text = tool.spec.successor or ""
    sibling = ToolName(tool.name.namespace, text)
    found = sibling if sibling in catalog else resolve(text, catalog, AliasTable())
    if isinstance(found, Unknown):
        near = f" Did you mean {' or '.join(found.candidates)}?" if found.candidates else ""
        told.append(f"{tool.name} names the successor {text}, which is not on the board.{near}")
        return tool
    return tool if str(found) == text else Tool(replace(tool.spec, successor=str(found)), tool.handler)
