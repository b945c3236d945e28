"""What every source keeps to, whatever is behind it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server

from pegboard.core import Call, NoteKind, Result, Source, SourceState, ToolName
from pegboard.sources.mcp import McpSource
from pegboard.sources.python import PythonSource
from pegboard.sources.recorded import RecordedSource
from pegboard.sources.wrap import filtered, prefixed

pytestmark = pytest.mark.anyio

STDIO = Path(__file__).parents[1] / "faults" / "servers" / "over_stdio.py"
ROWS = [
    {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}},
    {"name": "other", "inputSchema": {"type": "object"}},
]
MODULE = '''
from pegboard import tool

@tool
def echo(text: str = "") -> str:
    """Say it again."""
    return text

@tool
def other() -> int:
    """Something else."""
    return 1
'''


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def server() -> Server:
    async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
        tools = [types.Tool(name=row["name"], input_schema={"type": "object"}) for row in ROWS]
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=params.name)])

    return Server("contract", on_list_tools=list_tools, on_call_tool=call_tool)


def recorded(folder: Path) -> Source:
    (folder / "tools.json").write_text(json.dumps({"tools": ROWS}))
    return RecordedSource("it", folder / "tools.json")


def python(folder: Path) -> Source:
    (folder / "contract_tools.py").write_text(MODULE)
    return PythonSource("it", "contract_tools", folder)


MAKERS: dict[str, Callable[[Path], Source]] = {
    "mcp, in process": lambda _: McpSource("it", server(), family="modern"),
    "mcp, in process, handshake": lambda _: McpSource("it", server(), family="handshake"),
    "mcp, stdio": lambda _: McpSource("it", [sys.executable, str(STDIO)]),
    "recorded": recorded,
    "python": python,
    "filtered": lambda folder: filtered(recorded(folder), allow=["*"]),
    "prefixed": lambda folder: prefixed(recorded(folder), "it"),
}


@pytest.fixture(params=MAKERS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    return MAKERS[request.param](tmp_path)


async def test_it_is_a_source_with_a_name_and_a_kind(source: Source) -> None:
    assert isinstance(source, Source)
    assert source.name == "it" and source.kind


async def test_its_tools_know_where_they_come_from(source: Source) -> None:
    async with source.session():
        listing = await source.listing()
    assert {tool.name.name for tool in listing.tools} >= {"echo"}
    assert {(tool.spec.source.name, tool.spec.source.kind) for tool in listing.tools} == {("it", source.kind)}
    assert {tool.name.namespace for tool in listing.tools} == {"it"}
    assert all(tool.spec.input["type"] == "object" for tool in listing.tools)
    assert [note for note in listing.notes if note.kind is NoteKind.SET_ASIDE] == []


async def test_listing_again_gives_the_same(source: Source) -> None:
    async with source.session():
        first, second = await source.listing(), await source.listing()
    assert [tool.spec for tool in first.tools] == [tool.spec for tool in second.tools]


async def test_it_can_be_opened_again(source: Source) -> None:
    found: list[list[ToolName]] = []
    for _ in range(2):
        async with source.session():
            found.append([tool.name for tool in (await source.listing()).tools])
    assert found[0] == found[1]


async def test_it_is_ready_once_it_has_listed(source: Source) -> None:
    async with source.session():
        await source.listing()
        assert (await source.health()).state is SourceState.READY


async def test_a_call_comes_to_a_result_and_never_to_an_exception(source: Source) -> None:
    async with source.session():
        echo = next(tool for tool in (await source.listing()).tools if tool.name.name == "echo")
        results = [await echo.handler(Call(tool=echo.name, arguments={"text": "a"})) for _ in range(2)]
    late = await echo.handler(Call(tool=echo.name, arguments={"text": "a"}))
    for result in (*results, late):
        assert isinstance(result, Result)
        assert result.ok or (result.failure is not None and result.failure.message)


async def test_changes_end_with_the_session(source: Source) -> None:
    ended = anyio.Event()

    async def listen() -> None:
        async for _ in source.changes():
            pass
        ended.set()

    async with anyio.create_task_group() as tasks:
        async with source.session():
            tasks.start_soon(listen)
            await source.listing()
        with anyio.fail_after(60):
            await ended.wait()


async def test_an_exception_inside_the_session_comes_out_as_it_is(source: Source) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with source.session():
            await source.listing()
            raise KeyError("mine")


async def test_cancelling_what_holds_it_open_ends_it(source: Source) -> None:
    opened = anyio.Event()

    async def hold() -> None:
        async with source.session():
            await source.listing()
            opened.set()
            await anyio.sleep_forever()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold)
            await opened.wait()
            tasks.cancel_scope.cancel()
