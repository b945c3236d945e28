"""Calling a server of the stateless family that asks in rounds (MCP 2026-07-28, `input_required` results)."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import anyio

from pegboard.core.client import INVALID_PARAMS, ClientError, Request
from pegboard.schema.types import JsonObject, as_object
from pegboard.sources.mcp.addressed import ask

MOST = 32
"""Rounds of one call; the public SDKs give up after ten."""
MOST_REQUESTS = 16
"""Requests of one round."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25
"""Seconds before a round that asks for nothing is gone on with, as the public SDKs wait."""

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends the call with these params and returns the raw result."""


async def in_rounds(
    source: str, send: Send, params: dict[str, Any], request: Request, features: JsonObject
) -> dict[str, Any]:
    """Send a call, and answer what the server asks for until it has a result.

    Parameters:
        source: the source's name.
        send: sends one round.
        params: the call's params.
        request: asks the client.
        features: what was declared to the server.

    Raises:
        ClientError: the client refused, or the server asked for what it may not.
    """
    raw, pause = await send(params), _FIRST_PAUSE
    for _ in range(MOST):
        if raw.get("resultType") != "input_required":
            return raw
        asked = as_object(raw.get("inputRequests"))
        again = {key: raw[key] for key in ("requestState",) if raw.get(key) is not None}
        if asked:
            again["inputResponses"] = await _answers(source, asked, request, features)
            pause = _FIRST_PAUSE
        else:
            await anyio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        raw = await send({**params, **again})
    raise ClientError(INVALID_PARAMS, f"The server asked more than {MOST} times within one call.")


async def _answers(source: str, asked: JsonObject, request: Request, features: JsonObject) -> dict[str, Any]:
    """The answers to the requests of one round, asked for side by side; the first refusal ends the others."""
    if len(asked) > MOST_REQUESTS:
        raise ClientError(INVALID_PARAMS, f"The server asked for more than {MOST_REQUESTS} things at once.")
    answers: dict[str, Any] = {}
    refused: list[ClientError] = []

    async def one(key: str, wanted: JsonObject) -> None:
        try:
            method, params = str(wanted.get("method")), as_object(wanted.get("params"))
            answers[key] = await ask(source, request, method, params, features)
        except ClientError as error:
            refused.append(error)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for key, wanted in asked.items():
            tasks.start_soon(one, key, as_object(wanted))
    if refused:
        raise refused[0]
    return {key: answers[key] for key in asked}
