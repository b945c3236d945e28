"""The sources of a board: attached, started when needed, followed, and brought into the catalog when they change."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from math import inf
from typing import TypeAlias, TypeVar

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from pegboard.board.attached import LIVE, Attached, Known, duplicates
from pegboard.board.drift import RELEASE_SECONDS, Guard, not_allowed, refusal
from pegboard.board.holdings import Holdings
from pegboard.board.memory import Memory, Recalled
from pegboard.catalog import Diff, Unknown
from pegboard.config import SourceConfig
from pegboard.core import (
    Failure,
    FailureCode,
    Health,
    Note,
    NoteKind,
    Source,
    SourceState,
    SourceStatus,
    Tool,
    ToolName,
    ToolSpec,
    mode_parameter,
)
from pegboard.core.draft import DRAFT
from pegboard.discovery.answers import unknown_failure
from pegboard.errors import PegboardError, SourceError, nearest
from pegboard.schema.types import JsonObject
from pegboard.sources.wrap import Disabled, meets

R = TypeVar("R")
LULL_SECONDS = 1.0
"""So long after a client's first answer the sources start: its next questions shall not share the machine with them."""

PATIENCE_SECONDS = 15.0
"""So long a client's list waits for what sources offer to clients that declared what it did."""

Watcher: TypeAlias = Callable[[SourceStatus], object]
"""Hears how a source is whenever that changes."""

Refresh: TypeAlias = bool | Callable[[SourceStatus], bool]
"""Which of the sources that are known from the last time are listed again before the board is used: all, none, or those
that a function picks."""

Filter: TypeAlias = Callable[[ToolSpec], bool]
"""Says which tools of a source may be on the board."""


