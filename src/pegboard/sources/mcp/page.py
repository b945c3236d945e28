"""Pages that a person must open before a call can run (MCP 2025-11-25: error -32042, elicitation by address).

A client of the handshake family gets the error as it is and calls again by itself. One of the stateless family, which
knows no such error, is asked; then the call is made again.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from pegboard.core.client import ELICIT, Client, ClientError
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.mcp.addressed import addressed, ask
from pegboard.wire.client import Answered

PAGES_FIRST = -32042
MOST = 16
"""Pages of one call."""
_REFUSED = -1
_SHOWS: JsonObject = {"elicitation": {"url": {}}}

Send: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
"""Makes the call."""


def shown_pages(source: str, data: Json) -> list[JsonObject]:
    """The pages that an error names, as a person may be shown them; those that no one should open are left out."""
    rows = as_object(data).get("elicitations")
    pages: list[JsonObject] = []
    for row in cast("list[Any]", rows)[:MOST] if isinstance(rows, list) else []:
        try:
            pages.append(addressed(source, ELICIT, {**as_object(row), "mode": "url"}, _SHOWS))
        except ClientError:
            continue
    return pages


async def after_pages(source: str, send: Send, client: Client, features: JsonObject) -> dict[str, Any]:
    """Make a call; where pages must be opened first, ask a client of the stateless family, and make it once more.

    Parameters:
        source: the source's name.
        send: makes the call.
        client: the client.
        features: what was declared to the server.

    Raises:
        ClientError: a page was not opened.
    """
    try:
        return await send()
    except Answered as error:
        rows = as_object(error.data).get("elicitations")
        asks = client.connection is None and "url" in as_object(features.get("elicitation"))
        if error.code != PAGES_FIRST or not isinstance(rows, list) or not asks:
            raise
        for row in cast("list[Any]", rows)[:MOST]:
            reply = await ask(source, client.request, ELICIT, {**as_object(row), "mode": "url"}, features)
            if reply["action"] != "accept":
                raise ClientError(_REFUSED, "The page that it asked for was not opened.") from None
    return await send()
