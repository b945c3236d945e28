"""An MCP server on the SDK's low level that answers `tools/list` and `tools/call` from plain data.

Both methods are answered in a middleware, before the SDK validates and re-serialises results through its models:
that costs a relay as much as the call itself, loses fields that the models do not know, and takes 2.4 s for a list
of 10,000 tools. The middleware owns the whole answer then, its envelope included.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from uuid import uuid4

import anyio
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    LOG_LEVEL_META_KEY,
    SERVER_INFO_META_KEY,
    CallToolResult,
    EmptyResult,
    ListToolsResult,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    SetLevelRequestParams,
    SubscriptionsListenRequestParams,
)
from mcp_types import CallToolRequestParams as CallParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from opentelemetry import trace

from pegboard.core.call import LOG_LEVELS
from pegboard.schema.types import Json, JsonObject, canonical
from pegboard.wire.server import beside
from pegboard.wire.server.asking import asker
from pegboard.wire.server.features import connected, connection_of, features_of
from pegboard.wire.server.front import SESSION_KEY, Front, Peer, Refusal, Relay
from pegboard.wire.server.rounds import Rounds, Way

PRINCIPAL = "local"
"""Whose all requests are: who reaches the address, and has the token where there is one."""
_STATE = "pegboard.peer"


class GatewayServer(Server[Any]):
    """The SDK's server, over a `Front`.

    Parameters:
        front: what it shows.
    """

    def __init__(self, front: Front) -> None:
        self.bus = InMemorySubscriptionBus()
        super().__init__(
            front.name,
            version=front.version,
            get_tool_input_schema=front.input_schema,
            on_list_tools=_unreachable_list,
            on_call_tool=_unreachable_call,
        )
        self.front = front
        self.id = uuid4().hex
        self.shared = True
        """Whether several clients may come; over standard input and output it is one."""
        self.peers: dict[Peer, ServerRequestContext[Any, Any]] = {}
        self.add_request_handler("logging/setLevel", SetLevelRequestParams, self._set_level)
        listen = beside.listener(self.bus, front.relay, self._peer)
        self.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)
        if front.relay is not None:
            beside.register(self)
        [self._spans] = self.middleware
        self.middleware = [self._watched]
        self.rounds: Rounds | None = None
        self._stamp = {SERVER_INFO_META_KEY: self.server_info_stamp}

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the SDK's, but declaring list changes, which its HTTP entry would not."""
        self.instructions = self.front.instructions()
        more = self.front.relay is not None
        options = notification_options or NotificationOptions(
            tools_changed=True, prompts_changed=more, resources_changed=more
        )
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    async def announce(self, *, everyone: bool) -> None:
        """Tell the clients whose list has changed since they were last told.

        Parameters:
            everyone: whether the list that all clients of the stateless family see has changed.
        """
        if everyone:
            await self.bus.publish(ToolsListChanged())
        async with anyio.create_task_group() as tasks:
            for peer, ctx in self.peers.items():
                tasks.start_soon(self._announce_to, peer, ctx)

    async def announce_lists(self, lists: Iterable[str]) -> None:
        """Tell every client that its lists of resources or prompts may have changed."""
        await beside.announce_lists(self.bus, lists, list(self.peers.values()))

    async def announce_update(self, spellings: Mapping[object, str]) -> None:
        """Tell subscribers that a resource was updated, by the address that each knows."""
        await beside.announce_update(self.bus, spellings, dict(self.peers))

    async def _announce_to(self, peer: Peer, ctx: ServerRequestContext[Any, Any]) -> None:
        now = self.front.fingerprint(peer)
        if now != peer.shown:
            peer.shown = now
            # A client that has stopped reading must not hold up the others.
            with anyio.move_on_after(5):
                await ctx.session.send_tool_list_changed()

    async def _watched(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Within the SDK's span, where somebody collects spans; making one that nobody sees costs a tenth of a call."""
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return await self._answer(ctx, call_next)
        return await self._spans(ctx, partial(self._answer, call_next=call_next))

    async def _answer(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        match ctx.method:
            case "tools/call":
                return await self._call(ctx)
            case "tools/list":
                return await self._list(ctx)
            case "server/discover":
                self.instructions = self.front.instructions()
                return await call_next(ctx)
            case "notifications/roots/list_changed":
                for hear in connection_of(ctx).on_roots:
                    hear()
                return await call_next(ctx)
            case "notifications/initialized":
                result = await call_next(ctx)
                self._register(ctx)
                return result
            case method if method in beside.METHODS and self.front.relay is not None:
                return await self._beside(ctx, self.front.relay)
            case _:
                return await call_next(ctx)

    async def _beside(self, ctx: ServerRequestContext[Any, Any], relay: Relay) -> dict[str, Any]:
        """Resources, prompts and completion."""
        params = _params(ctx, required=ctx.method not in beside.LISTS)
        peer = self._peer(ctx)
        progress = ctx.session.report_progress if _wants_progress(ctx, params.get("_meta") or {}) else None
        try:
            body = await beside.answer(relay, peer, ctx.method, params, progress)
        except Refusal as refusal:
            raise MCPError(refusal.code, refusal.message, refusal.data) from None
        return self._envelope(peer, body)

    async def _call(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
        params = _params(ctx)
        name, arguments = params.get("name"), params.get("arguments")
        meta: JsonObject = params.get("_meta") or {}
        if not isinstance(name, str) or not (arguments is None or isinstance(arguments, dict)):
            raise MCPError(INVALID_PARAMS, "tools/call needs a `name` (string) and `arguments` (object).")
        peer = self._peer(ctx)
        progress = ctx.session.report_progress if _wants_progress(ctx, meta) else None
        log = _logger(ctx, peer, meta)
        try:
            if not peer.stateless:
                ask, client = asker(ctx, peer.features), connected(ctx, peer.features)
                body = await self.front.call_tool(peer, params, str(ctx.request_id), progress, log, ask, client)
            elif self.rounds is not None and (peer.features or params.get("requestState")):
                step = partial(self._step, peer, params, str(ctx.request_id))
                owner = _owner(peer, meta)
                alone = str(meta.get(SESSION_KEY) or ("" if peer.shared else peer.id))
                body = await self.rounds.answer(params, owner, step, Way(peer.features, alone, progress, log))
            else:
                body = await self.front.call_tool(peer, params, str(ctx.request_id), progress, log)
        except Refusal as refusal:
            raise MCPError(refusal.code, refusal.message, refusal.data) from None
        if not peer.stateless and peer in self.peers:
            await self._announce_to(peer, ctx)
        return self._envelope(peer, body)

    async def _step(self, peer: Peer, params: JsonObject, id: str, way: Way) -> JsonObject:
        return await self.front.call_tool(peer, params, id, way.progress, way.log, way.ask, way.client)

    async def _list(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
        cursor = _params(ctx, required=False).get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            raise MCPError(INVALID_PARAMS, "`cursor` must be a string.")
        peer = self._peer(ctx)
        try:
            body = await self.front.list_tools(peer, cursor)
        except Refusal as refusal:
            raise MCPError(refusal.code, refusal.message, refusal.data) from None
        peer.shown = self.front.fingerprint(peer)
        if peer.stateless:
            # Nothing may be cached without a subscription: an upstream's list can change at any moment.
            body = {"ttlMs": 0, "cacheScope": "private", **body}
        return self._envelope(peer, body)

    def _envelope(self, peer: Peer, body: JsonObject) -> dict[str, Any]:
        """The required fields of a stateless result, which the SDK adds only to answers of its own handlers."""
        if not peer.stateless:
            return dict(body)
        meta = body.get("_meta")
        return {"resultType": "complete", **body, "_meta": {**meta, **self._stamp} if meta else self._stamp}

    def _peer(self, ctx: ServerRequestContext[Any, Any]) -> Peer:
        connection = _connection(ctx)
        peer = connection.state.get(_STATE)
        if peer is None:
            info = connection.client_params.client_info if connection.client_params else None
            stateless = _stateless(ctx)
            id = self.id if stateless else connection_of(ctx).id
            agent = info.name if info else None
            shared = stateless and self.shared
            peer = connection.state[_STATE] = Peer(id, stateless, agent, shared, features=features_of(ctx))
        return cast("Peer", peer)

    def _register(self, ctx: ServerRequestContext[Any, Any]) -> None:
        peer = self._peer(ctx)
        if not peer.stateless and peer not in self.peers:
            peer.shown = self.front.fingerprint(peer)
            self.peers[peer] = ctx
            _connection(ctx).exit_stack.callback(self._forget, peer)

    async def _set_level(self, ctx: ServerRequestContext[Any, Any], params: SetLevelRequestParams) -> EmptyResult:
        self._peer(ctx).level = params.level
        return EmptyResult()

    def _forget(self, peer: Peer) -> None:
        self.peers.pop(peer, None)
        self.front.forget(peer)
        if self.front.relay is not None:
            self.front.relay.forget(peer)


@dataclass(frozen=True, slots=True)
class _Logger:
    """Sends log messages of one call to its client, from the level on that the client wants."""

    ctx: ServerRequestContext[Any, Any]
    wanted: str | None

    async def __call__(self, level: str, data: Json, logger: str | None = None) -> None:
        lowest = self.wanted or LOG_LEVELS[0]
        if level not in LOG_LEVELS or LOG_LEVELS.index(level) < LOG_LEVELS.index(lowest):
            return
        params = LoggingMessageNotificationParams(level=level, data=data, logger=logger)
        await self.ctx.session.send_notification(LoggingMessageNotification(params=params), self.ctx.request_id)


def _logger(ctx: ServerRequestContext[Any, Any], peer: Peer, meta: JsonObject) -> _Logger | None:
    """Clients of the stateless family ask for logging request by request; without that nothing may be sent."""
    if not peer.stateless:
        return _Logger(ctx, peer.level)
    level = meta.get(LOG_LEVEL_META_KEY)
    return _Logger(ctx, level) if level in LOG_LEVELS else None


def _owner(peer: Peer, meta: JsonObject) -> str:
    """Whose a call is that waits for a reply: nobody else's request goes on with it."""
    return canonical([PRINCIPAL, peer.id, peer.agent, meta.get(SESSION_KEY)])


def _stateless(ctx: ServerRequestContext[Any, Any]) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _params(ctx: ServerRequestContext[Any, Any], *, required: bool = True) -> Mapping[str, Any]:
    """The request's params, behind the gate that the SDK keeps before a handshake."""
    if not _connection(ctx).initialize_accepted or (required and ctx.params is None):
        raise MCPError(INVALID_PARAMS, "Invalid request parameters", "")
    return ctx.params or {}


def _wants_progress(ctx: ServerRequestContext[Any, Any], meta: JsonObject) -> bool:
    """An in-process client passes its callback beside the message, so there a token says nothing."""
    if "progressToken" in meta:
        return True
    outbound = ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage]
    return outbound.transport.kind == "direct"


def _connection(ctx: ServerRequestContext[Any, Any]) -> Connection:
    """The SDK's per-client state. Its `Context` will hand it out; until the runner builds that, it is private."""
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage]


async def _unreachable_list(
    ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
) -> ListToolsResult:
    raise AssertionError(f"{ctx.method} is answered in the middleware ({params})")


async def _unreachable_call(ctx: ServerRequestContext[Any, Any], params: CallParams) -> CallToolResult:
    raise AssertionError(f"{ctx.method} is answered in the middleware ({params})")
