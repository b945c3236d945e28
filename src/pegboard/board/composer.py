"""Composed tools: put on the catalog whenever what the sources offer changes."""

from collections.abc import Mapping, Sequence

from pegboard.board.hinted import hinted
from pegboard.board.overridden import overridden
from pegboard.catalog import Catalog
from pegboard.catalog.frozen import Frozen
from pegboard.core import Handler, Note, Tool
from pegboard.core.draft import DRAFT, Unbound
from pegboard.schema.types import JsonObject

TABLES = ("batch", "bundle", "scatter", "deprecated", "hint", "override")


class Composer:
    """Binds the composed tools of a config, and those that Python modules define, to the tools of the board.

    Parameters:
        run: the board's pipeline, through which composed tools call.
        tables: the config's tables.
    """

    def __init__(self, run: Handler, tables: Mapping[str, JsonObject]) -> None:
        self._run = run
        self._tables = {name: tables[name] for name in TABLES if tables.get(name)}
        self._frozen: Frozen | None = None
        self._notes: tuple[Note, ...] = ()
        self._unknown: tuple[str, ...] = ()

    @property
    def tables(self) -> Mapping[str, JsonObject]:
        """The tables of composed and deprecated tools."""
        return self._tables

    @property
    def version(self) -> str | None:
        """The board version that the tools are held to, if any."""
        return self._frozen.version if self._frozen is not None else None

    def hold(self, frozen: Frozen) -> None:
        """Make the tools those of a published version from now on."""
        self._frozen, self._tables = frozen, frozen.tables

    def __call__(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools with the composed ones among them; what cannot work is set aside in `warnings`."""
        if self._frozen is None:
            return self._composed(tools)
        return self._frozen.only(self._composed(self._frozen.hold(tools)))

    def _composed(self, tools: Sequence[Tool]) -> list[Tool]:
        if not self._tables and not any(is_draft(tool) or tool.spec.successor for tool in tools):
            self._notes = ()
            return list(tools)
        from pegboard.compose import bind
        from pegboard.compose.deprecate import deprecate, succeed
        from pegboard.compose.tables import read_composites

        own, unheard = overridden(Catalog.of(tools), self._tables.get("override", {}))
        marked, aside = deprecate(list(own), self._tables.get("deprecated", {}))
        composites, notes = read_composites(self._tables)
        bound = bind(Catalog.of(marked), self._run, composites)
        told, unknown = hinted(bound.catalog, self._tables.get("hint", {}))
        self._notes = (*aside, *notes, *bound.notes)
        self._unknown = (*unheard, *unknown)
        return succeed(list(told))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was set aside, and why."""
        aside = (f"{note.tool} is not on the board. {note.message}" for note in self._notes)
        return (*aside, *self._unknown)


def is_draft(tool: Tool) -> bool:
    """Whether a tool is made of others and not yet bound to them."""
    return bool(tool.spec.meta.get(DRAFT)) and isinstance(tool.handler, Unbound)
