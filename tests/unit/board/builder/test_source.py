"""The builder namespace: there only where asked for, showing by default, writing only where allowed."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from pegboard.board import Board
from pegboard.core import FailureCode, Mode, Session

pytestmark = pytest.mark.anyio

TOOLS = """
from pegboard import tool

@tool(effects="read_only")
async def find_user(name: str) -> str:
    "Find a user by name."
    return f"user-{name}"

@tool(effects="read_only")
async def get_order(user: str) -> str:
    "Get the order of a user."
    return f"order-of-{user}"

@tool(effects="destructive")
async def drop(user: str) -> str:
    "Delete a user."
    return "gone"
"""


def folder(tmp_path: Path, builder: str) -> Path:
    (tmp_path / "shop_tools.py").write_text(TOOLS)
    (tmp_path / "pegboard.toml").write_text(f'[sources.shop]\npython = "shop_tools"\n{builder}')
    return tmp_path


async def worked(board: Board) -> None:
    """Six agents that all do the same."""
    for number in range(6):
        session = Session(f"run-{number}", agent="worker")
        user = await board.call("shop.find_user", {"name": f"Ann{number}"}, session=session)
        await board.call("shop.get_order", {"user": user.value}, session=session)


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A board with six recorded runs and the namespace."""
    home = folder(tmp_path, "[builder]\nenabled = true\n")
    async with Board.open(home) as board:
        await worked(board)
    return home


async def test_without_the_table_there_is_no_namespace(tmp_path: Path) -> None:
    async with Board.open(folder(tmp_path, "")) as board:
        assert "builder" not in board.catalog.namespaces


@pytest.mark.requirement("R10.1", "C1.1", "C1.2")
async def test_the_namespace_lists_tools_runs_and_a_trace(home: Path) -> None:
    async with Board.open(home) as board:
        names = {spec.name.name for spec in board.catalog.namespaces["builder"]}
        assert names == {
            "list_tools",
            "list_runs",
            "trace_execution",
            "check_tools",
            "probe_tool",
            "execute_tool",
            "find_improvements",
            "apply_improvement",
            "publish_agent_version",
            "publish_flow_version",
        }
        listed = (await board.call("builder.list_tools", {"select_only": "shop.*"})).value
        assert {row["name"]: row["effects"] for row in listed["tools"]} == {
            "shop.find_user": "read_only",
            "shop.get_order": "read_only",
            "shop.drop": "destructive",
        }
        runs = (await board.call("builder.list_runs", {"agent": "worker"})).value["runs"]
        assert len(runs) == 6
        trace = (await board.call("builder.trace_execution", {"run": "run-3"})).value
        assert [call["tool"] for call in trace["calls"]] == ["shop.find_user", "shop.get_order"]
        missing = (await board.call("builder.trace_execution", {"run": "run-99"})).failure
        assert missing is not None and "run-9" in str(missing.next_step or "") or "Did you mean" in str(missing)


@pytest.mark.requirement("C1.9")
async def test_one_tool_is_run_alone_and_safely_by_default(home: Path) -> None:
    async with Board.open(home) as board:
        checked = await board.call("builder.execute_tool", {"name": "shop.drop", "arguments": {"user": "u"}})
        assert (checked.ok, checked.mode, checked.value) == (True, Mode.EXECUTE, None) or checked.value != "gone"
        done = await board.call(
            "builder.execute_tool", {"name": "shop.find_user", "arguments": {"name": "x"}, "mode": "execute"}
        )
        assert done.value == "user-x"
        for arguments, code in (
            ({"name": "shop.nothing", "arguments": {}}, FailureCode.UNKNOWN_TOOL),
            ({"name": "builder.list_tools", "arguments": {}}, FailureCode.BLOCKED),
            ({"name": "shop.drop", "arguments": {}, "mode": "loudly"}, FailureCode.INVALID_ARGUMENTS),
        ):
            failure = (await board.call("builder.execute_tool", arguments)).failure
            assert failure is not None and failure.code is code


async def test_an_improvement_is_shown_and_not_written_unless_the_config_allows_it(home: Path) -> None:
    before = (home / "pegboard.toml").read_text()
    async with Board.open(home) as board:
        found = (await board.call("builder.find_improvements", {"kind": "bundle"})).value["findings"]
        assert found[0]["tools"] == ["shop.find_user", "shop.get_order"]
        asked = {"finding": found[0]["id"]}
        shown = (await board.call("builder.apply_improvement", asked)).value
        assert (shown["written"], "[bundle." in shown["config"]) == ([], True)
        refused = (await board.call("builder.apply_improvement", asked, mode=Mode.EXECUTE)).failure
        assert refused is not None and refused.code is FailureCode.BLOCKED
        unknown = (await board.call("builder.apply_improvement", {"finding": "bundle-none"})).failure
        assert unknown is not None and "no finding" in unknown.message
    assert (home / "pegboard.toml").read_text() == before


async def test_where_writing_is_allowed_the_tool_is_on_the_next_board(tmp_path: Path) -> None:
    home = folder(tmp_path, "[builder]\nenabled = true\nwrite = true\n")
    async with Board.open(home) as board:
        await worked(board)
    async with Board.open(home) as board:
        found = (await board.call("builder.find_improvements", {"kind": "bundle"})).value["findings"]
        done = await board.call("builder.apply_improvement", {"finding": found[0]["id"]}, mode=Mode.EXECUTE)
        assert done.ok, done.failure
        tool = done.value["tool"]
    async with Board.open(home) as board:
        result = await board.call(tool, {"name": "Zoe"})
        assert "order-of-user-Zoe" in json.dumps(result.value)


@pytest.mark.slow
@pytest.mark.requirement("R10.2")
async def test_servers_are_reached_only_where_that_is_allowed(tmp_path: Path) -> None:
    home = folder(tmp_path, "[builder]\nenabled = true\nservers = true\n")
    server = shlex.join([str(Path(sys.executable).parent / "mcp-server-git")])
    async with Board.open(home) as board:
        name = "builder.discover_mcp_server_tools"
        found = (await board.call(name, {"server": server}, mode=Mode.EXECUTE)).value
        assert "git_status" in {row["name"] for row in found["tools"]}
        failure = (await board.call(name, {"server": "no-such-program-anywhere"}, mode=Mode.EXECUTE)).failure
        assert failure is not None and failure.next_step
        assert "git_status" not in {spec.name.name for spec in board.catalog.specs}


async def test_the_tools_are_checked_and_probed(home: Path) -> None:
    async with Board.open(home) as board:
        checked = (await board.call("builder.check_tools", {"rules": "PB4"})).value
        assert checked["tools"] == 3
        assert any(row["tool"] == "shop.drop" for row in checked["findings"])
        assert all(row["code"].startswith("PB4") for row in checked["findings"])
        nothing = (await board.call("builder.check_tools", {"rules": "XX9"})).failure
        assert nothing is not None and nothing.next_step
        probed = (await board.call("builder.probe_tool", {"name": "find_user"})).value
        assert (probed["tool"], 0 <= probed["found"] <= 1, len(probed["requests"]) > 0) == (
            "shop.find_user",
            True,
            True,
        )
        missing = (await board.call("builder.probe_tool", {"name": "shop.nothing"})).failure
        assert missing is not None and missing.code is FailureCode.UNKNOWN_TOOL
