"""A connection's life, from its start to its end, in a task of its own.

The cancel scopes of a connection belong to the task that opened it. Calls come from other tasks and only ever wait for
answers, so a cancelled caller never takes the connection along, nor the other way round.
"""

import logging
import math
from collections.abc import Callable
from typing import Any, cast

import anyio
import anyio.abc
from mcp.shared.dispatcher import Dispatcher
from mcp.shared.exceptions import MCPError

from pegboard.wire.client.endpoint import Endpoint, scrub
from pegboard.wire.client.fault import CannotStart, remedy
from pegboard.wire.client.hearing import Hearing
from pegboard.wire.client.negotiate import Family, Peer, negotiate
from pegboard.wire.client.wire import Wire, open_wire

_FAREWELL = 8.0
"""Seconds for an orderly end: a process that has to be killed takes six."""

_log = logging.getLogger(__name__)


class Connection:
    """A connection to one server. Start it with `run` in a task group; look at it from any task.

    Parameters:
        endpoint: where the server is.
        family: which protocol family to speak.
        hearing: who hears what the server says unasked.
        start_timeout: seconds until it must have agreed on a protocol, from its turn to start.
        starting: how many may start at once; None for no limit.
        settled: called once, when it is open or has failed to open.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        family: Family,
        hearing: Hearing,
        start_timeout: float,
        starting: anyio.CapacityLimiter | None,
        settled: Callable[["Connection"], None],
    ) -> None:
        self.endpoint = endpoint
        self.wire: Wire = open_wire(endpoint, family)
        self.is_open = False
        self.ended = anyio.Event()
        self.error: CannotStart | None = None
        self.start_seconds: float | None = None
        self.peer: Peer | None = None
        self.dispatcher: Dispatcher[Any] | None = None
        self._family: Family = family
        self._hearing = hearing
        self._start_timeout = start_timeout
        self._starting = starting
        self._holds_turn = False
        self._on_settled = settled
        self._settled = anyio.Event()
        self._ending = anyio.Event()
        self._scope = anyio.CancelScope(shield=True)

    async def opened(self) -> None:
        """Wait until it is open.

        Raises:
            CannotStart: it could not be opened.
        """
        await self._settled.wait()
        if self.error is not None:
            raise self.error

    def end(self) -> None:
        """End it, in an orderly way where it is open."""
        self.is_open = False
        self._ending.set()
        if not self._settled.is_set():
            self._scope.cancel()

    async def run(self) -> None:
        """Open the connection, keep it, and end it in an orderly way even when this task is cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._live, group.cancel_scope)
            try:
                await anyio.sleep_forever()
            finally:
                self.end()

    def why(self, what: str) -> str:
        """What happened, with what the other end said of it."""
        stderr = self.wire.stderr
        said = self.wire.obituary() or (f"it wrote: {stderr[-300:]}" if stderr else "")
        return f"{what}; {said}" if said else what

    async def _live(self, outer: anyio.CancelScope) -> None:
        try:
            with self._scope:
                if self._starting is not None:
                    await self._starting.acquire_on_behalf_of(self)
                    self._holds_turn = True
                begun = anyio.current_time()
                if not await self._live_once(begun, self._family):
                    # Some servers leave when their first message is not `initialize`.
                    self.wire = open_wire(self.endpoint, "handshake")
                    await self._live_once(begun, "handshake")
        finally:
            self.is_open = False
            self._settle(CannotStart(self.why("the connection was closed while it started")))
            self.ended.set()
            outer.cancel()

    async def _live_once(self, begun: float, family: Family) -> bool:
        """One life; False if it ended with the probe of the modern family and may be tried without."""
        self._scope.deadline = anyio.current_time() + self._start_timeout
        self._ending = anyio.Event()
        try:
            async with self.wire.open() as dispatcher, anyio.create_task_group() as tasks:
                await tasks.start(self._pump, dispatcher, self._ending)
                self.peer = await negotiate(dispatcher, family, self._hearing.declared)
                self.dispatcher = dispatcher
                self._scope.deadline = math.inf
                self.start_seconds = anyio.current_time() - begun
                self._settle()
                if self.peer.modern and self.peer.announced:
                    tasks.start_soon(self._hearing.listen, dispatcher, self.peer, self.wire)
                await self._ending.wait()
                self._scope.deadline = anyio.current_time() + _FAREWELL
                tasks.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            if not self._settled.is_set() and anyio.current_time() >= self._scope.deadline:
                self._settle(CannotStart(self.why(f"it did not start within {self._start_timeout:g} s")))
            raise
        except Exception as error:
            return self._buried(_cause(error), family)
        return True

    def _buried(self, error: Exception, family: Family) -> bool:
        """Say why a life ended with an error; False if the probe was the reason."""
        if self._settled.is_set():
            _log.debug("the connection to %s ended: %s", self.endpoint, type(error).__name__)
        elif family == "auto" and self.wire.obituary() and not isinstance(error, CannotStart):
            return False
        else:
            self._settle(self._start_error(error))
        return True

    async def _pump(
        self, dispatcher: Dispatcher[Any], ending: anyio.Event, *, task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        hearing = self._hearing
        await dispatcher.run(hearing.on_request, hearing.on_notify, hearing.on_frame, task_status=task_status)
        self.is_open = False
        ending.set()

    def _settle(self, error: CannotStart | None = None) -> None:
        if self._settled.is_set():
            return
        self.error, self.is_open = error, error is None
        if self._holds_turn and self._starting is not None:
            self._starting.release_on_behalf_of(self)
        self._settled.set()
        self._on_settled(self)

    def _start_error(self, error: Exception) -> CannotStart:
        if isinstance(error, CannotStart):
            return error
        if self.wire.obituary():
            return CannotStart(self.wire.obituary())
        fault = next(iter(self.wire.faults.values()), None)
        if fault is not None:
            return CannotStart(fault.message, next_step=remedy(fault.status))
        if isinstance(error, MCPError):
            words = scrub(error.message, self.endpoint.secrets)
            return CannotStart(self.why(f"it refused to start a session: {words}"))
        return CannotStart(self.why(f"it could not be reached ({type(error).__name__})"))


def _cause(error: Exception) -> Exception:
    found = error
    while isinstance(found, ExceptionGroup):
        found = cast("ExceptionGroup[Exception]", found).exceptions[0]
    return found
