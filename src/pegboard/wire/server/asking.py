"""Putting a question to the person behind a client of the handshake family: `elicitation/create`, form mode."""

from collections.abc import Mapping
from typing import Any, cast

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from pegboard.core.call import Ask, Reply
from pegboard.schema.types import JsonObject, as_object

METHOD = "elicitation/create"
_MODES_SINCE = "2025-11-25"
"""The revision that names the mode of a question, and gives the options of a choice by `oneOf`."""


def can_ask(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client has declared that it shows forms to a person."""
    declared = ctx.session.client_capabilities
    found = declared.elicitation if declared is not None else None
    if found is None:
        return False
    kinds = found.model_dump(exclude_none=True)
    return not kinds or "form" in kinds  # without a word on kinds, forms are meant


def asker(ctx: ServerRequestContext[Any, Any]) -> Ask | None:
    """Asks over the connection of a request; None where its client cannot be asked."""
    if not can_ask(ctx) or not ctx.session.can_send_request:
        return None
    channel = ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage]

    async def ask(message: str, schema: JsonObject, meta: JsonObject) -> Reply | None:
        params = question(message, schema, meta, ctx.protocol_version or "")
        try:
            return reply_of(await channel.send_raw_request(METHOD, params))
        except MCPError:  # it declared what it cannot do, or its connection is gone
            return None

    return ask


def question(message: str, schema: JsonObject, meta: JsonObject, version: str) -> dict[str, Any]:
    """The params of the request, as a protocol version spells them."""
    params: dict[str, Any] = {"message": message, "requestedSchema": dict(schema), "_meta": dict(meta)}
    if version >= _MODES_SINCE:
        return {"mode": "form", **params}
    fields = cast("Mapping[str, Any]", schema.get("properties", {}))
    params["requestedSchema"] = {**schema, "properties": {name: _older(one) for name, one in fields.items()}}
    return params


def _older(field: JsonObject) -> JsonObject:
    options = field.get("oneOf")
    if options is None:
        return field
    kept = {key: value for key, value in field.items() if key not in ("oneOf", "default")}
    return {**kept, "enum": [one["const"] for one in options], "enumNames": [one["title"] for one in options]}


def reply_of(raw: object) -> Reply:
    """The reply that a client sent; what is none counts as dismissed."""
    found = as_object(raw)
    action = found.get("action")
    return Reply(action if isinstance(action, str) else "cancel", as_object(found.get("content")))
