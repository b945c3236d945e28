"""Putting a question to the person behind a client of the handshake family: `elicitation/create`, form mode."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from pegboard.core.call import Ask, Reply
from pegboard.core.client import ELICIT
from pegboard.schema.types import JsonObject, as_object
from pegboard.wire.server.spelling import spelled


def shows_forms(features: JsonObject) -> bool:
    """Whether a client has declared that it shows forms to a person."""
    if "elicitation" not in features:
        return False
    kinds = as_object(features["elicitation"])
    return not kinds or "form" in kinds  # without a word on kinds, forms are meant


def asker(ctx: ServerRequestContext[Any, Any], features: JsonObject) -> Ask | None:
    """Asks over the connection of a request; None where its client cannot be asked."""
    if not shows_forms(features) or not ctx.session.can_send_request:
        return None
    channel = ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage]

    async def ask(message: str, schema: JsonObject, meta: JsonObject) -> Reply | None:
        params = question(message, schema, meta, ctx.protocol_version or "")
        try:
            return reply_of(await channel.send_raw_request(ELICIT, params))
        except MCPError:  # it declared what it cannot do, or its connection is gone
            return None

    return ask


def question(message: str, schema: JsonObject, meta: JsonObject, version: str) -> JsonObject:
    """The params of the request, as a protocol version spells them."""
    return spelled(ELICIT, {"message": message, "requestedSchema": dict(schema), "_meta": dict(meta)}, version)


def reply_of(raw: object) -> Reply:
    """The reply that a client sent; what is none counts as dismissed."""
    found = as_object(raw)
    action = found.get("action")
    return Reply(action if isinstance(action, str) else "cancel", as_object(found.get("content")))