class Roster:
    """The attached sources.

    Parameters:
        sources: the sources, in the order in which their tools are listed.
        held: the catalog that they fill.
        memory: where what is known of them is kept.
        watcher: hears each change of a source's state.
        filters: by the source's name, which of its tools may be on the board.
        compose: adds the tools that are made of those of the sources.
        guard: holds foreign tools back whose definition has changed.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        held: Holdings,
        memory: Memory | None = None,
        watcher: Watcher | None = None,
        filters: Mapping[str, Filter] | None = None,
        compose: Callable[[Sequence[Tool]], Sequence[Tool]] = list,
        guard: Guard | None = None,
    ) -> None:
        self._compose = compose
        self._sources, self._held, self._memory, self._watcher = tuple(sources), held, memory, watcher
        self._filters = filters or {}
        self._guard, self._releasing = guard, False
        self._attached: dict[str, Attached] = {}
        self._listeners: set[MemoryObjectSendStream[Diff]] = set()
        self._lock = anyio.Lock()
        self._refreshing = False
        self._gathered: dict[str, Attached] | None = None

    async def attach(self, tasks: TaskGroup, recalled: Recalled, *, refresh: Refresh) -> None:
        """Put up the sources as they are known. Those of which nothing is known are started, and waited for.

        Parameters:
            tasks: where the sources live.
            recalled: what is known of them from the last time.
            refresh: which of the others to start too.
        """
        self._tasks = tasks
        known, aliases = recalled.sources, recalled.aliases
        self._held.rename(aliases)
        guard = self._guard
        for source in self._sources:
            self._attached[source.name] = Attached(
                source, tasks, self._on_change, known.get(source.name), self._filters.get(source.name, _every), guard
            )
        if known:
            await self._refill()
        due = [name for name, each in self._attached.items() if _is_due(each, refresh)]
        self._gathered = {}
        await self._refresh(due)
        gathered, self._gathered = self._gathered, None
        await self._take(gathered.values())

    async def add(self, source: Source, admits: Filter | None = None) -> SourceStatus:
        """Attach one more source, or another in the place of one of its name, start it, and wait for its tools.

        Parameters:
            source: the source.
            admits: which of its tools may be on the board.
        """
        before = self._attached.get(source.name)
        if before is not None:
            await before.stop()
        known = Known(before.listing) if before is not None and isinstance(source, Disabled) else None
        attached = Attached(source, self._tasks, self._on_change, known, admits or _every, self._guard)
        self._attached[source.name] = attached
        await (self._refill() if attached.state is SourceState.DISABLED else attached.refresh())
        return attached.summary()

    def know(self, source: SourceConfig) -> None:
        """Say what a source is that will be added, so that changes of its tools are noticed."""
        if self._guard is not None:
            self._guard.know(source)

    async def finish(self, work: Callable[[], Awaitable[R]]) -> R:
        """Do work to its end on the board, even where whoever asked for it is gone meanwhile.

        Raises:
            SourceError: the board was closed meanwhile. Whatever else the work raises comes through.
        """
        done, outcome = anyio.Event(), list[R]()
        problems: list[Exception] = []

        async def run() -> None:
            try:
                outcome.append(await work())
            except Exception as problem:
                problems.append(problem)
            finally:
                done.set()

        self._tasks.start_soon(run)
        await done.wait()
        if problems or not outcome:
            raise problems[0] if problems else SourceError("The board was closed meanwhile.")
        return outcome[0]

    async def remove(self, name: str) -> None:
        """Stop a source and take its tools off the board; nothing happens where there is none of this name."""
        attached = self._attached.pop(name, None)
        if attached is not None:
            await attached.stop()
            await self._refill()

    async def refresh(self, names: Sequence[str] | None = None) -> None:
        """List sources anew, all or the named ones, and wait for them.

        Raises:
            PegboardError: a name is no source's.
        """
        missing = [name for name in names or () if name not in self._attached]
        if missing:
            near = nearest(missing[0], self._attached) or list(self._attached)
            raise PegboardError(f"There is no source {missing[0]!r}.", next_step=f"Name one of {', '.join(near)}.")
        await self._refresh(self._attached if names is None else names)

    async def _refresh(self, names: Iterable[str]) -> None:
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(self._attached[name].refresh)

    async def meet(self, features: JsonObject) -> None:
        """List those sources anew that may offer other tools to a client that declared this; waits a while for them.

        Parameters:
            features: what a client declared of elicitation, sampling and roots, raw.
        """
        told = [name for name, each in self._attached.items() if meets(each.source, features) and each.fresh]
        if told:
            with anyio.move_on_after(PATIENCE_SECONDS):
                await self.finish(lambda: self._refresh(told))

    def refresh_soon(self) -> None:
        """List in the background, once, every source that has not been listed by this process."""
        if not self._refreshing:
            self._refreshing = True
            self._tasks.start_soon(self._catch_up)

    async def _catch_up(self) -> None:
        await anyio.sleep(LULL_SECONDS)
        await self._refresh([name for name, attached in self._attached.items() if not attached.fresh])

    @property
    def sources(self) -> Mapping[str, Attached]:
        """The sources by name, in the board's order."""
        return self._attached

    async def statuses(self) -> list[SourceStatus]:
        """How each source is, in the board's order."""
        taken: set[ToolName] = set(self._held.reserved)
        found: list[SourceStatus] = []
        for attached in self._attached.values():
            status = await attached.status()
            odd = (*duplicates(attached, taken), *self._aliased(attached))
            found.append(replace(status, notes=(*status.notes, *odd)))
            taken |= {tool.name for tool in attached.tools}
        return found

    def _aliased(self, attached: Attached) -> list[Note]:
        """Notes on tools whose own parameter `mode` left another name for ours."""
        held = [self._held.catalog.get(tool.name) for tool in attached.tools]
        return [
            Note(
                NoteKind.WARNING,
                tool.name.name,
                f"/properties/{name}",
                f"It has a parameter mode of its own, so its mode of operation is chosen by {name}.",
            )
            for tool in held
            if tool is not None and (name := mode_parameter(tool.spec)) not in (None, "mode")
        ]

    async def health(self, source: str) -> Health:
        """How one source is."""
        attached = self._attached.get(source)
        if attached is None:
            return Health(SourceState.READY)
        status = await attached.status()
        return Health(status.state, status.error)

    def offered(self, source: str) -> list[str]:
        """The bare names of the tools that a source listed last, on the board or not."""
        attached = self._attached.get(source)
        return [tool.name.name for tool in attached.listing.tools] if attached is not None else []

    def instructions(self, source: str) -> str:
        """What a source says of itself; untrusted text."""
        return self._attached[source].listing.instructions if source in self._attached else ""

    def absent(self, missing: Unknown) -> Failure:
        """Why a name means no tool of the board: not allowed, not reachable, or not known at all."""
        name = ToolName.parse(missing.text.removeprefix("mcp__").replace("__", ".", 1))
        for source, attached in self._attached.items():
            blocked = any(name in (each, ToolName("", each.name)) for each in attached.blocked)
            if blocked and attached.state is SourceState.DISABLED:
                return Failure(
                    FailureCode.BLOCKED,
                    f"{name} is there, and its source {source} is switched off.",
                    next_step=f"Ask the user; whoever runs the board can switch it on with `pegboard enable {source}`.",
                )
            if blocked:
                return not_allowed(name, source)
            if any(name in (held, ToolName("", held.name)) for held in attached.held):
                return refusal(name)
            if name.namespace == source and attached.state is SourceState.UNAVAILABLE:
                return Failure(
                    FailureCode.UNAVAILABLE,
                    f"There is no tool {name}, and its source cannot be reached: {attached.error}",
                    next_step="Use another tool, or try again later; `pegboard doctor` shows the details.",
                    retryable=True,
                )
        return unknown_failure(missing)

    @asynccontextmanager
    async def changes(self) -> AsyncGenerator[MemoryObjectReceiveStream[Diff]]:
        """A stream of what changes in the catalog from now on."""
        send, receive = anyio.create_memory_object_stream[Diff](inf)
        self._listeners.add(send)
        try:
            async with receive:
                yield receive
        finally:
            self._listeners.discard(send)
            send.close()

    async def _on_change(self, attached: Attached) -> None:
        if self._watcher is not None:
            self._watcher(attached.summary())
        if attached.state is SourceState.STARTING:
            return
        if self._gathered is not None:  # nobody uses the board yet, and one catalog is made faster than many
            self._gathered[attached.source.name] = attached
            return
        await self._take([attached])

    async def _take(self, changed: Iterable[Attached]) -> None:
        await self._refill()
        if self._memory is None:
            return
        for attached in changed:
            if attached.state in LIVE:
                await self._memory.keep(attached.source.name, attached.listing, None)
            elif not attached.is_known and not attached.fresh:
                await self._memory.keep(attached.source.name, attached.listing, attached.error)

    async def _release(self) -> None:
        """Look now and then whether a person has accepted what is held back, for as long as anything is."""
        while any(each.held for each in self._attached.values()):
            await anyio.sleep(RELEASE_SECONDS)
            found = [await each.release() for each in list(self._attached.values()) if each.held]
            if any(found):
                await self._refill()
        self._releasing = False

    async def _refill(self) -> None:
        """Swap in a catalog of what the sources list now."""
        async with self._lock:
            tools = self._compose([tool for each in self._attached.values() for tool in each.tools])
            nameless = [tool.name for tool in tools if tool.name not in self._held.aliases.wire]
            if nameless and self._memory is not None:
                self._held.rename(await self._memory.aliases(nameless))
            diff = self._held.replace(tools)
        if not self._releasing and any(each.held for each in self._attached.values()):
            self._releasing = True
            self._tasks.start_soon(self._release)
        if diff:
            for listener in self._listeners:
                listener.send_nowait(diff)


def _every(_: ToolSpec) -> bool:
    return True


def _is_due(attached: Attached, refresh: Refresh) -> bool:
    if not attached.is_known or any(tool.spec.meta.get(DRAFT) for tool in attached.tools):
        return True
    return refresh(attached.summary()) if callable(refresh) else refresh
