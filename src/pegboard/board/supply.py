"""What could be on a board, and how it gets there: found in directories, fetched, mounted, seen, and only then kept."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import anyio
import anyio.to_thread

from pegboard.board.mounting import Mounting
from pegboard.catalog import AliasTable, Catalog
from pegboard.config import SourceConfig
from pegboard.config.load import InvalidConfigError
from pegboard.core import (
    Discoverable,
    DiscoverableAction,
    DiscoverableType,
    Session,
    SourceState,
    SourceStatus,
    ToolName,
)
from pegboard.core.discoverable import Topic
from pegboard.directory.fault import InstallError, Tell
from pegboard.directory.offering import Offering, Standing
from pegboard.directory.reading import Aside
from pegboard.directory.shelf import Discoverables
from pegboard.directory.state import Installed, State, StateFile
from pegboard.discovery.asking import Brought
from pegboard.errors import PegboardError, StoreError, nearest
from pegboard.index import Found

SURE = 0.9
"""From this confidence on a tool of the board does what was searched for."""
_LIVE = (SourceState.READY, SourceState.DEGRADED)
_SIGN_IN = re.compile(
    r"\b(?:401|403)\b|unauthori[sz]ed|forbidden|credentials|environment variable \w+ is not set", re.I
)


Change: TypeAlias = Callable[[State], State]


class Tools(Protocol):
    """The tools of a board."""

    @property
    def catalog(self) -> Catalog:
        """Those that are there now."""
        ...

    @property
    def aliases(self) -> AliasTable:
        """The names that they are called by."""
        ...

    def search(self, query: str) -> Awaitable[Found]:
        """Those that meet a request."""
        ...

    def load(self, session: Session, names: Iterable[ToolName]) -> None:
        """Remember that a session has these tools' definitions."""
        ...


