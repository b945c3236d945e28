"""One source on the board: started when it is needed, listed again when it changes, never at the others' cost."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from time import perf_counter
from typing import cast

import anyio
from anyio.abc import TaskGroup

from pegboard.board.composer import is_draft
from pegboard.board.drift import Guard, not_allowed, refusal, withheld
from pegboard.core import (
    Call,
    Failure,
    FailureCode,
    Handler,
    Health,
    Listing,
    Note,
    NoteKind,
    Result,
    Source,
    SourceState,
    SourceStatus,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.errors import PegboardError, SourceError
from pegboard.sources.wrap import Disabled

LIVE = (SourceState.READY, SourceState.DEGRADED)
RETRY_SECONDS = 2.0
"""After a failed start, calls fail at once for so long before the next start is tried."""
SETTLE_SECONDS = 0.05
"""Changes that follow one another faster than this are listed once."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a source from the last time.

    Parameters:
        listing: what it listed.
        error: why it could not be started, where it has never listed anything.
        held: the tools that were held back, and nobody has accepted since.
    """

    listing: Listing
    error: str | None = None
    held: frozenset[ToolName] = frozenset()


class Attached:
    """A source's life on one board.

    Parameters:
        source: the source.
        tasks: where it runs.
        changed: called after each new listing and after each change of state.
        known: what is known of it from the last time, if anything.
        admits: whether a tool may be on the board; the others can be neither seen nor called.
        guard: holds tools back whose definition has changed; None: none is.
    """

    def __init__(
        self,
        source: Source,
        tasks: TaskGroup,
        changed: Callable[["Attached"], Awaitable[None]],
        known: Known | None = None,
        admits: Callable[[ToolSpec], bool] = lambda _: True,
        guard: Guard | None = None,
    ) -> None:
        self.source = source
        self.state = SourceState.IDLE
        self.error: str | None = None
        self.seconds: float | None = None
        self.listing = Listing(())
        self.tools: tuple[Tool, ...] = ()
        self.blocked: frozenset[ToolName] = frozenset()
        self.held: frozenset[ToolName] = frozenset()
        self._guard = guard
        self.is_known = known is not None
        self.fresh = False
        self._tasks, self._changed, self._admits = tasks, changed, admits
        self._handlers: dict[ToolName, Handler] | None = None
        self._settled: anyio.Event | None = None
        self._failed_at = float("-inf")
        self._relist = anyio.Lock()
        self._scope: anyio.CancelScope | None = None
        self._ended: anyio.Event | None = None
        if known is not None:
            self.held = known.held
            self._take(known.listing)
            if known.error is not None:
                self.state, self.error = SourceState.UNAVAILABLE, known.error
        if isinstance(source, Disabled):
            self.state, self.error, self.is_known = SourceState.DISABLED, source.reason, True
            self.blocked |= {tool.name for tool in self.tools}
            self.tools = ()

    async def ensure(self) -> None:
        """Start the source if it is not running, and wait until it has listed its tools.

        Raises:
            SourceError: it cannot be started now.
        """
        if self.state in LIVE:
            return
        if self.state is SourceState.DISABLED:
            raise SourceError(self.error or "It is disabled.", where=self.source.name)
        if self._settled is None and perf_counter() - self._failed_at < RETRY_SECONDS:
            raise SourceError(self.error or "It could not be started.", where=self.source.name)
        await self.start().wait()
        if self.state not in LIVE:
            raise SourceError(self.error or "It could not be started.", where=self.source.name)

    def start(self) -> anyio.Event:
        """Start the source unless it is running or starting; the event is set when that has ended either way."""
        if self.state in LIVE:
            done = anyio.Event()
            done.set()
            return done
        if self._settled is None:
            self._settled = anyio.Event()
            self.state = SourceState.STARTING
            self._tasks.start_soon(self._live, self._settled)
        return self._settled

    async def refresh(self) -> None:
        """List the tools anew, starting the source where it is not running. A failure stands in the status."""
        if self.state in LIVE:
            await self._list_again()
        elif self.state is not SourceState.DISABLED:
            await self.start().wait()

    async def stop(self) -> None:
        """Close the source for good, and wait until it is closed; its tools are gone."""
        scope, ended = self._scope, self._ended
        if scope is not None and ended is not None:
            scope.cancel()
            await ended.wait()
        self.tools, self.state = (), SourceState.DISABLED

    async def release(self) -> bool:
        """Let go of what was held back and accepted since; whether there was any."""
        still = await self._guard.still(self.source.name, self.held) if self._guard is not None else self.held
        if still == self.held:
            return False
        self.held = still
        self._take(self.listing)
        return True

    def summary(self) -> SourceStatus:
        """How it is, as far as is known."""
        return SourceStatus(
            name=self.source.name,
            kind=self.source.kind,
            state=self.state,
            tools=len(self.tools),
            error=self.error,
            start_seconds=self.seconds,
            notes=(*self.listing.notes, *(withheld(t.spec) for t in self.listing.tools if t.name in self.held)),
        )

    async def status(self) -> SourceStatus:
        """How it is, asking a running source for its health."""
        found = self.summary()
        if self.state not in LIVE:
            return found
        health = await self.source.health()
        return replace(found, state=health.state, error=health.reason or self.error)

    async def _live(self, settled: anyio.Event) -> None:
        """Hold the source open until it fails, the board closes, or it is stopped."""
        self._ended = anyio.Event()
        try:
            with anyio.CancelScope() as self._scope:
                await self._hold(settled)
        finally:
            self._ended.set()

    async def probe(self) -> Health:
        """How it is, asking it; it is started where it is not running. Whoever cannot wait cancels."""
        if self.state is SourceState.DISABLED:
            return Health(self.state, self.error)
        if self.state not in LIVE:
            await self.start().wait()
            return Health(self.state, self.error)
        asked = getattr(self.source, "probe", self.source.health)
        health: Health = await asked()
        return Health(health.state, health.reason or self.error)

    async def _hold(self, settled: anyio.Event) -> None:
        began = perf_counter()
        await self._changed(self)
        try:
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(self.source.session())
                await self._list()
                self.seconds = perf_counter() - began
                await self._settle(settled, SourceState.READY, None)
                await self._follow()
        except Exception as problem:
            self._failed_at = perf_counter()
            self._handlers = None
            await self._settle(settled, SourceState.UNAVAILABLE, _reason(problem))
        finally:
            self._handlers = None
            settled.set()

    async def _settle(self, settled: anyio.Event, state: SourceState, error: str | None) -> None:
        """Say how the start or the whole session ended; who waited for it finds the catalog up to date."""
        self.state, self.error = state, error
        await self._changed(self)
        self._settled = None
        settled.set()

    async def _follow(self) -> None:
        """List again whenever the source says that something has changed, and stay until the board closes."""
        changed = anyio.Event()

        async def watch() -> None:
            async for _ in self.source.changes():
                changed.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            while True:
                await changed.wait()
                changed = anyio.Event()
                await self._list_again()
                await anyio.sleep(SETTLE_SECONDS)

    async def _list_again(self) -> None:
        try:
            await self._list()
        except Exception as problem:
            self.state, self.error = SourceState.DEGRADED, _reason(problem)
        else:
            self.state, self.error = SourceState.READY, None
        await self._changed(self)

    async def _list(self) -> None:
        async with self._relist:
            listing = await self.source.listing()
            if self._guard is not None:
                admitted = [tool.spec for tool in listing.tools if self._admits(tool.spec)]
                self.held = await self._guard.inspect(self.source.name, admitted)
            self._handlers = {tool.name: tool.handler for tool in listing.tools}
            self._take(listing)
            self.fresh = True

    def _take(self, listing: Listing) -> None:
        self.listing = listing
        admitted_tools = tuple(tool for tool in listing.tools if self._admits(tool.spec))
        self.tools = self._rebound(tuple(tool for tool in admitted_tools if tool.name not in self.held))
        admitted = {tool.name for tool in admitted_tools}
        self.blocked = frozenset(tool.name for tool in listing.tools if tool.name not in admitted)

    def _rebound(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """The tools with one handler that starts the source where it is needed; unchanged ones stay the same object."""
        before = {tool.name: tool for tool in self.tools}
        return tuple(self._rebound_one(tool, before.get(tool.name)) for tool in tools)

    def _rebound_one(self, tool: Tool, before: Tool | None) -> Tool:
        if is_draft(tool):
            return tool  # it is made of others, and bound to them on the board
        return before if before is not None and before.spec == tool.spec else Tool(tool.spec, self._run)

    async def _run(self, call: Call) -> Result:
        if self._handlers is None:
            try:
                await self.ensure()
            except SourceError as problem:
                return self._unavailable(problem)
        refused = self._refused(call.tool)
        if refused is not None:
            return Result(failure=refused)
        handler = (self._handlers or {}).get(call.tool)
        if handler is None:
            return Result.failed(
                FailureCode.UNKNOWN_TOOL,
                f"{self.source.name} does not offer {call.tool.name!r} any more.",
                next_step="Find another tool with tool_search, or list the tools again.",
            )
        return await handler(call)

    def _refused(self, name: ToolName) -> Failure | None:
        """Why a tool may not be called that was known from the last time: its source may list another one now."""
        if name in self.held:
            return refusal(name)
        if name in self.blocked:
            return not_allowed(name, self.source.name)
        return None

    def _unavailable(self, problem: SourceError) -> Result:
        return Result.failed(
            FailureCode.UNAVAILABLE,
            f"{self.source.name} cannot be reached: {problem.message}",
            next_step="Try again in a moment, or use another tool; `pegboard doctor` shows the details.",
            retryable=True,
        )


def _reason(problem: Exception) -> str:
    while isinstance(problem, ExceptionGroup):
        problem = cast("ExceptionGroup[Exception]", problem).exceptions[0]
    if isinstance(problem, PegboardError):
        return str(problem)
    return f"{type(problem).__name__}: {problem}"


def _way_out(source: Source, tool: Tool) -> str:
    """How to have a tool whose name is taken; a namespace of its own beats the prefix of its source."""
    namespace = tool.name.namespace
    if getattr(source, "namespace", namespace) == namespace:
        return "give the source of this one another prefix."
    return (
        f"this one has the namespace {namespace} of its own, which beats the prefix of its source: change it where the"
        " tool is written, or leave one of the two out with deny."
    )


def duplicates(attached: Attached, taken: set[ToolName]) -> tuple[Note, ...]:
    """Notes on the tools that another source has taken the names of."""
    return tuple(
        Note(
            NoteKind.SET_ASIDE,
            tool.name.name,
            "",
            f"There is another tool {tool.name}; {_way_out(attached.source, tool)}",
        )
        for tool in attached.tools
        if tool.name in taken
    )
