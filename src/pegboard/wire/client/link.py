"""One client connection, from its start to its end, living in a task of its own.

The cancel scopes of a connection belong to the task that opened it. Calls come from other tasks and only ever wait for
answers, so a cancelled caller never takes the connection along, nor the other way round.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, cast

import anyio
from mcp.shared.dispatcher import CallOptions, DispatchContext, Dispatcher, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND, REQUEST_TIMEOUT

from pegboard.schema.types import Json
from pegboard.wire.client.endpoint import Endpoint, HttpEndpoint, StdioEndpoint, scrub
from pegboard.wire.client.fault import Answered, CannotStart, ConnectionLost, Fault, TimedOut, WireError
from pegboard.wire.client.negotiate import Declared, Family, Peer, negotiate, request_headers

_TOOLS_CHANGED = "notifications/tools/list_changed"
_LISTEN = "subscriptions/listen"

# What the SDK says, under a code that servers use for other things too, when an answer can no longer come:
# of the whole connection, and of the stream of one request.
_STREAM_WORDS = "SSE stream"
_LOST_WORDS = ("Connection closed", _STREAM_WORDS)

_log = logging.getLogger(__name__)


class Wire(Protocol):
    """A transport, seen by the link that lives on it.

    `headers` tells whether requests carry HTTP headers; `faults` holds what is known of failed ones, by request id.
    """

    headers: bool
    faults: dict[str | int, Fault]

    @property
    def alive(self) -> bool:
        """Whether the other end is there, as far as is known."""
        ...

    @property
    def stderr(self) -> str:
        """The end of what it wrote to stderr, without secrets."""
        ...

    @property
    def junk(self) -> Sequence[str]:
        """The beginnings of the first lines that were no messages."""
        ...

    @property
    def junk_lines(self) -> int:
        """How many lines were no messages."""
        ...

    def obituary(self) -> str:
        """How it ended by itself, in words; empty while it lives."""
        ...

    def open(self) -> AbstractAsyncContextManager[Dispatcher[Any]]:
        """Take it up, and put it down on the way out."""
        ...


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Who hears what a server says outside of answers. All are plain functions and must not block.

    Parameters:
        changed: the list of tools may have changed.
        logged: a log message: level, data, logger.
        event: something worth a line in the report, such as a refused request.
    """

    changed: Callable[[], None] = field(default=lambda: None)
    logged: Callable[[str, Json, str | None], None] = field(default=lambda _level, _data, _logger: None)
    event: Callable[[str], None] = field(default=lambda _text: None)


def open_wire(endpoint: Endpoint, family: Family) -> Wire:
    """The transport that an endpoint needs."""
    if isinstance(endpoint, StdioEndpoint):
        from pegboard.wire.client.stdio import StdioWire

        return StdioWire(endpoint)
    if isinstance(endpoint, HttpEndpoint):
        from pegboard.wire.client.http import HttpWire

        return HttpWire(endpoint)
    from pegboard.wire.client.memory import MemoryWire

    return MemoryWire(endpoint, framed=family == "handshake")