class Supply:
    """The supply of one board (it is a `discovery.asking.Supply`).

    Parameters:
        offering: its directories.
        mounting: its sources.
        state: what is installed.
        board: finds and names its tools.
    """

    def __init__(self, offering: Offering, mounting: Mounting, state: StateFile, board: Tools) -> None:
        self._offering, self._mounting, self._state, self._board = offering, mounting, state, board
        self._coming: set[tuple[DiscoverableType, str]] = set()

    # What could be there

    async def standings(self, *, fresh: bool = False) -> list[Standing]:
        """Everything in the directories, with how it stands."""
        mounting = self._mounting
        return await self._offering.standings(mounting.config.sources, fresh=fresh, tools_of=mounting.offered)

    @property
    def aside(self) -> Sequence[Aside]:
        """The entries that were set aside when the directories were read last."""
        return self._offering.aside

    async def open(self, *, fresh: bool = False) -> Discoverables:
        """What is not on the board, or switched off."""
        mounting = self._mounting
        await mounting.catch_up()
        return await self._offering.offers(mounting.config.sources, fresh=fresh, tools_of=mounting.offered)

    async def find(self, type: DiscoverableType, id: str) -> Discoverable | None:
        """What could be there, as its directory says now."""
        return (await self.open(fresh=True)).get(type, id)

    async def ids(self) -> Sequence[tuple[DiscoverableType, str]]:
        """Everything that could be there."""
        return list((await self.open()).all)

    async def held(self, type: DiscoverableType, id: str) -> Sequence[str] | None:
        """The tools of what is there already under this id; None where it is not."""
        for standing in await self.standings():
            if standing.one.key == (type, id) and standing.state == "installed":
                return self._tools([source.name for source in standing.sources])
        return None

    async def rival(self, one: Discoverable, queries: Sequence[str]) -> str | None:
        """A tool of the board that does the job: one that a search is sure of, or one with the name of each of its."""
        if one.action is DiscoverableAction.ENABLE:
            return None
        bare = {spec.name.name: spec.name for spec in self._board.catalog.specs}
        if one.tools and all(tool in bare for tool in one.tools):
            return str(bare[one.tools[0]])
        for query in await self._for(one, queries):
            found = await self._board.search(query)
            if found.hits and found.hits[0].confidence >= SURE:
                return str(found.hits[0].name)
        return None

    async def searched(self, one: Discoverable, queries: Sequence[str]) -> bool:
        """Whether one of these searches was for it."""
        return bool(await self._for(one, queries))

    async def _for(self, one: Discoverable, queries: Sequence[str]) -> list[str]:
        """The searches that find it."""
        open_ = await self.open()
        return [query for query in queries if one.key in [each.key for each in open_.search(query)]]

    # How it gets there

    def bringing(self, type: DiscoverableType, id: str) -> bool:
        """Whether it is being installed or enabled right now."""
        return (type, id) in self._coming

    async def bring(self, one: Discoverable, tell: Tell) -> Brought:
        """Install or enable it, and see its tools. Where that fails the board is as it was, and nothing is left.

        Once begun it goes to its end: a person has agreed, and clients give up on calls that last.
        """
        self._coming.add(one.key)
        return await self._mounting.finish(lambda: self._bring(one, tell))

    async def _bring(self, one: Discoverable, tell: Tell) -> Brought:
        try:
            async with self._mounting.lock:
                if one.action is DiscoverableAction.ENABLE:
                    return await self._enable([part.name for part in one.parts], one, tell)
                return await self._install(one, tell)
        except (InstallError, StoreError, InvalidConfigError) as problem:
            return Brought(False, message=problem.message, next_step=problem.next_step or "Tell the user.")
        finally:
            self._coming.discard(one.key)

    async def switch(self, name: str, *, off: bool, tell: Tell) -> Brought:
        """Switch a source of the board off, or on and see its tools.

        Raises:
            PegboardError: there is none of this name.
        """
        self._known(name)
        async with self._mounting.lock:
            if not off:
                return await self._enable([name], None, tell)
            await self._change(lambda state: state.switch(name, True))
            await self._mounting.mount(replace(self._mounting.config.sources[name], disabled=True))
        return Brought(True)

    def names(self, id: str) -> list[str]:
        """The sources that a name means: a source's own, or the id that some were installed by.

        Raises:
            PegboardError: there is none.
        """
        if id in self._mounting.config.sources:
            return [id]
        found = [one.name for one in self._mounting.state.sources.values() if one.tool_id == id and one.table]
        return found or [self._known(id).name]

    async def release(self, one: Discoverable) -> list[Installed]:
        """Hand the sources of something that was installed over to the config, which holds their tables from now on."""
        mine = self._mounting.state.of(one.type, one.id)
        await self._change(lambda state: state.put(*(replace(each, table={}) for each in mine)))
        return mine

    async def uninstall(self, id: str) -> list[str]:
        """Take what was installed off the board and off the disk.

        Parameters:
            id: of a discoverable, or the name of a source.

        Returns:
            The names of the sources that are gone.

        Raises:
            PegboardError: nothing of this name was installed.
        """
        from pegboard.directory.installer import discard

        async with self._mounting.lock:
            state = self._mounting.state
            gone = [one for one in state.sources.values() if id in (one.name, one.tool_id)]
            wanted = {(one.type, one.tool_id) for one in gone}
            gone = [one for one in state.sources.values() if (one.type, one.tool_id) in wanted]
            if not gone:
                raise _not_installed(id, self._mounting.config.sources)
            for one in gone:
                await self._mounting.unmount(one.name)
            await self._change(lambda now: now.drop(*(one.name for one in gone)))
            await discard(gone)
        return [one.name for one in gone]

    async def _install(self, one: Discoverable, tell: Tell) -> Brought:
        from pegboard.directory.installer import prepare, sweep

        config = self._mounting.config
        folder = self._state.folder
        if folder is not None:
            await anyio.to_thread.run_sync(sweep, folder, list(self._mounting.state.sources.values()))
        installed = await prepare(one, folder, [*config.sources, *self._mounting.state.sources], tell)
        missing = self._missing(one)
        brought = Brought(False)
        try:
            planned = [self._mounting.planned(each) for each in installed if each.table]
            brought = await self._started(planned, one, missing, tell)
            if brought.completed or brought.kept:
                await self._change(lambda state: state.put(*installed))
            return brought
        finally:
            if not (brought.completed or brought.kept):
                with anyio.CancelScope(shield=True):
                    await self._undo(installed)

    async def _started(
        self, planned: Sequence[SourceConfig], one: Discoverable, missing: Sequence[str], tell: Tell
    ) -> Brought:
        await tell("starting it, and listing its tools")
        statuses = [await self._mounting.mount(source) for source in planned]
        return self._seen(one, statuses, missing)

    async def _undo(self, installed: Sequence[Installed]) -> None:
        from pegboard.directory.installer import discard

        for one in installed:
            if one.name in self._mounting.config.sources:
                await self._mounting.unmount(one.name)
        await discard(installed)

    async def _enable(self, names: Sequence[str], one: Discoverable | None, tell: Tell) -> Brought:
        before = [self._known(name) for name in names]
        missing = [] if one is None else self._missing(one)
        await tell(f"starting {', '.join(names)}")
        statuses = [await self._mounting.mount(replace(source, disabled=False)) for source in before]
        seen = self._seen(one, statuses, missing)
        if seen.completed or seen.kept:
            await self._change(lambda state: _switched_on(state, names))
            return seen
        for source in before:
            await self._mounting.mount(source)
        return seen

    def _seen(self, one: Discoverable | None, statuses: Sequence[SourceStatus], missing: Sequence[str]) -> Brought:
        names = [status.name for status in statuses]
        found = _seen(one, statuses, self._tools(names), missing)
        if found.completed or found.kept or not any(self._mounting.offered(name) for name in names):
            return found
        message = "It lists tools, and none of them may be on the board now."
        step = "The user has to look: pegboard approvals drift shows changed tools, pegboard doctor the rest."
        return replace(found, message=message, next_step=step)

    def _missing(self, one: Discoverable) -> list[str]:
        """The variables that the person still has to set."""
        secrets = self._mounting.config.secrets
        return [need.variable for need in one.needs if need.required and not secrets.has(need.variable)]

    def _known(self, name: str) -> SourceConfig:
        found = self._mounting.config.sources.get(name)
        if found is None:
            raise PegboardError(f"There is no source {name!r}.", next_step="See them with: pegboard list")
        return found

    def _tools(self, sources: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            self._board.aliases[spec.name] for spec in self._board.catalog.specs if spec.source.name in sources
        )

    async def _change(self, step: Change) -> State:
        return await anyio.to_thread.run_sync(self._state.change, step)

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The documentation topics of the plugins that are installed. Blocks."""
        from pegboard.directory.topics import installed_topics

        return installed_topics(self._mounting.state)


def _seen(
    one: Discoverable | None, statuses: Sequence[SourceStatus], tools: tuple[str, ...], missing: Sequence[str]
) -> Brought:
    """What the board sees of what was started: only tools that it has listed count."""
    unwell = [status for status in statuses if status.state not in _LIVE]
    variables = " and ".join(f"${name}" for name in missing)
    if not unwell and tools:
        later = f"Set {variables} where pegboard is started: its calls need it." if missing else None
        return Brought(True, tools, next_step=later)
    if not statuses and one is not None and one.topics:
        return Brought(True, next_step=f"It brings documentation: {', '.join(topic.name for topic in one.topics)}.")
    if missing:
        step = (
            f"The user has to set {variables} where pegboard is started, and start it again; its tools are there then."
        )
        return Brought(False, message="It is on the board, and waits for a sign-in.", next_step=step, kept=True)
    if not unwell:
        return Brought(False, message="It started, and lists no tools.", next_step="Do without it, and tell the user.")
    error = unwell[0].error or "it does not start"
    if _SIGN_IN.search(error):
        step = "The user has to sign in: pegboard doctor shows what is missing; its tools are there then."
        return Brought(
            False, message=f"It is on the board, and waits for a sign-in: {error}", next_step=step, kept=True
        )
    return Brought(False, message=f"It could not be started: {error}", next_step="Do without it, and tell the user.")


def _switched_on(state: State, names: Sequence[str]) -> State:
    for name in names:
        state = state.switch(name, False)
    return state


def _not_installed(id: str, sources: Mapping[str, SourceConfig]) -> PegboardError:
    if id in sources:
        return PegboardError(
            f"{id} stands in the config, and was not installed.",
            next_step=f"Switch it off with `pegboard disable {id}`, or take its table out of the config.",
        )
    known = [name for name, source in sources.items() if source.origin is not None]
    near = nearest(id, known, limit=1)
    step = f"Did you mean {near[0]}?" if near else "See what is there with: pegboard discoverables list"
    return PegboardError(f"Nothing called {id!r} is installed.", next_step=step)
