"""A server's word that its list has changed goes on to clients only where the list that they see has changed."""

from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Announcing(Server[Any]):
    """Says on each call that its list has changed; only a call of `grow` changes it."""

    def __init__(self) -> None:
        super().__init__("announcing", on_list_tools=self._list, on_call_tool=self._call)
        self.names = ["say", "grow"]
        self.listed = 0

    def create_initialization_options(self, *_: Any, **__: Any) -> Any:
        return super().create_initialization_options(NotificationOptions(tools_changed=True))

    async def _list(self, ctx: Any, params: Any) -> ListToolsResult:
        self.listed += 1
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in self.names])

    async def _call(self, ctx: Any, params: Any) -> CallToolResult:
        if params.name == "grow":
            self.names.append("more")
        await ctx.session.send_tool_list_changed()
        return CallToolResult(content=[TextContent(text="ok")])


@pytest.mark.case("px-04")
async def test_a_change_that_changes_nothing_is_not_told_and_one_that_does_is_told_once() -> None:
    server, heard, told = Announcing(), list[str](), anyio.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            heard.append(message.method)
            told.set()

    source = McpSource("shop", server, family="handshake")
    async with (
        Board.of(source) as board,
        served(board) as gateway,
        Client(gateway, mode="legacy", message_handler=hear) as client,
    ):
        await client.list_tools()
        for name in ("say", "grow"):
            before = server.listed
            await client.call_tool(f"shop__{name}", {})
            with anyio.fail_after(60):
                while server.listed == before:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
        with anyio.fail_after(60):
            await told.wait()
        assert len((await client.list_tools()).tools) == 3
    assert len(heard) == 1
