"""A server that dies while a client is asked for it: the call says so, the question goes, the next call works."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitResult

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio
ASK = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}},
}


@pytest.mark.parametrize("before", ["legacy", "auto"])
async def test_a_server_that_dies_while_it_waits_costs_its_call_alone(
    before: str, stdio: Callable[..., McpSource]
) -> None:
    source = stdio(family="handshake", call_timeout=20.0)
    inside: list[Client] = []

    async def kill(context: Any, params: Any) -> ElicitResult:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inside[0].call_tool, "faulty__die", {})
            await anyio.sleep(0 if before == "auto" else 60)
        return ElicitResult(action="accept", content={})

    async with Board.of(source) as board, served(board) as gateway:
        gateway.shared = False
        async with Client(gateway, mode=before, elicitation_callback=kill) as client:
            inside.append(client)
            with anyio.fail_after(60):
                result = await client.call_tool("faulty__ask", ASK)
                assert result.meta["pegboard/failure"]["code"] == "outcome_unknown"
                assert not (await client.call_tool("faulty__echo", {})).is_error