class Link:
    """A connection to one server. Start it with `run` in a task group; use it from any task.

    Parameters:
        endpoint: where the server is.
        family: which protocol family to speak.
        declared: what this client says that it can do.
        hooks: who hears what the server says outside of answers.
        start_timeout: seconds until it must have agreed on a protocol.
    """

    def __init__(
        self, endpoint: Endpoint, *, family: Family, declared: Declared, hooks: Hooks, start_timeout: float
    ) -> None:
        self.endpoint = endpoint
        self.family: Family = family
        self.declared = declared
        self.hooks = hooks
        self.start_timeout = start_timeout
        self.is_open = False
        self.ended = False
        self.error: CannotStart | None = None
        self.answered = False
        self.start_seconds: float | None = None
        self.wire: Wire = open_wire(endpoint, family)
        self._peer: Peer | None = None
        self._dispatcher: Dispatcher[Any] | None = None
        self._settled = anyio.Event()
        self._scope = anyio.CancelScope()
        self._ids = count(1)
        self._in_flight = 0
        self._retired = False

    @property
    def peer(self) -> Peer:
        """The server, as it introduced itself. Only once the link is open."""
        assert self._peer is not None
        return self._peer

    @property
    def usable(self) -> bool:
        """Whether a request may be sent on it now."""
        return self.is_open and not self._retired and self.wire.alive

    async def opened(self) -> None:
        """Wait until it is open.

        Raises:
            CannotStart: it could not be opened.
        """
        await self._settled.wait()
        if self.error is not None:
            raise self.error

    def retire(self) -> None:
        """Take no new requests; end when the last one is answered."""
        self._retired = True
        if not self._in_flight:
            self.close()

    def close(self) -> None:
        """End it now."""
        self._scope.cancel()

    async def run(self) -> None:
        """Open the connection, keep it, and clean up. Never raises but for cancellation."""
        begun = anyio.current_time()
        try:
            with self._scope:
                if await self._live(begun, self.family) is False:
                    # Some servers leave when their first message is not `initialize`.
                    self.wire = open_wire(self.endpoint, "handshake")
                    await self._live(begun, "handshake")
        finally:
            self.is_open, self.ended = False, True
            self._settle(CannotStart(self._why("the connection was closed while it started")))

    async def _live(self, begun: float, family: Family) -> bool:
        """One life of the connection; False if it died of the modern family's probe."""
        self._scope.deadline = anyio.current_time() + self.start_timeout
        try:
            async with self.wire.open() as dispatcher, anyio.create_task_group() as tasks:
                await tasks.start(self._pump, dispatcher, tasks.cancel_scope)
                self._peer = await negotiate(dispatcher, family, self.declared)
                self._dispatcher = dispatcher
                self._scope.deadline = math.inf
                self.start_seconds = anyio.current_time() - begun
                self.is_open = True
                self._settled.set()
                if self._peer.modern and self._peer.announces_changes:
                    tasks.start_soon(self._listen)
        except anyio.get_cancelled_exc_class():
            if not self._settled.is_set() and anyio.current_time() >= self._scope.deadline:
                self._settle(CannotStart(self._why(f"it did not start within {self.start_timeout:g} s")))
            raise
        except CannotStart as error:
            self._settle(error)
        except Exception as error:
            found = _cause(error)
            if self.is_open:
                _log.debug("the link to %s ended: %r", self.endpoint, found)
            elif family == "auto" and self.wire.obituary():
                return False
            else:
                self._settle(self._start_error(found))
        self.is_open = False
        if not self._settled.is_set():
            if family == "auto":
                return False
            self._settle(CannotStart(self._why("the connection ended while it started")))
        return True

    async def _pump(
        self,
        dispatcher: Dispatcher[Any],
        scope: anyio.CancelScope,
        *,
        task_status: anyio.abc.TaskStatus[None],
    ) -> None:
        await dispatcher.run(self._on_request, self._on_notify, self._on_frame, task_status=task_status)
        self.is_open = False
        scope.cancel()

    def _settle(self, error: CannotStart) -> None:
        if not self._settled.is_set():
            self.error = error
            self._settled.set()

    def _why(self, what: str) -> str:
        obituary = self.wire.obituary() or (f"it wrote: {self.wire.stderr[-300:]}" if self.wire.stderr else "")
        return f"{what}; {obituary}" if obituary else what

    def _start_error(self, error: Exception) -> CannotStart:
        if isinstance(error, CannotStart):
            return error
        fault = next(iter(self.wire.faults.values()), None)
        if self.wire.obituary():
            return CannotStart(self.wire.obituary())
        if fault is not None:
            return CannotStart(fault.message, next_step=_remedy(fault.status))
        if isinstance(error, MCPError):
            words = scrub(error.message, self.endpoint.secrets)
            return CannotStart(self._why(f"it refused to start a session: {words}"))
        return CannotStart(self._why(f"it could not be reached ({type(error).__name__})"))

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout: float | None = None,
        on_progress: ProgressFnT | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request and wait for its result, raw. Cancelling the waiting task tells the server to stop.

        Parameters:
            method: the MCP method.
            params: its params; `_meta` is kept and completed.
            timeout: seconds to wait for the result.
            on_progress: hears progress.
            headers: more HTTP headers.

        Raises:
            Answered: the server answered with an error.
            TimedOut: no answer came in time.
            ConnectionLost: the connection ended first.
        """
        dispatcher, peer = self._dispatcher, self._peer
        if dispatcher is None or peer is None or not self.is_open or not self.wire.alive:
            raise ConnectionLost("the connection is closed", sent=False)
        id_ = next(self._ids)
        options: CallOptions = {"request_id": id_}
        if timeout is not None:
            options["timeout"] = timeout
        if on_progress is not None:
            options["on_progress"] = on_progress
        if peer.envelope:
            params = {**params, "_meta": {**params.get("_meta", {}), **peer.envelope}}
        if self.wire.headers:
            options["headers"] = {**request_headers(peer, method, params), **(headers or {})}
        self._in_flight += 1
        try:
            result = await dispatcher.send_raw_request(method, params, options)
        except MCPError as error:
            raise self._translate(id_, error) from None
        finally:
            self._in_flight -= 1
            if self._retired and not self._in_flight:
                self.close()
        self.answered = True
        return result

    def _translate(self, id_: int, error: MCPError) -> WireError:
        fault = self.wire.faults.pop(id_, None)
        if fault is not None:
            if fault.session_lost or fault.status is None:
                self.retire()
            return ConnectionLost(fault.message, sent=fault.sent, status=fault.status, session_lost=fault.session_lost)
        if error.code == CONNECTION_CLOSED and error.message.startswith(_LOST_WORDS):
            if not error.message.startswith(_STREAM_WORDS):
                self.retire()
            return ConnectionLost(self._why("the connection ended before the answer came"), sent=True)
        if error.code == REQUEST_TIMEOUT:
            return TimedOut(scrub(error.message, self.endpoint.secrets))
        self.answered = True
        return Answered(error.code, scrub(error.message, self.endpoint.secrets), error.data)

    async def _on_request(
        self, _context: DispatchContext[Any], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        if method == "ping":
            return {}
        answer = self.declared.answers.get(method)
        if answer is None:
            self.hooks.event(f"It asked for {method}, which was not declared to it and was refused.")
            raise MCPError(code=METHOD_NOT_FOUND, message=f"This client does not support {method}.")
        return await answer(params or {})

    def _on_frame(self, method: str, params: Mapping[str, Any] | None) -> bool:
        if method == _TOOLS_CHANGED:
            self.hooks.changed()
        elif method == "notifications/message" and params is not None:
            logger = params.get("logger")
            level = str(params.get("level", "info"))
            self.hooks.logged(level, params.get("data"), logger if isinstance(logger, str) else None)
        return True

    async def _on_notify(self, _context: DispatchContext[Any], _method: str, _params: Mapping[str, Any] | None) -> None:
        """Everything was heard in `_on_frame`, in order."""

    async def _listen(self) -> None:
        """Hold a stream of list changes open (MCP 2026-07-28, subscriptions); open it anew when it breaks."""
        dispatcher, peer = self._dispatcher, self._peer
        assert dispatcher is not None and peer is not None
        pause = 1.0
        for number in count(1):
            params = {"notifications": {"toolsListChanged": True}, "_meta": dict(peer.envelope)}
            options: CallOptions = {"request_id": f"listen-{number}"}
            if self.wire.headers:
                options["headers"] = request_headers(peer, _LISTEN, params)
            begun = anyio.current_time()
            try:
                await dispatcher.send_raw_request(_LISTEN, params, options)
            except MCPError as error:
                self.wire.faults.pop(f"listen-{number}", None)
                if error.code == METHOD_NOT_FOUND:
                    self.hooks.event("It announces list changes, but does not know subscriptions/listen.")
                    return
            pause = 1.0 if anyio.current_time() - begun > 30 else min(pause * 2, 60.0)
            await anyio.sleep(pause)
            self.hooks.changed()


def _cause(error: Exception) -> Exception:
    found = error
    while isinstance(found, ExceptionGroup):
        found = cast("ExceptionGroup[Exception]", found).exceptions[0]
    return found


def _remedy(status: int | None) -> str | None:
    match status:
        case 401 | 403:
            return "Check the credentials in `headers`."
        case 404 | 405:
            return "Check the address: there is no MCP endpoint there."
        case None:
            return "Check the address, and that the server runs."
        case _:
            return None
