"""What was sent over HTTP can be had again by whoever lost the stream, and by nobody else."""

import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp_types import JSONRPCResponse
from starlette.applications import Starlette
from starlette.routing import Route

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.sources.mcp import McpSource
from pegboard.testing import FakeSource
from pegboard.wire.server.events import EventLog, SessionEvents
from pegboard.wire.server.http import serve

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def message(number: int, text: str = "") -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={"text": text})


async def replayed(events: SessionEvents, last: str) -> tuple[str | None, list[Any]]:
    found: list[Any] = []

    async def take(event: Any) -> None:
        found.append(event.message.id)

    return await events.replay_events_after(last, take), found


async def test_what_followed_on_a_stream_is_replayed_in_order() -> None:
    events = EventLog().session()
    first = await events.store_event("a", None)
    await events.store_event("a", message(1))
    await events.store_event("b", message(2))
    third = await events.store_event("a", message(3))
    assert await replayed(events, first) == ("a", [1, 3])
    assert await replayed(events, third) == ("a", [])


async def test_no_session_gets_the_events_of_another() -> None:
    log = EventLog()
    one, two = log.session(), log.session()
    mine = await one.store_event("1", message(1))
    await two.store_event("1", message(2))
    assert await replayed(two, mine) == (None, [])
    assert await replayed(one, mine) == ("1", [])
    for odd in ("", "-", "x-1", mine.split("-")[0] + "-", mine + "7"):
        assert await replayed(one, odd) == (None, [])


async def test_their_number_and_weight_are_bounded_for_all_sessions_together() -> None:
    log = EventLog(most=10, heaviest=1000)
    events = [log.session() for _ in range(3)]
    for number in range(100):
        await events[number % 3].store_event("s", message(number, "x" * 90))
    kept = [event for one in events for event in log.of(one._session)]
    assert 5 < len(kept) <= 10
    await events[0].store_event("s", message(0, "x" * 5000))
    assert sum(event.weight for one in events for event in log.of(one._session)) <= 1000


async def test_a_client_that_lost_its_stream_gets_the_answer_with_the_last_event_that_it_has() -> None:
    ready, at = anyio.Event(), list[str]()

    def listening(address: str) -> None:
        at.append(address)
        ready.set()

    async with (
        Board.of(FakeSource("files", {"read": None})) as board,
        served(board) as server,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(lambda: serve(server, port=0, ready=listening))
        await ready.wait()
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
        async with httpx2.AsyncClient(headers=headers, timeout=10) as http:

            async def post(frame: dict[str, Any], **more: Any) -> httpx2.Response:
                return await http.post(at[0], json={"jsonrpc": "2.0", **frame}, headers=more)

            about = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            params = {"protocolVersion": "2025-11-25", **about}
            opened = await post({"id": 1, "method": "initialize", "params": params})
            session = {"mcp-session-id": opened.headers["mcp-session-id"]}
            await post({"method": "notifications/initialized"}, **session)
            call = {"id": 2, "method": "tools/call", "params": {"name": "files__read", "arguments": {}}}
            sent = read_events((await post(call, **session)).text)
            answer = json.loads(sent[-1]["data"])
            assert answer["id"] == 2
            async with http.stream("GET", at[0], headers={**session, "last-event-id": sent[0]["id"]}) as again:
                lines = (line async for line in again.aiter_lines())
                found = [line async for line in first_data(lines)]
            assert json.loads(found[0].removeprefix("data: ")) == answer
        tasks.cancel_scope.cancel()


async def first_data(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    async for line in lines:
        if line.startswith("data: {"):
            yield line
            return


def read_events(text: str) -> list[dict[str, str]]:
    parts = [part.splitlines() for part in text.replace("\r", "").split("\n\n") if part]
    return [dict(line.partition(": ")[::2] for line in part) for part in parts]


class Dropping(Server[Any]):
    """A server that lets the stream of each call break before it answers."""

    def __init__(self) -> None:
        super().__init__("dropping", on_list_tools=self._tools, on_call_tool=self._run)

    async def _tools(self, *_: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name="slow", input_schema={"type": "object"})])

    async def _run(self, ctx: Any, _: Any) -> Any:
        await ctx.close_sse_stream()
        return types.CallToolResult(content=[types.TextContent(type="text", text="late")])


async def test_a_call_whose_stream_breaks_goes_on_where_its_server_keeps_events() -> None:
    manager = StreamableHTTPSessionManager(Dropping(), event_store=EventLog().session(), retry_interval=10)
    app = Starlette(routes=[Route("/mcp", endpoint=StreamableHTTPASGIApp(manager))], lifespan=lambda _: manager.run())
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: server.serve(sockets=[listening]))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        with anyio.fail_after(15):
            async with Board.of(McpSource("far", url, family="handshake")) as board:
                result = await board.call("far.slow", {})
        assert result.content == ({"type": "text", "text": "late"},)
        server.should_exit = True
