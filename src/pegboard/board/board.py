"""The board: the one object that the library, the gateway and the command line stand on."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream

from pegboard.approval import Approver, Desk
from pegboard.board.blocking import BlockingBoard, blocking
from pegboard.board.builder.source import builder_of
from pegboard.board.coding import Coding
from pegboard.board.composer import Composer
from pegboard.board.consent import Consent
from pegboard.board.drift import Guard
from pegboard.board.holdings import Holdings
from pegboard.board.issued import with_versions
from pegboard.board.kinds import filters_of, sources_of
from pegboard.board.memory import Memory, Recalled
from pegboard.board.overseen import Overseen
from pegboard.board.passage import Passage
from pegboard.board.procession import Proceeding, Procession
from pegboard.board.published import LIVE, draft, thaw
from pegboard.board.residence import residency_of
from pegboard.board.roster import Filter, Refresh, Roster, Watcher
from pegboard.board.sessions import Sessions, owned
from pegboard.board.shelf import Assets
from pegboard.board.suggesting import Plan, Suggesting
from pegboard.board.supplied import Supplied
from pegboard.board.wellness import Wellness
from pegboard.catalog import AliasTable, Catalog, Diff, Unknown, View
from pegboard.config import Config, load
from pegboard.core import (
    AssetScheme,
    Budget,
    Call,
    Failure,
    Health,
    Middleware,
    Mode,
    Progress,
    Result,
    Session,
    Source,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.core.asset import unknown_asset
from pegboard.core.call import Log
from pegboard.core.mode import mode_named
from pegboard.discovery import META_NAMES, Residency, meta_tools
from pegboard.discovery.forgery import forgery
from pegboard.discovery.hydrate import hydrate
from pegboard.discovery.meta import BUILTINS, SHOWN
from pegboard.discovery.missing import missing
from pegboard.discovery.produced import Produced
from pegboard.discovery.residency import Exposure
from pegboard.discovery.searches import searches
from pegboard.errors import StoreError
from pegboard.index import Found, Prerequisite, Where
from pegboard.index import make as make_index
from pegboard.invoke.budget import budget as limit_calls
from pegboard.invoke.links import links
from pegboard.invoke.pool import pooled
from pegboard.schema.types import JsonObject
from pegboard.store.published import Published


class Board(Overseen, Proceeding, Supplied):
    """A set of tools from many places, found by search, called through one door.

    Make it with `Board.open` (from a config) or `Board.of` (from sources), and use it as an async context manager.

    Parameters:
        sources: where the tools come from, in the order in which they are listed.
        name: the board's name.
        residency: which tools a model sees at once.
        budget: what a session may spend that brings no budget of its own.
        middleware: what wraps every call, outermost first.
        passage: the other parts of the pipeline: limits, secrets, recording.
        memory: what the board remembers between runs.
        refresh: which sources to list anew on entering, whatever is remembered.
        watcher: hears how a source is whenever that changes.
        filters: by a source's name, which of its tools may be on the board.
        assets: keeps binary parts of results; None where nothing is kept.
        builtins: tools of the board itself that models see, by name.
        config: what it was made of.
        version: the published version that it is held to; None: the chosen one, if any; "live": what it has now.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        name: str = "pegboard",
        residency: Residency | None = None,
        budget: Budget | None = None,
        middleware: Sequence[Middleware] = (),
        passage: Passage | None = None,
        memory: Memory | None = None,
        refresh: Refresh = False,
        watcher: Watcher | None = None,
        filters: Mapping[str, Filter] | None = None,
        assets: Assets | None = None,
        builtins: Sequence[str] = (),
        config: Config | None = None,
        version: str | None = None,
        plan: Plan | None = None,
    ) -> None:
        self.name = name
        self._wanted = version
        self.residency = residency or Residency()
        self._config, self._refresh_first = config, refresh
        self._meta = meta_tools(self)
        shelf = memory.folder / "index.bin" if memory is not None and memory.folder is not None else None
        reserved = {name: ToolName("", name) for name in META_NAMES}
        index = partial(make_index, config.board.encoder if config is not None else "off")
        self._held = Holdings(index, self.residency, reserved, shelf, lambda: self._passage.uses())
        self._memory = memory
        self.assets = assets
        self._builtins = tuple(BUILTINS[name] for name in builtins)
        self._procession = Procession(self, memory, config)
        self._composer = Composer(self.run, config, self._procession.kept)
        guard = (
            Guard.of(config, lambda: memory.store, tuple(sources))
            if config is not None and memory is not None
            else None
        )
        self.coding = Coding(self, config, assets, memory)
        composed = self.coding.after(self._composer)
        self._passage = passage or Passage()
        watcher = self._supply(self._passage, watcher)
        self._roster = Roster(sources, self._held, memory, watcher, filters, composed, guard)
        self._sessions = Sessions()
        self._stack = AsyncExitStack()
        self.openings = Suggesting(self, self._roster, self._sessions, plan, memory, self._passage)
        spending = limit_calls(self.spec, lambda session: self._sessions.of(session).ledger, budget or Budget())
        searched = searches(lambda session: self._sessions.of(session).queries)
        self._wellness = Wellness(lambda: self._roster.sources, clean=self._passage.redactor.text)
        lacking, following = missing(self, self.spec, Produced()), self._procession.middleware(self.spec)
        inside = (links(self.spec), pooled(self.spec), forgery(self.spec), hydrate(self), lacking, following)
        outer = (owned(self._sessions), spending, searched, *inside, *middleware, self._wellness.watch(self.spec))
        self._handler = self._passage.handler(self, outer)

    @classmethod
    def of(cls, *sources: Source, **settings: Any) -> Self:
        """A board of these sources, without a config file; `settings` are the parameters of `Board`."""
        return cls(sources, **settings)

    @classmethod
    def open(
        cls,
        config: Config | Path | str,
        *,
        beside: Sequence[Source] = (),
        refresh: Refresh = False,
        watcher: Watcher | None = None,
        version: str | None = None,
        approvers: Sequence[Approver] = (),
    ) -> Self:
        """The board of a config.

        Parameters:
            config: a config, or the file or folder to read it from.
            beside: sources made in code, besides the config's.
            refresh: which sources to list anew on entering, whatever is stored.
            watcher: hears how a source is whenever that changes.
            version: the published version that it is held to; None: the chosen one, if any; "live": none.
            approvers: who is asked where a call waits for a person, besides the person at the caller's end.

        Raises:
            ConfigError: the config is missing or wrong.
        """
        plan = Plan.of(with_versions(config if isinstance(config, Config) else load(config), live=version == LIVE))
        found = plan.config
        memory = Memory.of(found, META_NAMES)
        scheme = AssetScheme(found.board.asset_scheme)
        assets = Assets(memory, scheme, days=found.board.asset_days)
        consent = Consent.of(found, memory, approvers)
        builders = builder_of(found)
        board = cls(
            [*sources_of(found, assets), *beside, *builders],
            name=found.board.name,
            residency=residency_of(found),
            budget=Budget(**found.tables["budget"]),
            memory=memory,
            passage=Passage.of(found, memory.keeper(found.board.max_result, scheme), beside, assets, consent),
            refresh=refresh,
            watcher=watcher,
            filters=filters_of(found),
            assets=assets,
            builtins=found.board.builtins,
            config=found,
            version=version,
            plan=plan,
        )
        for builder in builders:
            builder.over(board)
        return board

    def blocking(self) -> AbstractContextManager["BlockingBoard"]:
        """This board for code that is not asynchronous: a context manager that gives the same methods, which wait."""
        return blocking(self)

    async def __aenter__(self) -> Self:
        """Put up the catalog that is stored, and list the sources of which nothing is stored.

        Raises:
            PegboardError: the published version that is wanted is not there.
        """
        recalled = Recalled({}, {})
        if self._memory is not None:
            self._stack.callback(self._memory.close)
            recalled = self._memory.recall()
        self._hold(recalled.chosen if self._wanted is None else self._wanted)
        self._stack.push_async_callback(self._passage.close)
        self._stack.push_async_callback(self.coding.close)
        self._stack.push_async_callback(self._procession.close)
        self._stack.push_async_callback(anyio.to_thread.run_sync, self._held.shelve)
        if self.residency.learn:
            self._held.hot = await anyio.to_thread.run_sync(self._passage.most_used, 2 * self.residency.learn)
        tasks = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(tasks.cancel_scope.cancel)
        await self._roster.attach(tasks, recalled, refresh=self._refresh_first)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop every source and close the store."""
        await self._stack.aclose()

    def _hold(self, version: str | None) -> None:
        if version is None or version == LIVE:
            return
        found = self._memory.version(version) if self._memory is not None else None
        known = [one.version for one in self._memory.versions()] if found is None and self._memory is not None else []
        self._composer.hold(thaw(found, version, known))

    # What it holds

    @property
    def config(self) -> Config | None:
        """What it was made of, with what is installed beside it; None for a board without a config."""
        return self.openings.config or self._config

    @property
    def catalog(self) -> Catalog:
        """The tools of the board now."""
        return self._held.catalog

    @property
    def aliases(self) -> AliasTable:
        """The wire names of the tools."""
        return self._held.aliases

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the store or about the selection of tools."""
        kept = self._memory.warnings if self._memory else ()
        made = (*self._composer.warnings, *self.openings.warnings)
        return (*kept, *self._passage.warnings, *made, *self._held.exposed.notes)

    @property
    def list_version(self) -> int:
        """Counts the changes of what every model sees: the direct tools and whether there are meta-tools."""
        return self._held.list_version

    @property
    def version(self) -> str | None:
        """The published version that the board is held to; None where it has what the config says now."""
        return self._composer.version

    def resolve(self, text: str) -> ToolName | Unknown:
        """The tool that a name means: `ns.tool`, `ns__tool`, `mcp__ns__tool`, a unique bare name, a meta-tool."""
        return self._held.resolve(text)

    def absent(self, missing: Unknown) -> Failure:
        """Why a name means no tool of the board."""
        return self._roster.absent(missing)

    def tool(self, name: ToolName) -> Tool | None:
        """A tool or meta-tool by its full name."""
        return self._held.catalog.tools.get(name) or self._meta.get(name)

    @property
    def asks(self) -> bool:
        """Whether some call of some tool waits for a person's yes."""
        return self._passage.consent.asks(self.catalog.specs)

    @property
    def desk(self) -> Desk:
        """Where requests wait for a person, and what is remembered of the answers."""
        return self._passage.consent.desk

    def spec(self, name: ToolName) -> ToolSpec | None:
        """The spec of a tool or meta-tool by its full name."""
        tool = self.tool(name)
        return tool.spec if tool is not None else None

    def view(self, session: Session | None = None, *, single_turn: bool = False) -> View:
        """What a model sees: the direct tools, the meta-tools, and what its session has loaded.

        Parameters:
            session: whose view; None for what every session sees.
            single_turn: the agent has one turn, so it gets every tool, and no meta-tools to find others by.
        """
        exposed = self._held.exposed_to(session, single_turn=single_turn)
        names = self._sessions.loaded(session) if session is not None else ()
        here = {spec.name for spec in exposed.direct} if names else set[ToolName]()
        tools = [self.tool(name) for name in names if name not in here]
        return View(
            exposed.direct,
            exposed.deferred,
            (*self.openings.beside(SHOWN if exposed.meta else (), single_turn=single_turn), *self._builtins),
            tuple(tool.spec for tool in tools if tool is not None),
            self._held.aliases,
            exposed.notes,
            exposed.refusal,
            self._about(),
        )

    def _about(self) -> dict[str, str]:
        groups = self.catalog.namespaces.items()
        said = {name: self._roster.instructions(specs[0].source.name) for name, specs in groups}
        return {name: text for name, text in said.items() if text}

    def exposure(self, name: ToolName) -> tuple[Exposure, str]:
        """Where a tool is for a model that has not searched yet, and why."""
        exposed = self._held.exposed
        return exposed.exposure(name), exposed.reasons.get(name, "it is one of the board's own")

    @property
    def advice(self) -> tuple[str, ...]:
        """What would help models to choose among the tools; nothing is wrong."""
        return self._held.exposed.advice

    def deferred_bytes(self) -> int:
        """How many bytes the definitions take that are not in the list."""
        return self._held.deferred_bytes

    def changes(self) -> AbstractAsyncContextManager[MemoryObjectReceiveStream[Diff]]:
        """A stream of what changes in the catalog from now on."""
        return self._roster.changes()

    # Finding and calling

    async def search(self, query: str, limit: int = 8, where: Where | None = None) -> Found:
        """The tools that meet a request best."""
        return await self._held.search(query, limit=limit, where=where)

    async def before(self, name: ToolName) -> Sequence[Prerequisite]:
        """What to call before a tool, in the order of calling: by hints, and by who gives what it needs."""
        return (await self._held.graph()).before(name)

    async def warm(self) -> None:
        """Make the search index now, so that the first search need not wait for it."""
        await self._held.warm()

    async def call(
        self,
        name: str | ToolName,
        arguments: JsonObject | None = None,
        *,
        mode: Mode | str | None = None,
        session: Session | None = None,
        progress: Progress | None = None,
        log: Log | None = None,
    ) -> Result:
        """Call a tool by any of its names. What goes wrong is in the result, never raised.

        Raises:
            PegboardError: there is no mode of that name.
        """
        target = self.resolve(name) if isinstance(name, str) else name
        return await self.run(
            Call(
                tool=ToolName.parse(target.text) if isinstance(target, Unknown) else target,
                arguments=arguments or {},
                mode=None if mode is None else mode_named(mode),
                session=session or Session(),
                id=uuid4().hex,
                progress=progress,
                log=log,
            )
        )

    async def run(self, call: Call) -> Result:
        """Run a call through the whole pipeline."""
        await self.openings.catch_up()
        return await self._handler(call)

    def lacking(self, name: ToolName) -> Failure:
        """Why there is no tool of a full name; a call of it fails so, after it was recorded."""
        missing = self.resolve(str(name))
        return self.absent(missing if isinstance(missing, Unknown) else Unknown(str(name), ()))

    async def health_of(self, spec: ToolSpec) -> Health:
        """How a tool's source is."""
        return await self._roster.health(spec.source.name)

    # Sessions

    def load(self, session: Session, names: Iterable[ToolName]) -> None:
        """Remember that a session has these tools' definitions."""
        self._sessions.load(session, names)

    def shown_again(self, session: Session) -> set[ToolName]:
        """The tools whose definitions came with a failure since the session last called them well."""
        return self._sessions.of(session).shown_again if session.id else set()

    def forget(self, session: Session) -> None:
        """The session is over."""
        self._sessions.forget(session)

    def draft(self, version: str, note: str = "") -> Published:
        """What `publish` would keep. Raises `PegboardError` where the name cannot be a version's."""
        return draft(version, self.catalog, self._composer.tables, note)

    async def publish(self, version: str, note: str = "") -> Published:
        """Freeze the board's definitions under a name, for good; what is called so already is returned as it is.

        Parameters:
            version: what the version shall be called.
            note: what is new in it.

        Raises:
            PegboardError: the name cannot be a version's, or nothing outlives this process.
        """
        new = self.draft(version, note)
        if self._memory is None:
            raise StoreError("The board keeps nothing.", next_step="Open it from a config with a store.")
        return await anyio.to_thread.run_sync(self._memory.publish, new)

    async def page(self, id: str, number: int, session: Session) -> str | None:
        """One page of a result that was cut, counted from 1, or None where there is none for this principal."""
        return await self._memory.page(id, number, session.principal) if self._memory else None

    async def read_asset(self, handle: str, offset: int, limit: int, session: Session) -> Result:
        """A part of a text asset, by characters counted from 0. What goes wrong is in the result."""
        if self.assets is None:
            return Result(failure=unknown_asset(handle))
        return await self.assets.read(handle, offset, limit, session)
