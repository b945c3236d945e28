"""What the board holds now: catalog, wire names and index, which change together."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

import anyio
import anyio.to_thread

from pegboard.catalog import AliasTable, Catalog, Diff, Unknown, resolve
from pegboard.core import Session, Tool, ToolName, ToolSpec
from pegboard.core.bulk import no_collection
from pegboard.discovery.residency import Exposed, Residency, expose, exposed_to
from pegboard.index import Found, Index, Use, Where
from pegboard.index.graph import Graph
from pegboard.invoke.pool import selection_of
from pegboard.surface import mcp

AT_ONCE = 20
"""Changes of more tools than these are indexed in a thread."""
WORTH_KEEPING = 1000
"""An index of fewer tools is made faster than it is read, unless a slow model reads them."""
PATIENCE = 10.0
"""So many seconds the first search after a change waits for slow models; later ones go on without them."""


class Holdings:
    """The present catalog. Each change makes a new one, so that a reader never sees half of it.

    Parameters:
        index: makes the search engine, when it is first needed.
        residency: decides which tools a model sees at once.
        reserved: names that no tool may take, and what they mean.
        shelf: where the index is kept between runs.
        uses: how past runs used the tools, read when the index is made; it counts a little.
    """

    def __init__(
        self,
        index: Callable[[], Index],
        residency: Residency,
        reserved: Mapping[str, ToolName],
        shelf: Path | None = None,
        uses: Callable[[], Mapping[ToolName, Use]] = dict,
    ) -> None:
        self.catalog = Catalog()
        self.aliases = AliasTable()
        self.list_version = 0
        self.exposed = Exposed(())
        self.hot: tuple[str, ...] = ()
        self._residency = residency
        self._deferred_bytes: int | None = None
        self._make_index = index
        self._uses = uses
        self._index: Index | None = None
        self._reserved = reserved
        self.reserved = frozenset(reserved.values())
        self._behind: set[ToolName] = set()
        self._unseen = frozenset[ToolName]()
        self._lock = anyio.Lock()
        self._shelf = shelf
        self._graph: tuple[Catalog, Graph] | None = None
        self._unsaved = False

    def rename(self, aliases: Mapping[ToolName, str]) -> None:
        """Take over wire names; they must hold every name that is held already."""
        self.aliases = AliasTable(aliases)

    def replace(self, tools: Iterable[Tool]) -> Diff:
        """Hold these tools from now on; returns what changed."""
        with no_collection():
            newer = Catalog.of(tool for tool in tools if tool.name not in self.reserved)
            diff = self.catalog.diff(newer)
        self.aliases = self.aliases.extend(diff.added, reserved=self._reserved)
        if not diff:
            if any(tool.handler is not self.catalog.tools[tool.name].handler for tool in newer):
                self.catalog = newer  # what models see stays, and what runs does not
            return diff
        self.catalog = newer
        exposed = expose(newer, self._residency, self.hot)
        if (exposed.direct, exposed.meta) != (self.exposed.direct, self.exposed.meta):
            self.list_version += 1
        self.exposed = exposed
        self._deferred_bytes = None
        unseen = frozenset(spec.name for spec in exposed.hidden)
        self._behind.update(diff.added, diff.changed, diff.removed, unseen ^ self._unseen)
        self._unseen = unseen
        return diff

    @property
    def unseen(self) -> frozenset[ToolName]:
        """The tools that no model sees."""
        return self._unseen

    @property
    def deferred_bytes(self) -> int:
        """How many bytes the definitions of the deferred tools take."""
        if self._deferred_bytes is None:
            rows = (mcp.tool(spec, self.aliases[spec.name]) for spec in self.exposed.deferred)
            self._deferred_bytes = sum(len(json.dumps(row, separators=(",", ":"), default=str)) for row in rows)
        return self._deferred_bytes

    def exposed_to(self, session: Session | None, *, single_turn: bool) -> Exposed:
        """What the policy decides for one session: for its own part of the tools, where it has a part only.

        Parameters:
            session: whose; None for what every session sees.
            single_turn: the agent has one turn, so it gets every tool.
        """
        pool = None if session is None else selection_of(session)
        if pool is not None:
            return exposed_to(pool, self.catalog, self._residency, self.hot, single_turn=single_turn)
        return expose(self.catalog, self._residency, single_turn=True) if single_turn else self.exposed

    def resolve(self, text: str) -> ToolName | Unknown:
        """The tool that a name means: its own spelling first, then a meta-tool's."""
        found = self.aliases.full.get(text)
        tool = self.catalog.tools.get(found) if found is not None else None
        if tool is not None:
            return tool.spec.name  # the catalog's own object: dictionaries find it without comparing
        return self._reserved.get(text) or resolve(text, self.catalog, self.aliases)

    async def search(self, query: str, *, limit: int = 8, where: Where | None = None) -> Found:
        """The tools that meet a request best. The index catches up here, so that a change costs nothing until then."""
        if self._index is not None and not self._behind and not self._lock.locked():
            return self._index.search(query, limit=limit, where=where)
        # Searched under the lock: two that look at it again after they let it go would hand it to one another for ever.
        async with self._lock:
            await self._catch_up()
            assert self._index is not None
            return self._index.search(query, limit=limit, where=where)

    async def graph(self) -> Graph:
        """Who gives what whom needs, among the tools that models see; made when it is first asked for."""
        catalog = self.catalog
        if self._graph is None or self._graph[0] is not catalog:
            specs = self._searched(catalog)
            made = Graph(specs) if len(specs) <= AT_ONCE else await anyio.to_thread.run_sync(Graph, specs)
            self._graph = catalog, made
        return self._graph[1]

    async def warm(self) -> None:
        """Make the index now, so that the first search need not wait for it."""
        async with self._lock:
            await self._catch_up()

    async def _catch_up(self) -> None:
        names, self._behind = self._behind, set[ToolName]()
        step = partial(self._index_anew if self._index is None else self._index_change, self.catalog, names)
        if self._index is not None and len(names) <= AT_ONCE:
            step()
        else:
            await anyio.to_thread.run_sync(step)

    def _index_anew(self, catalog: Catalog, _: set[ToolName]) -> None:
        index = self._make_index()
        with no_collection():
            if self._shelf is not None and self._shelf.exists() and isinstance(index, Shelved):
                self._unsaved = index.load(self._shelf, self._searched(catalog)) < len(catalog)
            else:
                index.update(put=self._searched(catalog))
                self._unsaved = True
        if isinstance(index, Weighed) and (uses := self._uses()):
            index.weigh(uses)
        if isinstance(index, Slow):
            index.wait(PATIENCE)
        self._index = index

    def _index_change(self, catalog: Catalog, names: set[ToolName]) -> None:
        assert self._index is not None
        ordered = sorted(names, key=str)
        there = [name for name in ordered if name in catalog and name not in self._unseen]
        gone = [name for name in ordered if name not in catalog or name in self._unseen]
        with no_collection():
            self._index.update(put=[catalog.tools[name].spec for name in there], remove=gone)
        self._unsaved = self._unsaved or bool(names)

    def _searched(self, catalog: Catalog) -> list[ToolSpec]:
        """The tools that a search may find: all but the hidden ones."""
        return [spec for spec in catalog.specs if spec.name not in self._unseen]

    def shelve(self) -> None:
        """Keep an index that is costly to make for the next run; nobody may search meanwhile."""
        index = self._index
        costly = len(self.catalog) >= WORTH_KEEPING or (isinstance(index, Slow) and index.slow)
        worth = self._unsaved and not self._behind and costly
        if worth and self._shelf is not None and isinstance(index, Shelved):
            with suppress(OSError):
                index.save(self._shelf)


@runtime_checkable
class Shelved(Protocol):
    """An index that can be kept between runs."""

    def save(self, path: Path) -> None:
        """Write it."""
        ...

    def load(self, path: Path, specs: Iterable[ToolSpec]) -> int:
        """Hold these tools, and say how many the file knew."""
        ...


@runtime_checkable
class Weighed(Protocol):
    """An index in which past use may count a little."""

    def weigh(self, uses: Mapping[ToolName, Use]) -> None:
        """Let it count."""
        ...


@runtime_checkable
class Slow(Protocol):
    """An index with models that may need a while for each tool."""

    @property
    def slow(self) -> bool:
        """Whether one of its models does."""
        ...

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until they have read every tool; whether they have."""
        ...
