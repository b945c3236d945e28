"""What the client behind a request does for servers, and how it is asked in the handshake family."""

from functools import partial
from typing import Any
from uuid import uuid4

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.dispatcher import CallOptions, Outbound
from mcp.shared.exceptions import MCPError

from pegboard.core.client import FEATURE_OF, WITHDRAWN, Client, ClientConnection, ClientError
from pegboard.schema.types import JsonObject
from pegboard.wire.server.spelling import spelled

_STATE = "pegboard.client"
_KNOWN = {"elicitation": ("form", "url"), "sampling": ("context", "tools"), "roots": ("listChanged",)}
_UNASKED = 120.0
"""Seconds for the answer to what is asked outside of any call: a client without a stream of its own never hears it."""


def features_of(ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    """What the client has declared of elicitation, sampling and roots, raw."""
    declared = ctx.session.client_capabilities
    if declared is None or not any(getattr(declared, name) is not None for name in FEATURE_OF.values()):
        return {}
    raw = declared.model_dump(by_alias=True, exclude_none=True)
    return {name: _known(raw[name], known) for name, known in _KNOWN.items() if name in raw}


def _known(raw: JsonObject, names: tuple[str, ...]) -> dict[str, Any]:
    """Only what the protocol knows: servers are listed by it, and there must be few different ones."""
    return {name: True if raw[name] is True else {} for name in names if raw.get(name) not in (None, False)}


def connected(ctx: ServerRequestContext[Any, Any], features: JsonObject) -> Client | None:
    """The client behind a request of the handshake family; None where it declared nothing, or cannot be asked."""
    if not features or not ctx.session.can_send_request:
        return None
    channel = ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage]
    request = partial(_ask, channel, ctx.protocol_version or "", None)
    return Client(capabilities=features, request=request, connection=connection_of(ctx))


def connection_of(ctx: ServerRequestContext[Any, Any]) -> ClientConnection:
    """The client's connection, the same for each of its requests."""
    # The SDK's per-client state. Its `Context` will hand it out; until the runner builds that, it is private.
    known: Connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]
    found = known.state.get(_STATE)
    if isinstance(found, ClientConnection):
        return found
    made = ClientConnection(
        known.session_id or uuid4().hex,
        request=partial(_ask, known.outbound, ctx.protocol_version or "", _UNASKED),
        notify=partial(_tell, known.outbound),
    )
    known.state[_STATE] = made
    known.exit_stack.callback(made.close)
    return made


async def _ask(channel: Outbound, version: str, seconds: float | None, method: str, params: JsonObject) -> JsonObject:
    options: CallOptions | None = None if seconds is None else {"timeout": seconds}
    try:
        return await channel.send_raw_request(method, spelled(method, params, version) or None, options)
    except MCPError as error:
        raise ClientError(error.code, error.message, error.data) from None
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        raise ClientError(WITHDRAWN, "The client has left.") from None


async def _tell(channel: Outbound, method: str, params: JsonObject) -> None:
    await channel.notify(method, params)
