"""A server behind an address: the SDK's transports, with every failed request kept to itself.

The SDK's transport lets one failed connection end the whole session, and tells a 401 from a 503 no more than a 404
from a lost session. So the failures are caught one layer below, where HTTP requests are sent: each becomes a JSON-RPC
error for its own request, and what is known of it (was it sent? which status?) is noted beside it.
"""

import json
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import CONNECTION_CLOSED

from pegboard.errors import SourceError
from pegboard.wire.client.endpoint import HttpEndpoint
from pegboard.wire.client.fault import CannotStart, Fault, remedy
from pegboard.wire.client.frames import MAX_FRAME, NO_JSON, plain
from pegboard.wire.client.road import road
from pegboard.wire.client.wire import Quiet
from pegboard.wire.oauth import Keeper
from pegboard.wire.oauth.signed import SignedTransport

_CONNECT = 10.0
_READ = 1800.0
"""Seconds without a byte after which a response is given up; calls have their own, shorter limit."""

_NOTICE = b'{"jsonrpc":"2.0","method":'
_NOTICE_READ = 5.0
"""Seconds for the answer to a notification: the SDK sends nothing else meanwhile."""

_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)

logging.getLogger("mcp").addHandler(logging.NullHandler())


class HttpWire(Quiet):
    """The transport of one session with one address."""

    headers = encoded = True

    def __init__(self, endpoint: HttpEndpoint) -> None:
        super().__init__()
        self.endpoint = endpoint

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[JSONRPCDispatcher[Any]]:
        """Take up the transport; over streamable HTTP nothing is sent before the first request.

        Raises:
            CannotStart: the stream of the old transport cannot be opened.
        """
        streams = self._sse if self.endpoint.transport == "sse" else self._streamable
        async with streams() as (incoming, outgoing):
            yield JSONRPCDispatcher(incoming, outgoing)

    @asynccontextmanager
    async def _streamable(self) -> AsyncGenerator[Any]:
        async with (
            self._client(_Watched(self._transport(), self.faults, self.endpoint.keeper)) as client,
            streamable_http_client(self.endpoint.url, http_client=client, max_sse_event_size=MAX_FRAME) as streams,
        ):
            yield streams

    @asynccontextmanager
    async def _sse(self) -> AsyncGenerator[Any]:
        def factory(*_: Any, **__: Any) -> Any:
            return self._client(self._transport())

        try:
            async with sse_client(self.endpoint.url, sse_read_timeout=_READ, httpx_client_factory=factory) as streams:
                yield streams
        except httpx2.HTTPStatusError as error:
            status = error.response.status_code
            raise CannotStart(f"HTTP {status}", next_step=remedy(status)) from None
        except httpx2.TransportError as error:
            raise CannotStart(_words(error), next_step=remedy(None)) from None

    def _transport(self) -> httpx2.AsyncBaseTransport:
        try:
            plain = road(self.endpoint.url, self.endpoint.proxy, self.endpoint.ca_file)
        except SourceError as problem:
            raise CannotStart(str(problem), next_step=problem.next_step) from None
        return plain if self.endpoint.keeper is None else SignedTransport(plain, self.endpoint.keeper)

    def _client(self, transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncClient:
        timeout = httpx2.Timeout(_CONNECT, read=_READ)
        return httpx2.AsyncClient(timeout=timeout, headers=dict(self.endpoint.headers), transport=transport)


class _Watched(httpx2.AsyncBaseTransport):
    """Turns a failed POST into a JSON-RPC error for the request that it carried."""

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, faults: dict[str | int, Fault], keeper: Keeper | None = None
    ) -> None:
        self._inner = inner
        self._faults = faults
        self._keeper = keeper

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return await self._inner.handle_async_request(request)
        if request.content.startswith(_NOTICE):
            timeout = {**request.extensions.get("timeout", {}), "read": _NOTICE_READ}
            request.extensions = {**request.extensions, "timeout": timeout}
        try:
            response = await self._inner.handle_async_request(request)
            if response.status_code >= 400:
                return await self._refused(request, response)
            if response.headers.get("content-type", "").startswith("application/json"):
                return await _whole(request, response)
        except httpx2.TransportError as error:
            return self._error(request, Fault(_words(error), sent=not isinstance(error, _NOT_SENT)))
        return response

    async def _refused(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        whole = await _whole(request, response)
        status = response.status_code
        if _carries_error(whole) and status not in (401, 403):
            return whole
        fault = Fault(
            f"HTTP {status} {response.reason_phrase}".rstrip() + self._wanted(response),
            sent=status >= 500 and status != 503,
            status=status,
            session_lost="mcp-session-id" in request.headers and _ends_session(status, whole.text),
        )
        return self._error(request, fault)

    def _wanted(self, response: httpx2.Response) -> str:
        """What a refusal says that would help."""
        if response.status_code == 403 and "insufficient_scope" in response.headers.get("www-authenticate", ""):
            from mcp.client.auth.utils import extract_scope_from_www_auth  # seldom needed

            scope = " ".join(re.findall(r"[!#-\[\]-~]+", extract_scope_from_www_auth(response) or ""))[:200]
            return f"; the sign-in lacks the scope {scope!r}" if scope else "; the sign-in lacks a scope"
        trouble = self._keeper.trouble if self._keeper is not None else None
        return f"; {trouble}" if response.status_code == 401 and trouble else ""

    def _error(self, request: httpx2.Request, fault: Fault) -> httpx2.Response:
        id_ = _request_id(request)
        if id_ is None:
            return httpx2.Response(202, request=request)
        self._faults[id_] = fault
        error = {"code": CONNECTION_CLOSED, "message": fault.message}
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": id_, "error": error}, request=request)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _whole(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    stream = cast("httpx2.AsyncByteStream", response.stream)
    try:
        body = b"".join([chunk async for chunk in stream])
    finally:
        await stream.aclose()
    if any(word in body for word in NO_JSON):
        with suppress(ValueError, RecursionError):
            body = plain(body)
    return httpx2.Response(
        response.status_code, headers=response.headers, content=body, extensions=response.extensions, request=request
    )


def _carries_error(response: httpx2.Response) -> bool:
    try:
        body = response.json()
    except ValueError:
        return False
    return isinstance(body, dict) and isinstance(cast("dict[str, Any]", body).get("error"), dict)


def _ends_session(status: int, text: str) -> bool:
    return status == 404 or (status == 400 and "session" in text.lower())


def _request_id(request: httpx2.Request) -> str | int | None:
    try:
        frame = json.loads(request.content)
    except ValueError:
        return None
    found = cast("dict[str, Any]", frame) if isinstance(frame, dict) else {}
    return found.get("id") if "method" in found else None


def _words(error: httpx2.TransportError) -> str:
    match error:
        case httpx2.ProxyError():
            return f"the proxy did not let it through ({_first_line(error)})"
        case httpx2.ConnectError() if "SSL" in str(error):
            return f"its certificate is not trusted, or it speaks no TLS ({_first_line(error)}); see `ca_file`"
        case httpx2.ConnectError():
            return "the connection was refused or the name is unknown"
        case httpx2.TimeoutException():
            return "the connection timed out"
        case _:
            return "the connection broke"


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split("\n", 1)[0].split())[:150]
