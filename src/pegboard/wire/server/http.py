"""Serving many clients over streamable HTTP, at one path, guarded against foreign pages and strangers."""

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pegboard.errors import ConfigError
from pegboard.wire.server.events import EventLog
from pegboard.wire.server.gateway import GatewayServer

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 16 * 1024 * 1024
"""Bytes of a request; arguments may hold a document."""
BACKLOG = 2048
KEEP_SECONDS = 75
"""So long a connection may be idle: longer than clients keep it, so that none is closed under a request."""
DRAIN_SECONDS = 5


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


Post = Callable[[bytes, Mapping[str, str]], Awaitable[tuple[int, bytes, str]]]
"""Answers a POST: from body and headers to status, body and media type."""


def app(
    server: GatewayServer,
    *,
    hosts: Sequence[str] = LOOPBACK,
    token: str | None = None,
    posts: Mapping[str, Post] | None = None,
) -> ASGIApp:
    """The gateway as an ASGI application.

    Parameters:
        server: what it serves.
        hosts: the names under which it may be asked, without a port; empty for any (a token guards it then).
        token: the bearer token that every request must carry, if any.
        posts: what else is answered, by path, under the same guard.
    """
    manager = _Manager(server, max_request_body_size=MAX_BODY)
    routes = [Route(PATH, endpoint=StreamableHTTPASGIApp(manager))]
    routes += [Route(path, endpoint=_endpoint(post), methods=["POST"]) for path, post in (posts or {}).items()]
    return Guard(Starlette(routes=routes, lifespan=lambda _: manager.run()), hosts=hosts, token=token)


class _Manager(StreamableHTTPSessionManager):
    """The SDK's manager, which would give all sessions one store, where each could read the others' events."""

    _log: EventLog | None = None

    @property
    def event_store(self) -> EventStore | None:
        """A store for one more session."""
        if self._log is None:
            self._log = EventLog()
        return self._log.session()

    @event_store.setter
    def event_store(self, _: EventStore | None) -> None: ...


def _endpoint(post: Post) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                return PlainTextResponse(f"More than {MAX_BODY} bytes are not taken.", 413)
        status, answer, kind = await post(bytes(body), request.headers)
        return Response(answer, status, media_type=kind)

    return endpoint


async def serve(
    server: GatewayServer,
    *,
    host: str = "127.0.0.1",
    port: int = 8321,
    token: str | None = None,
    ready: Callable[[str], Any] | None = None,
    posts: Mapping[str, Post] | None = None,
) -> None:
    """Serve until the task is cancelled; calls in flight then have a few seconds to end.

    Parameters:
        server: what it serves.
        host: the address to listen on.
        port: the port; 0 for a free one.
        token: the bearer token that every request must carry.
        ready: called with the address when connections are accepted.
        posts: what else is answered, by path, under the same guard.

    Raises:
        ConfigError: the address is not a loopback one and there is no token, or it cannot be listened on.
    """
    if not is_loopback(host) and not token:
        raise ConfigError(
            f"{host} can be reached from other machines, and there is no token.",
            where="serve --http",
            next_step="Pass --token (or a reference to one in the config), or listen on 127.0.0.1.",
        )
    hosts = LOOPBACK if is_loopback(host) else ()
    config = uvicorn.Config(
        app(server, hosts=hosts, token=token, posts=posts),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_keep_alive=KEEP_SECONDS,
    )
    listening = _bound(host, port)
    address = f"http://{host}:{listening.getsockname()[1]}{PATH}"
    await _run(_Server(config), [listening], address, ready)


async def _run(http: "_Server", sockets: list[socket.socket], address: str, ready: Callable[[str], Any] | None) -> None:
    async with anyio.create_task_group() as tasks:

        async def listen() -> None:
            # Uvicorn ends when it is told to; a cancelled wait would leave its connections open.
            with anyio.CancelScope(shield=True):
                await http.serve(sockets=sockets)
            tasks.cancel_scope.cancel()

        tasks.start_soon(listen)
        try:
            await http.accepting.wait()
            if ready is not None:
                ready(address)
            await anyio.sleep_forever()
        finally:
            http.should_exit = True


def _bound(host: str, port: int) -> socket.socket:
    name = host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0]
        # The protocol must be named: asyncio turns off Nagle's delay (40 ms a call) only where it is.
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        return listening
    except (OSError, OverflowError, UnicodeError) as problem:
        raise ConfigError(
            f"Nothing can listen on {host}:{port}: {problem}.",
            where="serve --http",
            next_step="Another program has the port, or the address is not this machine's: choose another.",
        ) from None


class _Server(uvicorn.Server):
    """Uvicorn, telling when it accepts connections, and leaving the signals to whoever runs the gateway."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class Guard:
    """Lets a request pass that names this host, comes from no foreign page, and carries the token.

    A page on the web can make a browser send requests to a loopback address; its `Origin`, or after DNS rebinding
    its `Host`, gives it away.

    Parameters:
        app: what is guarded.
        hosts: the names of this host, without a port; empty for any.
        token: the bearer token, if one is needed.
    """

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str] = (), token: str | None = None) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._token = token.encode() if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401, 403 or 421."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if self._hosts and _without_port(host) not in self._hosts:
            return PlainTextResponse("This host is not served here.", 421)
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin, host):
            return PlainTextResponse("Pages of this origin may not use this server.", 403)
        if self._token is not None and not self._carries_token(headers.get("authorization", "")):
            return PlainTextResponse("A bearer token is needed.", 401, {"WWW-Authenticate": "Bearer"})
        return None

    def _is_ours(self, origin: str, host: str) -> bool:
        scheme, _, authority = origin.partition("://")
        if scheme not in ("http", "https"):
            return False
        return _without_port(authority) in self._hosts or authority.lower() == host.lower()

    def _carries_token(self, header: str) -> bool:
        scheme, _, token = header.partition(" ")
        sent = token.strip().encode("utf-8", "surrogateescape")
        return scheme.lower() == "bearer" and hmac.compare_digest(sent, self._token or b"")


def _without_port(authority: str) -> str:
    name, colon, port = authority.lower().rpartition(":")
    return name if colon and port.isdecimal() else authority.lower()
