"""Whose session a request belongs to, for clients of both protocol families."""

from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from pegboard.board import Board
from pegboard.board.gateway import SESSION_KEY, served
from pegboard.core import Budget
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def files() -> FakeSource:
    return FakeSource("files", {f"t{n}": None for n in range(30)})


async def searched(client: Client, **more: Any) -> bool:
    """Whether a search gives the whole definition, and not the stub of a loaded one."""
    found = await client.call_tool("tool_search", {"query": "t7", "limit": 1}, **more)
    assert found.structured_content is not None
    return "inputSchema" in found.structured_content["namespaces"][0]["tools"][0]


async def test_a_client_of_the_stateless_family_names_its_session() -> None:
    one, two = {SESSION_KEY: "run-1"}, {SESSION_KEY: "run-2"}
    async with Board.of(files(), budget=Budget(max_tool_calls=2)) as board, served(board) as server:
        async with Client(server, mode="auto") as client, Client(server, mode="auto") as other:
            assert [await searched(each, meta=one) for each in (client, other)] == [True, False]
            assert await searched(client, meta=two)
            assert await searched(client) and await searched(client), "no session, nothing to remember"
            called = [(await client.call_tool("files__t1", {}, meta=one)).is_error for _ in range(3)]
            assert called == [False, False, True]
            assert not (await other.call_tool("files__t1", {}, meta=two)).is_error


async def test_in_the_handshake_family_the_connection_is_the_session_whatever_a_request_names() -> None:
    async with Board.of(files()) as board, served(board) as server:
        async with Client(server, mode="legacy") as client, Client(server, mode="legacy") as other:
            assert await searched(client)
            assert not await searched(client, meta={SESSION_KEY: "run-1"})
            assert await searched(other)


async def test_nobody_takes_over_a_connection_by_naming_it() -> None:
    async with Board.of(files()) as board, served(board) as server:
        async with Client(server, mode="legacy") as client, Client(server, mode="auto") as thief:
            assert await searched(client)
            [connection] = server.front._connections
            with pytest.raises(MCPError, match="somebody else"):
                await thief.call_tool("files__t7", {}, meta={SESSION_KEY: connection})


@pytest.mark.parametrize("odd", ["", "a b", "x" * 129, 7, {"id": "a"}, "naïve"])
async def test_an_odd_session_id_is_refused_with_what_it_must_be(odd: Any) -> None:
    async with Board.of(files()) as board, served(board) as server, Client(server, mode="auto") as client:
        with pytest.raises(MCPError, match="1 to 128 visible characters"):
            await client.call_tool("files__t7", {}, meta={SESSION_KEY: odd})


async def test_where_one_client_has_the_server_to_itself_its_connection_is_the_session() -> None:
    async with Board.of(files()) as board, served(board) as server:
        server.shared = False
        async with Client(server, mode="auto") as client:
            assert [await searched(client) for _ in range(2)] == [True, False]
