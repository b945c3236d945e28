"""Composed tools from the tables of a config; a table that cannot work is set aside alone."""

from collections.abc import Callable, Mapping
from typing import Any

from pegboard.compose.batch import Batch, Undo
from pegboard.compose.bind import Composite
from pegboard.compose.bundle import Bundle
from pegboard.compose.fanout import Pace
from pegboard.compose.gather import Branch
from pegboard.compose.merge import Merge
from pegboard.compose.merge import key as merge_by_key
from pegboard.compose.scatter import Scatter
from pegboard.compose.steps import read_steps
from pegboard.compose.upstream import UpstreamTool
from pegboard.core import Note, NoteKind, ToolName
from pegboard.errors import DefinitionError, PegboardError
from pegboard.schema.expression import Expression
from pegboard.schema.shorthand import read_object
from pegboard.schema.template import Template
from pegboard.schema.types import Json, JsonObject, as_object


def read_composites(tables: Mapping[str, Mapping[str, JsonObject]]) -> tuple[list[Composite], list[Note]]:
    """The composed tools that a config defines, and notes on tables that were set aside.

    Parameters:
        tables: the tables `batch`, `bundle` and `scatter` by name, each with its tables by name, defaults filled in.
    """
    found: list[Composite] = []
    notes: list[Note] = []
    for kind, read in _READERS.items():
        for name, table in tables.get(kind, {}).items():
            try:
                found.append(read(name, table))
            except PegboardError as error:
                notes.append(Note(NoteKind.SET_ASIDE, name, f"{kind}.{name}", str(error)))
    return found, notes


def _batch(name: str, table: JsonObject) -> Composite:
    where = f"batch.{name}"
    undo, upstream = as_object(table.get("undo")), as_object(table.get("upstream"))
    rate, stop, timeout = table.get("rate"), table.get("stop_after"), table.get("timeout")
    return Batch(
        name=ToolName.parse(name),
        tool=table["tool"],
        over=tuple(table.get("over", ())),
        description=table.get("description", ""),
        limit=table.get("limit", 50),
        on_error=table.get("on_error", "partial"),
        duplicates=table.get("duplicates", "once"),
        pace=Pace(
            concurrency=table.get("concurrency", 32),
            rate=rate,
            retries=table.get("retries", 2),
            stop_after=stop,
            timeout=timeout,
        ),
        undo=Undo(tool=_text(undo, "tool", f"{where}.undo"), args=Template.parse(undo.get("args", {})))
        if undo
        else None,
        upstream=_upstream(upstream, f"{where}.upstream") if upstream else None,
    )


def _upstream(table: JsonObject, where: str) -> UpstreamTool:
    return UpstreamTool(
        tool=_text(table, "tool", where),
        over=_text(table, "over", where),
        limit=int(table.get("limit", 100)),
        values=Template.parse(table.get("values", "${result}")),
        key=table.get("key"),
    )


def _bundle(name: str, table: JsonObject) -> Composite:
    output = table.get("output")
    return Bundle(
        name=ToolName.parse(name),
        description=table["description"],
        steps=read_steps(table["steps"], f"bundle.{name}.steps"),
        input=read_object(table.get("input") or None, f"bundle.{name}.input"),
        output=None if output is None else Template.parse(output),
        category=table.get("category"),
        replaces=tuple(table.get("replaces", ())),
    )


def _scatter(name: str, table: JsonObject) -> Composite:
    where = f"scatter.{name}"
    branches = {source: _branch(value, f"{where}.sources.{source}") for source, value in table["sources"].items()}
    if not branches:
        raise DefinitionError("There must be at least one source.", where=f"{where}.sources")
    return Scatter(
        name=ToolName.parse(name),
        description=table.get("description", ""),
        branches=branches,
        merge=_merge(table),
        timeout=table.get("timeout", 10.0),
        quorum=table.get("quorum", 1),
        input=read_object(table.get("input") or None, f"{where}.input"),
        category=table.get("category"),
    )


def _merge(table: JsonObject) -> Merge:
    by, how = tuple(table.get("by", ())), table.get("merge", "union")
    if how == "key":
        return merge_by_key(by, ignore_case=table.get("ignore_case", False))
    return Merge(how=how, by=by, ignore_case=table.get("ignore_case", False), limit=table.get("limit"))


def _branch(value: Json, where: str) -> Branch:
    if isinstance(value, str):
        return Branch(tool=value)
    table = as_object(value)
    args, records = table.get("args"), table.get("records")
    return Branch(
        tool=_text(table, "tool", where),
        args=None if args is None else Template.parse(args),
        records=None if records is None else Template.parse(records),
        fields={key: Expression.parse(str(text)) for key, text in as_object(table.get("fields")).items()},
    )


def _text(table: JsonObject, key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise DefinitionError(f"The key {key!r} is missing.", where=where, next_step=f'Write {key} = "...".')
    return value


_READERS: Mapping[str, Callable[[str, JsonObject], Any]] = {"batch": _batch, "bundle": _bundle, "scatter": _scatter}
