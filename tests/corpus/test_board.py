"""A board of every real definition that is at hand: small to look at, and nothing out of reach."""

import json
from pathlib import Path

import pytest
from mcp import Client

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.core import ToolName, ToolSpec
from pegboard.discovery.residency import Exposure
from pegboard.sources.recorded import RecordedSource
from pegboard.surface import mcp
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
FILES = sorted((Path(__file__).parent / "mcp").glob("*.json*"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.requirement("D5.4", "C9.6")
async def test_hundreds_of_real_tools_are_shown_in_a_few_entries_and_a_few_bytes() -> None:
    sources = [RecordedSource(path.name.partition(".")[0], path) for path in FILES]
    async with Board.of(*sources) as board:
        view = board.view()
        shown = json.dumps([mcp.tool(spec, view.wire_name(spec.name)) for spec in view.listed])
        whole = json.dumps([mcp.tool(spec, view.wire_name(spec.name)) for spec in board.catalog.specs])
        assert len(board.catalog) == 277
        assert len(view.listed) < 12
        assert len(shown) < 0.03 * len(whole)
        page: dict[str, str] = {}
        reached: set[str] = set()
        while True:
            listed = await board.call("list_available_tools", page)
            reached |= {row["name"] for row in listed.value["tools"]}
            if "next_cursor" not in listed.value:
                break
            page = {"cursor": listed.value["next_cursor"]}
        hidden = {name for name in board.catalog.tools if board.exposure(name)[0] is Exposure.HIDDEN}
        assert hidden == {ToolName("github", "ui_get")}, "its server shows it to apps only (`_meta.ui.visibility`)"
        assert reached == {wire for name, wire in board.aliases.wire.items() if name not in hidden}


@pytest.mark.requirement("D5.4", "C9.1", "D8.1")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_of_either_family_is_shown_little_and_reaches_everything(mode: str) -> None:
    """With the public client: a short list, meta-tools that hold still, and a found tool called in both ways."""
    extra = FakeSource("extra")
    sources = [RecordedSource(path.name.partition(".")[0], path) for path in FILES]
    async with Board.of(*sources, extra) as board, served(board) as server:
        async with Client(server, mode=mode) as client:
            before = [tool.model_dump_json(by_alias=True) for tool in (await client.list_tools()).tools]
            whole = sum(len(mcp.tool(spec, "x")["inputSchema"].__repr__()) for spec in board.catalog.specs)
            assert len(before) < 12 and sum(map(len, before)) < 0.03 * whole
            for n in range(100):
                extra.put(f"paint_wall_{n}", spec=ToolSpec(name=ToolName("extra", f"paint_wall_{n}")))
            await board.refresh(["extra"])
            assert len(board.catalog) == 377
            after = [tool.model_dump_json(by_alias=True) for tool in (await client.list_tools()).tools]
            assert after == before, "not a byte of the list tells what was added"
            found = await client.call_tool("tool_search", {"query": "paint_wall_42", "limit": 1})
            name = found.structured_content["namespaces"][0]["tools"][0]["name"]
            assert name == "extra__paint_wall_42"
            assert (await client.call_tool(name, {"colour": "red"})).structured_content == {"colour": "red"}
            through = await client.call_tool("tool_call", {"name": name, "arguments": {"colour": "blue"}})
            assert through.structured_content == {"colour": "blue"}
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert (name in listed) is (mode == "legacy")


@pytest.mark.parametrize(
    ("need", "tool"),
    [
        ("show what changed in the repository", "git.git_diff"),
        ("take a screenshot of the page", "playwright.browser_take_screenshot"),
        ("create_entities", "memory.create_entities"),
        ("list the pods of a cluster", "kubernetes."),
    ],
)
async def test_a_need_finds_its_tool_among_them_all(need: str, tool: str) -> None:
    sources = [RecordedSource(path.name.partition(".")[0], path) for path in FILES]
    async with Board.of(*sources) as board:
        found = await board.call("tool_search", {"query": need})
        names = [row["name"] for group in found.value["namespaces"] for row in group["tools"]]
    assert any(name.startswith(tool.replace(".", "__")) for name in names), names
