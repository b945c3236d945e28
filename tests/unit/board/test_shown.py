"""What clients of a board are shown: by policy, by use, and in both protocol families."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.board.passage import Passage
from pegboard.core import FailureCode, Session, ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.discovery.announce import WHOLE, announcement
from pegboard.discovery.learned import most_used, uses
from pegboard.errors import PegboardError
from pegboard.index import Use
from pegboard.testing import FakeSource, MemoryTraces
from pegboard.trace.record import CallRecord
from pegboard.trace.recorder import Recorder
from pegboard.trace.store import Entry

pytestmark = pytest.mark.anyio
FAMILIES = ("legacy", "auto")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def shelf(name: str, count: int, **more: Any) -> FakeSource:
    return FakeSource(
        name, [ToolSpec(name=ToolName(name, f"t{n}"), description=f"Do {n}.", **more) for n in range(count)]
    )


@pytest.mark.parametrize("mode", FAMILIES)
async def test_a_client_of_an_overfull_board_without_search_is_told_why_it_gets_no_list(mode: str) -> None:
    async with Board.of(shelf("a", 40), shelf("b", 20), residency=Residency(search="off")) as board:
        async with served(board) as server, Client(server, mode=mode) as client:
            with pytest.raises(MCPError, match="a 40, b 20"):
                await client.list_tools()
        assert (await board.call("a__t3", {"x": 1})).value == {"x": 1}, "it can be called all the same"
        with pytest.raises(PegboardError, match="max_direct is 50"):
            _ = board.view().listed
        assert any("60 tools" in warning for warning in board.warnings)


@pytest.mark.parametrize("mode", FAMILIES)
async def test_deferred_namespaces_are_announced_and_meta_tools_stay_the_same_bytes(mode: str) -> None:
    files = shelf("files", 30)
    async with Board.of(files, shelf("git", 3)) as board, served(board) as server:
        async with Client(server, mode=mode) as client:
            first = [tool.model_dump_json() for tool in (await client.list_tools()).tools]
            assert "- files: 30 tools (" in (client.instructions or "")
            assert "- git: 3 tools (t0, t1, t2)" in (client.instructions or "")
        for n in range(100):
            files.put(f"more{n}")
        await board.refresh()
        async with Client(server, mode=mode) as client:
            assert [tool.model_dump_json() for tool in (await client.list_tools()).tools] == first
            assert "- files: 130 tools (" in (client.instructions or "")


async def test_many_namespaces_are_announced_within_a_limit() -> None:
    async with Board.of(*(shelf(f"space{n}", 1) for n in range(400))) as board:
        told = announcement(board.view())
        assert len(told) < WHOLE + 500
        assert "more namespaces" in told
    async with Board.of(*(shelf(f"space{n}", 20) for n in range(60))) as board:
        told = announcement(board.view())
    assert all(f"- space{n}: 20 tools" in told for n in range(60))


async def test_what_is_hidden_is_neither_listed_nor_found_nor_counted_and_can_still_be_called() -> None:
    policy = Residency(hidden=("files.t7",))
    async with Board.of(shelf("files", 30), residency=policy) as board:
        found = await board.call("tool_search", {"query": "t7", "limit": 30})
        listed = await board.call("list_available_tools", {})
        named = [row["name"] for group in found.value["namespaces"] for row in group["tools"]]
        assert "files__t7" not in [*named, *found.value["next"]]
        assert "files__t7" not in [row["name"] for row in listed.value["tools"]]
        assert listed.value["total"] == 29
        assert "29 tools" in announcement(board.view())
        for meta, arguments in (("tool_describe", {"names": ["files.t7"]}), ("tool_call", {"name": "files.t7"})):
            refused = (await board.call(meta, arguments, session=Session("one"))).failure
            assert refused is not None and refused.code is FailureCode.BLOCKED
        assert board.view(Session("one")).loaded == ()
        assert (await board.call("files.t7", {"x": 1})).value == {"x": 1}


async def test_a_tool_becomes_findable_when_its_server_shows_it_to_models() -> None:
    source = shelf("files", 25)
    source.put("app", spec=ToolSpec(name=ToolName("files", "app"), meta={"_meta": {"ui": {"visibility": ["app"]}}}))
    async with Board.of(source) as board:
        assert not [hit for hit in (await board.search("app")).hits if hit.name.name == "app"]
        source.put("app", spec=ToolSpec(name=ToolName("files", "app")))
        await board.refresh()
        assert (await board.search("app")).hits[0].name.name == "app"
        source.put("app", spec=ToolSpec(name=ToolName("files", "app"), meta={"_meta": {"ui": {"visibility": []}}}))
        await board.refresh()
        assert not [hit for hit in (await board.search("app")).hits if hit.name.name == "app"]


async def test_what_was_loaded_is_shown_again_on_request() -> None:
    session = Session("one")
    async with Board.of(shelf("files", 30)) as board:
        empty = await board.call("tool_describe", {}, session=session)
        assert empty.value["tools"] == []
        for query in ("t7", "t8"):
            await board.call("tool_search", {"query": query, "limit": 1}, session=session)
        again = await board.call("tool_describe", {}, session=session)
        assert [row["full_name"] for row in again.value["tools"]] == ["files.t7", "files.t8"]
        assert all(row["inputSchema"] for row in again.value["tools"])
        assert again.value["tools"][0]["exposure"] == "deferred"
        assert "found by search" in again.value["tools"][0]["exposure_reason"]


async def test_a_meta_tool_is_described_and_never_listed_twice() -> None:
    async with Board.of(shelf("files", 30)) as board:
        found = await board.call("tool_describe", {"names": ["tool_search", "t1"]}, session=Session("one"))
        assert [row["name"] for row in found.value["tools"]] == ["tool_search", "files__t1"]
        listed = [spec.name for spec in board.view(Session("one")).listed]
    assert len(listed) == len(set(listed))


def record(run: str, tool: str, agent: str | None = None) -> Entry:
    return Entry(run, 0, CallRecord(id="1", tool=tool, ok=True, started=float(run), seconds=0.0), agent)


async def test_of_two_tools_that_fit_alike_the_one_that_runs_called_well_comes_first() -> None:
    traces = MemoryTraces()
    for run in range(6):
        traces.append([record(str(run), "files.t7"), record(str(run), "files.t8")])
    for run in range(10, 16):
        bad = CallRecord(id="1", tool="files.t2", ok=False, failure=FailureCode.UPSTREAM, started=float(run))
        refused = CallRecord(id="2", tool="files.t9", ok=False, failure=FailureCode.DECLINED, started=float(run))
        traces.append([Entry(str(run), 0, bad, None), Entry(str(run), 1, refused, None)])
    traces.append([record(str(run), "files.t1", agent="cli") for run in range(20, 30)])
    assert uses(traces) == {
        ToolName("files", "t2"): Use(6, 6, 6),
        ToolName("files", "t7"): Use(6, 6, 0),
        ToolName("files", "t8"): Use(6, 6, 0),
        ToolName("files", "t9"): Use(6, 6, 0),
    }
    same = FakeSource("files", [ToolSpec(name=ToolName("files", f"t{n}"), description="Do it.") for n in range(10)])
    async with Board.of(same, passage=Passage(recorder=Recorder(traces))) as board:
        used = [hit.name.name for hit in (await board.search("do it", 10)).hits]
        named = (await board.search("t2")).hits[0].name.name
    async with Board.of(same) as board:
        unused = [hit.name.name for hit in (await board.search("do it", 10)).hits]
    assert used == ["t7", "t8", "t9", "t0", "t1", "t3", "t4", "t5", "t6", "t2"]
    assert unused == [f"t{n}" for n in range(10)]
    assert named == "t2"


@pytest.mark.requirement("C9.6")
async def test_the_tools_that_past_runs_used_most_are_shown_and_hold_still() -> None:
    traces = MemoryTraces()
    for run in range(5):
        traces.append([record(str(run), "files.t9"), record(str(run), "tool_search")])
    traces.append([record(str(run), "files.t4") for run in range(3)])
    traces.append([record(str(run), "files.t5") for run in range(2)])
    traces.append([record(str(run), "files.t6", agent="cli") for run in range(10, 14)])
    assert most_used(traces, 8) == ("files.t9", "tool_search", "files.t4")
    passage = Passage(recorder=Recorder(traces))
    async with Board.of(shelf("files", 30), residency=Residency(learn=2), passage=passage) as board:
        assert [spec.name.name for spec in board.view().direct] == ["t4", "t9"]
        for n in range(5):
            await board.call("files.t1", session=Session(f"s{n}"))
        assert [spec.name.name for spec in board.view().direct] == ["t4", "t9"]


async def test_without_traces_nothing_is_learned_and_nothing_breaks(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([{"name": f"t{n}"} for n in range(30)]))
    (tmp_path / "pegboard.toml").write_text('[board]\nlearn = 4\n[sources.files]\nrecorded = "tools.json"\n')
    async with Board.open(tmp_path) as board:
        assert board.view().direct == ()
