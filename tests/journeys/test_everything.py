"""The npm server `everything`, which asks its client for all there is, through the gateway as directly."""

import os
import shutil
import socket
import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

from pegboard.board import Board
from pegboard.board.gateway import serve_http, served
from pegboard.sources.mcp import McpSource

DEMO = Path(__file__).parents[2] / "examples/demo"
SERVER = DEMO / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
HAS_NODE = shutil.which("node") is not None and (DEMO / "node_modules/.installed").exists()

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_NODE, reason="the demo's npm servers are not installed"),
]
CALLS: dict[str, dict[str, Any]] = {
    "echo": {"message": "hello"},
    "get-annotated-message": {"messageType": "error", "includeImage": True},
    "get-roots-list": {},
    "get-structured-content": {"location": "New York"},
    "trigger-elicitation-request": {},
    "trigger-long-running-operation": {"duration": 0.2, "steps": 2},
    "trigger-sampling-request": {"prompt": "hi", "maxTokens": 5},
    "trigger-url-elicitation": {"url": "https://example.com/a", "elicitationId": "x1"},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server over streamable HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen(
        ["node", str(SERVER), "streamableHttp"], env=environ, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stderr is not None
    while b"listening" not in (line := process.stderr.readline()):
        assert line, "the server ended"
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()
    process.stderr.close()


async def elicit(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=None if params.mode == "url" else {"name": "Ann", "integer": 3})


async def sample(context: Any, params: Any) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(text="sampled"), model="m", stop_reason="endTurn")


async def roots(context: Any) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri="file:///work", name="work")])


def client(server: Any, mode: str) -> Client:
    return Client(server, mode=mode, elicitation_callback=elicit, sampling_callback=sample, list_roots_callback=roots)


async def answers(one: Client, prefix: str = "") -> dict[str, Any]:
    """The names of all tools, and what the calls came to."""
    found: dict[str, Any] = {"names": sorted(tool.name.removeprefix(prefix) for tool in (await one.list_tools()).tools)}
    for name, arguments in CALLS.items():
        result = await one.call_tool(f"{prefix}{name}", arguments)
        blocks = [block.model_dump(by_alias=True, exclude_none=True) for block in result.content]
        found[name] = (result.is_error, blocks, result.structured_content)
    return found


@asynccontextmanager
async def at_an_address(board: Board) -> AsyncGenerator[str]:
    """The gateway over streamable HTTP."""
    found, ready = list[str](), anyio.Event()

    def heard(address: str) -> None:
        found.append(address)
        ready.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: serve_http(board, port=0, ready=heard))
        await ready.wait()
        yield found[0]
        tasks.cancel_scope.cancel()


ALL = ("elicitation", "roots", "sampling")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_pipes_it_offers_and_answers_what_it_does_directly(mode: str) -> None:
    command = ["node", str(SERVER), "stdio"]
    async with client(StdioServerParameters(command=command[0], args=command[1:]), "legacy") as direct:
        expected = await answers(direct)
    source = McpSource("every", command, may_ask=ALL)
    async with Board.of(source) as board, served(board) as gateway, client(gateway, mode) as through:
        assert await answers(through, "every__") == expected


async def test_over_http_it_offers_and_answers_what_it_does_directly(address: str) -> None:
    async with client(address, "legacy") as direct:
        expected = await answers(direct)
    source = McpSource("every", address, may_ask=ALL)
    async with (
        Board.of(source) as board,
        at_an_address(board) as gateway,
        client(gateway, "auto") as through,
    ):
        assert await answers(through, "every__") == expected
