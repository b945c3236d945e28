"""A board inside a real FastMCP server, and a FastMCP server as a source."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import ToolError

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.core import Effects, Failure, FailureCode, Result, Session, ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.frameworks.fastmcp import BoardProvider, FastMcpSource
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def source(answer: Any = None) -> FakeSource:
    spec = ToolSpec(
        name=ToolName("s", "double"),
        title="Twice",
        description="Double.",
        input=NUMBER,
        output=NUMBER,
        effects=Effects.READ_ONLY,
        meta={"_meta": {"a/b": 1}},
    )
    made = FakeSource("s", [spec])
    made.handlers["double"].script = answer
    return made


def server(board: Board, **options: Any) -> FastMCP[Any]:
    made: FastMCP[Any] = FastMCP("host", providers=[BoardProvider(board, **options)])

    @made.tool
    def own(x: int) -> int:
        return x + 1

    return made


async def test_a_fastmcp_server_shows_the_boards_tools_beside_its_own() -> None:
    async with Board.of(source()) as board, Client(server(board)) as client:
        found = {tool.name: tool for tool in await client.list_tools()}
        assert set(found) == {"own", "s__double"}
        double = found["s__double"]
        assert (double.title, double.description) == ("Twice", "Double.")
        assert double.input_schema == NUMBER
        assert double.annotations is not None
        assert double.annotations.read_only_hint is True
        answer = await client.call_tool("s__double", {"n": 2})
        assert answer.structured_content == {"n": 2}
        assert (await client.call_tool("own", {"x": 1})).data == 2


async def test_failures_and_pictures_pass_as_they_are() -> None:
    picture = Result(value={"n": 1}, content=({"type": "image", "data": "AAAA", "mimeType": "image/png"},))
    async with Board.of(source(picture)) as board, Client(server(board)) as client:
        assert (await client.call_tool("s__double", {"n": 2})).content[0].type == "image"
        with pytest.raises(ToolError, match="is required"):
            await client.call_tool("s__double", {})
    failed = Failure(FailureCode.UNAVAILABLE, "It sleeps.", next_step="Wake it.")
    async with Board.of(source(failed)) as board, Client(server(board)) as client:
        answer = await client.call_tool("s__double", {"n": 2}, raise_on_error=False)
        assert answer.is_error
        assert answer.meta is not None
        assert answer.meta["pegboard/failure"]["code"] == "unavailable"


async def test_a_deferred_tool_is_found_and_called_by_its_name() -> None:
    async with Board.of(source(), residency=Residency(search="on", threshold=1)) as board:
        async with Client(server(board, session=Session("s"))) as client:
            assert "s__double" not in {tool.name for tool in await client.list_tools()}
            found = await client.call_tool("tool_search", {"query": "double"})
            assert found.structured_content["namespaces"][0]["tools"][0]["name"] == "s__double"
            assert (await client.call_tool("s__double", {"n": 2})).structured_content == {"n": 2}
            assert "s__double" in {tool.name for tool in await client.list_tools()}


@pytest.mark.parametrize("family", ["modern", "handshake"])
async def test_a_fastmcp_server_is_a_source_with_its_lifespan_entered_once(family: Any) -> None:
    entered: list[str] = []

    @asynccontextmanager
    async def lifespan(_: FastMCP[Any]) -> AsyncIterator[dict[str, Any]]:
        entered.append("in")
        yield {}
        entered.append("out")

    made: FastMCP[Any] = FastMCP("own", lifespan=lifespan)

    @made.tool
    async def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    async with Board.of(FastMcpSource("math", made, family=family)) as board:
        [spec] = board.catalog.specs
        assert (spec.name, spec.description) == (ToolName("math", "add"), "Add.")
        result = await board.call("math.add", {"a": 2})
        assert result.value == {"result": 3}
        assert (await board.call("add", {"a": "two"})).failure is not None
        assert entered == ["in"]
    assert entered == ["in", "out"]


async def test_a_board_of_a_fastmcp_server_can_be_shown_in_another_one() -> None:
    inner: FastMCP[Any] = FastMCP("inner")

    @inner.tool
    def ping() -> str:
        return "pong"

    async with Board.of(FastMcpSource("inner", inner)) as board, Client(server(board)) as client:
        assert (await client.call_tool("inner__ping")).data == "pong"


@pytest.mark.parametrize(("mode", "options"), [("legacy", {}), ("auto", {"family": "handshake"})])
async def test_a_fastmcp_tool_that_asks_reaches_the_client_of_a_gateway(mode: str, options: Any) -> None:
    from mcp import Client as McpClient
    from mcp_types import ElicitResult

    asking: FastMCP[Any] = FastMCP("asking")

    @asking.tool
    async def greet(ctx: Context) -> str:
        answer = await ctx.elicit("Who is it?", response_type=str)
        return f"Hello {answer.data}" if answer.action == "accept" else answer.action

    async def elicit(context: Any, params: Any) -> ElicitResult:
        assert params.message == "desk asks: Who is it?"
        return ElicitResult(action="accept", content={"value": "Ann"})

    async with (
        Board.of(FastMcpSource("desk", asking, **options)) as board,
        served(board) as gateway,
        McpClient(gateway, mode=mode, elicitation_callback=elicit) as client,
    ):
        assert (await client.call_tool("desk__greet", {})).content[0].text == "Hello Ann"
