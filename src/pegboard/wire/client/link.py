"""The sending half of a connection: requests, and what became of them."""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CONNECTION_CLOSED, INVALID_PARAMS, REQUEST_TIMEOUT

from pegboard.schema.types import JsonObject
from pegboard.wire.client.connection import Connection
from pegboard.wire.client.endpoint import scrub, scrub_json
from pegboard.wire.client.fault import Answered, ConnectionLost, TimedOut, WireError
from pegboard.wire.client.negotiate import Peer, request_headers

# What the SDK says, under a code that servers use for other things too, when an answer can no longer come:
# of the whole connection, and of the stream of one request.
_STREAM_WORDS = "SSE stream"
_LOST_WORDS = ("Connection closed", _STREAM_WORDS)


class Link:
    """Sends requests over a connection, from any task.

    Parameters:
        connection: the connection; its owner runs it.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.answered = False
        self.log_level: str | None = None
        self._ids = count(1)
        self._in_flight = 0
        self._retired = False

    @property
    def peer(self) -> Peer:
        """The server, as it introduced itself. Only once the connection is open."""
        assert self.connection.peer is not None
        return self.connection.peer

    @property
    def usable(self) -> bool:
        """Whether a request may be sent now."""
        connection = self.connection
        return connection.is_open and not self._retired and connection.wire.alive

    @property
    def spent(self) -> bool:
        """Whether it can never be used (again)."""
        return (
            self._retired or self.connection.error is not None or (self.connection.peer is not None and not self.usable)
        )

    def retire(self) -> None:
        """Take no new requests; end the connection when the last one is answered."""
        self._retired = True
        if not self._in_flight:
            self.connection.end()

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout: float | None = None,
        on_progress: ProgressFnT | None = None,
        headers: Mapping[str, str] | None = None,
        capabilities: JsonObject | None = None,
    ) -> dict[str, Any]:
        """Send a request and wait for its result, raw. Cancelling the waiting task tells the server to stop.

        Parameters:
            method: the MCP method.
            params: its params; `_meta` is kept and completed.
            timeout: seconds to wait for the result.
            on_progress: hears progress.
            headers: more HTTP headers.
            capabilities: what is declared for this request alone (stateless family).

        Raises:
            Answered: the server answered with an error.
            TimedOut: no answer came in time.
            ConnectionLost: the connection ended first.
        """
        connection, peer = self.connection, self.connection.peer
        dispatcher, wire = connection.dispatcher, connection.wire
        if dispatcher is None or peer is None or not connection.is_open or not wire.alive:
            raise ConnectionLost("the connection is closed", sent=False)
        id_ = next(self._ids)
        options: CallOptions = {"request_id": id_}
        if on_progress is not None:
            options["on_progress"] = on_progress
        if peer.envelope:
            declared = {} if capabilities is None else {CLIENT_CAPABILITIES_META_KEY: dict(capabilities)}
            params = {**params, "_meta": {**params.get("_meta", {}), **peer.envelope, **declared}}
        if wire.encoded:
            _check(params)
        if wire.headers:
            options["headers"] = {**request_headers(peer, method, params), **(headers or {})}
        self._in_flight += 1
        try:
            if wire.encoded or not peer.modern:
                # Around the sending too: a server that no longer reads must not hold its callers.
                with anyio.fail_after(timeout):
                    result = await dispatcher.send_raw_request(method, params, options)
            else:
                if timeout is not None:
                    options["timeout"] = timeout
                result = await dispatcher.send_raw_request(method, params, options)
        except MCPError as error:
            raise self._translate(id_, error) from None
        except TimeoutError:
            raise TimedOut(f"no answer within {timeout:g} s") from None
        finally:
            self._in_flight -= 1
            if self._retired and not self._in_flight:
                connection.end()
        self.answered = True
        return result

    async def notify(self, method: str) -> None:
        """Tell the server something that has no params; nothing where the connection has ended."""
        dispatcher, wire = self.connection.dispatcher, self.connection.wire
        if dispatcher is None or not self.usable:
            return
        await dispatcher.notify(
            method, None, {"headers": request_headers(self.peer, method, {})} if wire.headers else None
        )

    def _translate(self, id_: int, error: MCPError) -> WireError:
        connection = self.connection
        words = scrub(error.message, connection.endpoint.secrets)
        fault = connection.wire.faults.pop(id_, None)
        if fault is not None:
            if fault.session_lost or fault.status is None:
                self.retire()
            return ConnectionLost(fault.message, sent=fault.sent, status=fault.status, session_lost=fault.session_lost)
        if error.code == CONNECTION_CLOSED and error.message.startswith(_LOST_WORDS):
            if not error.message.startswith(_STREAM_WORDS):
                self.retire()
            return ConnectionLost(connection.why("the connection ended before the answer came"), sent=True)
        if error.code == REQUEST_TIMEOUT:
            return TimedOut(words)
        self.answered = True
        return Answered(error.code, words, scrub_json(error.data, connection.endpoint.secrets))


def _check(params: Mapping[str, Any]) -> None:
    """Refuse what cannot be written as JSON: the transports would take the whole connection down with it."""
    try:
        json.dumps(params, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Answered(INVALID_PARAMS, f"The arguments cannot be written as JSON: {error}") from None
