"""Composed tools: put on the catalog whenever what the sources offer changes."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pegboard.board.hinted import hinted
from pegboard.board.overridden import overridden
from pegboard.catalog import Catalog
from pegboard.catalog.frozen import Frozen
from pegboard.config import Config
from pegboard.core import Handler, Mode, Note, NoteKind, Tool
from pegboard.core.draft import DRAFT, Unbound
from pegboard.core.wish import Wish
from pegboard.schema.types import Json, JsonObject, as_object

if TYPE_CHECKING:
    from pegboard.compose import Composite

TABLES = ("batch", "bundle", "chain", "scatter", "deprecated", "hint", "override")


class Composer:
    """Binds the composed tools of a config, and those that Python modules define, to the tools of the board.

    Parameters:
        run: the board's pipeline, through which composed tools call.
        config: the board's config; None: only what Python modules define is bound.
        kept: makes of tools the same tools, with the runs of the chains among them kept; None: nothing is kept.
    """

    def __init__(
        self, run: Handler, config: Config | None = None, kept: Callable[[Sequence[Tool]], list[Tool]] | None = None
    ) -> None:
        self._run = run
        self._kept: Callable[[Sequence[Tool]], list[Tool]] = kept or list
        self._tables: Mapping[str, JsonObject] = {}
        if config is not None:
            self._tables = {name: config.tables[name] for name in TABLES if config.tables.get(name)}
            self._tables = _with_files(self._tables)
        self._previews = pairs_of(config) if config is not None else []
        self._frozen: Frozen | None = None
        self._notes: tuple[Note, ...] = ()
        self._unknown: tuple[str, ...] = ()
        self._unpaired: tuple[str, ...] = ()

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
        tools = self._paired(tools)
        if self._frozen is None:
            return self._composed(tools)
        return self._frozen.only(self._composed(self._frozen.hold(tools)))

    def _paired(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        if not self._previews:
            return tools
        from pegboard.compose.paired import pair

        paired, self._unpaired = pair(tools, self._previews, self._run)
        return paired

    def _composed(self, tools: Sequence[Tool]) -> list[Tool]:
        if not self._tables and not any(is_draft(tool) or tool.spec.successor for tool in tools):
            self._notes = self._unknown = ()
            return list(tools)
        from pegboard.compose import bind
        from pegboard.compose.deprecate import deprecate, succeed_over
        from pegboard.compose.tables import read_composites

        own, unheard = overridden(Catalog.of(tools), self._tables.get("override", {}))
        outgoing = self._tables.get("deprecated", {})
        marked, aside = succeed_over(list(own), outgoing)
        composites, notes = read_composites(self._tables)
        chains, broken = self._chains()
        bound = bind(Catalog.of(marked), self._run, [*composites, *chains])
        told, unknown = hinted(bound.catalog, self._tables.get("hint", {}))
        self._notes = (*aside, *notes, *broken, *bound.notes)
        found, idle = deprecate(list(told), outgoing)
        self._unknown = (*unheard, *unknown, *idle)
        return self._kept(found)

    def _chains(self) -> "tuple[Sequence[Composite], Sequence[Note]]":
        tables = self._tables.get("chain")
        if not tables:
            return (), ()
        from pegboard.chain import read_chains

        found, aside = read_chains(tables)
        return found, [Note(NoteKind.SET_ASIDE, name, f"chain.{name}", message) for name, message in aside]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was set aside, and why."""
        aside = (
            f"{note.tool}{' is not on the board.' if note.kind is NoteKind.SET_ASIDE else ':'} {note.message}"
            for note in self._notes
        )
        return (*aside, *self._unknown, *self._unpaired)


def _with_files(tables: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
    if not any(table.get("file") for table in tables.get("chain", {}).values()):
        return tables
    from pegboard.chain import with_files

    return {**tables, "chain": with_files(tables["chain"])}


def pairs_of(config: Config) -> list[Wish]:
    """What the config says of tools that answer a mode for others."""
    return [
        Wish(source.prefix, shape.get("name") or name, mode, shape[mode.value])
        for source in config.sources.values()
        if not source.disabled
        for name, shape in as_object(source.shaping.get("tools")).items()
        for mode in (Mode.PREVIEW, Mode.EXPLORE)
        if _is_another(shape.get(mode.value))
    ]


def _is_another(preview: Json) -> bool:
    return isinstance(preview, str) or "tool" in as_object(preview)


def is_draft(tool: Tool) -> bool:
    """Whether a tool is made of others and not yet bound to them."""
    return bool(tool.spec.meta.get(DRAFT)) and isinstance(tool.handler, Unbound)
