"""What a server answers beside tools: resources, prompts and completion, from plain data, in both protocol families."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import (
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    SubscriptionBus,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CompleteRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from pegboard.core import Progress
from pegboard.schema.types import JsonObject
from pegboard.wire.server.front import Peer, Relay

Context: TypeAlias = ServerRequestContext[Any, Any]
PeerOf: TypeAlias = Callable[[Context], Peer]

LISTS = ("resources/list", "resources/templates/list", "prompts/list")
ASKED = ("resources/read", "prompts/get", "completion/complete")
SUBSCRIBING = ("resources/subscribe", "resources/unsubscribe")
METHODS: Mapping[str, type[Any]] = {
    **dict.fromkeys(LISTS, PaginatedRequestParams),
    **dict(zip(ASKED, (ReadResourceRequestParams, GetPromptRequestParams, CompleteRequestParams), strict=True)),
    **dict.fromkeys(SUBSCRIBING, SubscribeRequestParams),
}
_PATIENCE = 5.0
"""Seconds for one notification: a client that has stopped reading must not hold up the others."""


def register(server: Server[Any]) -> None:
    """Have the server declare what there is beside tools; a middleware answers before these handlers would."""
    for method, params in METHODS.items():
        server.add_request_handler(method, params, _unreachable)


async def answer(
    relay: Relay, peer: Peer, method: str, params: Mapping[str, Any], progress: Progress | None
) -> JsonObject:
    """The body of the answer to one of `METHODS`. Raises `Refusal`, and `MCPError` for what the family does not have.

    Parameters:
        relay: what there is.
        peer: who asks.
        method: the method.
        params: its params, raw.
        progress: where progress goes, if the peer wants any.
    """
    if method in LISTS:
        cursor = params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            raise MCPError(INVALID_PARAMS, "`cursor` must be a string.")
        return await relay.list(peer, method, cursor)
    if method in ASKED:
        return await relay.answer(peer, method, params, progress)
    uri = params.get("uri")
    if peer.stateless:
        raise MCPError(METHOD_NOT_FOUND, f"{method} is not of this protocol version: use subscriptions/listen.", method)
    if not isinstance(uri, str):
        raise MCPError(INVALID_PARAMS, f"{method} needs a `uri` (string).")
    await (relay.subscribe if method == SUBSCRIBING[0] else relay.unsubscribe)(peer, uri)
    return {}


def listener(bus: SubscriptionBus, relay: Relay | None, peer_of: PeerOf) -> Callable[..., Awaitable[Any]]:
    """Serves `subscriptions/listen`: as the SDK does, with the sources subscribed to what the client wants meanwhile.

    Parameters:
        bus: carries what is new.
        relay: subscribes at the sources; None where there are none.
        peer_of: who sends a request.
    """
    inner = ListenHandler(bus)

    async def listen(ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        uris = params.notifications.resource_subscriptions
        if not uris or relay is None:
            return await inner(ctx, params)
        async with relay.subscribed(peer_of(ctx), uris):
            return await inner(ctx, params)

    return listen


async def announce_lists(bus: SubscriptionBus, lists: Iterable[str], listening: Iterable[Context]) -> None:
    """Tell every client that lists may have changed.

    Parameters:
        bus: reaches the streams of the stateless family.
        lists: `resources`, `prompts`.
        listening: the connections of the handshake family.
    """
    wanted = set(lists)
    if "resources" in wanted:
        await bus.publish(ResourcesListChanged())
    if "prompts" in wanted:
        await bus.publish(PromptsListChanged())

    async def tell(ctx: Context) -> None:
        with anyio.move_on_after(_PATIENCE):
            if "resources" in wanted:
                await ctx.session.send_resource_list_changed()
            if "prompts" in wanted:
                await ctx.session.send_prompt_list_changed()

    async with anyio.create_task_group() as tasks:
        for ctx in listening:
            tasks.start_soon(tell, ctx)


async def announce_update(
    bus: SubscriptionBus, spellings: Mapping[object, str], listening: Mapping[Peer, Context]
) -> None:
    """Tell whoever is subscribed that a resource was updated, by the address that each knows.

    Parameters:
        bus: reaches the streams of the stateless family.
        spellings: the addresses by subscriber.
        listening: the connections of the handshake family.
    """

    async def tell(ctx: Context, uri: str) -> None:
        with anyio.move_on_after(_PATIENCE):
            await ctx.session.send_resource_updated(uri)

    async with anyio.create_task_group() as tasks:
        for subscriber, uri in spellings.items():
            if isinstance(subscriber, Peer) and subscriber in listening:
                tasks.start_soon(tell, listening[subscriber], uri)
    streams = {uri: None for subscriber, uri in spellings.items() if not isinstance(subscriber, Peer)}
    for uri in streams:
        await bus.publish(ResourceUpdated(uri))


async def _unreachable(ctx: Context, params: Any) -> Any:
    raise AssertionError(f"{ctx.method} is answered in the middleware ({params})")
