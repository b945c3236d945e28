"""What a session may spend on calls, over a board with tools made of tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.board.sessions import Sessions
from pegboard.config import parse
from pegboard.core import (
    AGENT_TOOL_CALLS,
    Budget,
    Call,
    Effects,
    FailureCode,
    Mode,
    Result,
    Session,
    ToolName,
    ToolSpec,
)
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def crm(effects: Effects = Effects.UNKNOWN) -> FakeSource:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    source = FakeSource("crm", [ToolSpec(name=ToolName("crm", "get"), input=schema, effects=effects)])
    source.put("broken", ValueError("no"))
    return source


def scripted(board: Sequence[Board], calls: int, *, through: str | None = None) -> FakeSource:
    """A source of one tool that calls another in a loop, as a script of a model does."""

    async def script(call: Call) -> Result:
        done = 0
        for n in range(calls):
            name, arguments = "crm.get", {"id": n}
            if through is not None:
                name, arguments = through, {"name": name, "arguments": arguments}
            inner = Call(
                tool=ToolName.parse(name), arguments=arguments, session=call.session, id=f"{n}", parent=call.id
            )
            done += (await board[0].run(inner)).ok
        return Result(value=done)

    return FakeSource("code", {"run": script})


async def own_calls(board: Board, count: int, session: Session, name: str = "crm.get") -> list[Result]:
    return [await board.call(name, {"id": n}, session=session) for n in range(count)]


@pytest.mark.requirement("R2.1")
async def test_an_eleventh_call_is_refused_with_what_was_done_and_what_to_do() -> None:
    session = Session("agent", budget=Budget(max_tool_calls=AGENT_TOOL_CALLS))
    async with Board.of(crm()) as board:
        await board.call("crm.broken", session=session)
        for _ in range(5):
            await board.call("tool_search", {"query": "get"}, session=session)
            await board.call("list_available_tools", session=session)
        results = await own_calls(board, 10, session)
        assert [result.ok for result in results] == [True] * 9 + [False]
        failure = results[-1].failure
        assert failure is not None and failure.code is FailureCode.BUDGET
        assert "crm.get 9, crm.broken 1 (1 failed)" in failure.message
        assert failure.details["done"]["crm.get"] == {"made": 9, "failed": 0}
        assert "max_tool_calls" in (failure.next_step or "")
        through = await board.call("tool_call", {"name": "crm.get", "arguments": {"id": 1}}, session=session)
        assert through.failure is not None and through.failure.code is FailureCode.BUDGET
        assert (await board.call("tool_search", {"query": "get"}, session=session)).ok
        assert (await board.call("crm.get", {"id": 1}, session=Session("other", budget=session.budget))).ok


async def test_an_ordinary_client_has_no_limit_unless_one_is_configured() -> None:
    async with Board.of(crm()) as board:
        assert all(result.ok for result in await own_calls(board, 40, Session("client")))
    async with Board.of(crm(), budget=Budget(max_tool_calls=3)) as board:
        assert [result.ok for result in await own_calls(board, 4, Session("client"))] == [True] * 3 + [False]
        assert [result.ok for result in await own_calls(board, 4, Session(""))] == [True] * 3 + [False]
        assert (await board.call("crm.get", {"id": 1}, session=Session("", principal="other"))).ok


async def test_a_call_through_tool_call_is_the_models_own() -> None:
    source = crm()
    async with Board.of(source, budget=Budget(max_tool_calls=2, max_inner_calls=1)) as board:
        call = ("tool_call", {"name": "crm.get", "arguments": {"id": 1}})
        assert [(await board.call(*call)).ok for _ in range(3)] == [True, True, False]
    assert len(source.handlers["get"].calls) == 2


@pytest.mark.requirement("R2.2")
@pytest.mark.parametrize("through", [None, "tool_call"])
async def test_a_script_of_8000_calls_is_stopped_at_its_cap_and_says_what_it_did(through: str | None) -> None:
    holder: list[Board] = []
    source = crm()
    async with Board.of(source, scripted(holder, 8000, through=through), budget=Budget(max_tool_calls=1)) as board:
        holder.append(board)
        result = await board.call("code.run", session=Session("agent"))
    assert result.value == 1000
    assert len(source.handlers["get"].calls) == 1000
    assert result.report is not None
    assert "stopped 7000 inner calls. Done: crm.get 1000" in result.report.notes[-1]
    assert result.report.data["budget"]["done"] == {"crm.get": {"made": 1000, "failed": 0}}


async def test_inner_calls_count_for_one_call_of_the_model_and_not_for_the_next() -> None:
    holder: list[Board] = []
    async with Board.of(crm(), scripted(holder, 5), budget=Budget(max_tool_calls=2, max_inner_calls=5)) as board:
        holder.append(board)
        for _ in range(2):
            assert (await board.call("code.run")).value == 5
        assert (await board.call("code.run")).failure is not None


@pytest.mark.parametrize(
    ("effects", "done"),
    [
        (Effects.READ_ONLY, 300),
        (Effects.UNKNOWN, 300),
        (Effects.ADDITIVE, 100),
        (Effects.IDEMPOTENT, 100),
        (Effects.DESTRUCTIVE, 100),
    ],
)
async def test_inner_calls_that_change_something_have_a_lower_cap(effects: Effects, done: int) -> None:
    holder: list[Board] = []
    async with Board.of(crm(effects), scripted(holder, 300)) as board:
        holder.append(board)
        assert (await board.call("code.run")).value == done


def batching(source: FakeSource, folder: Path, budget: dict[str, Any], **batch: Any) -> Board:
    """A board with a batch of up to 200 over `crm.get`."""
    tables = {
        "board": {"store": ":memory:"},
        "batch": {"crm.get_all": {"tool": "crm.get", "over": "id", "limit": 200, **batch}},
        "budget": budget,
    }
    return Board.open(parse(tables, folder=folder), beside=[source])


@pytest.mark.requirement("R2.2")
async def test_a_batch_of_100_under_a_cap_of_50_reports_the_50_that_were_done(tmp_path: Path) -> None:
    source = crm()
    async with batching(source, tmp_path, {"max_tool_calls": 1, "max_inner_calls": 50}) as board:
        result = await board.call("crm.get_all", {"id": list(range(100))})
    assert result.ok and result.report is not None
    assert result.report.counts["ok"] == 50 and len(result.report.items) == 100
    assert {item.failure.code for item in result.report.items if item.failure} == {FailureCode.BUDGET}
    assert "Done: crm.get 50" in result.report.notes[-1]
    assert len(result.value["retry"]["id"]) == 50
    assert len(source.handlers["get"].calls) == 50


async def test_a_batch_of_100_is_one_call_of_the_model_where_the_policy_lets_it_through(tmp_path: Path) -> None:
    async with batching(crm(), tmp_path, {"max_tool_calls": 1}) as board:
        result = await board.call("crm.get_all", {"id": list(range(100))})
        again = await board.call("crm.get_all", {"id": [1]})
    assert result.report is not None and result.report.counts == {"ok": 100}
    assert again.failure is not None and again.failure.code is FailureCode.BUDGET


async def test_a_batch_that_is_all_or_nothing_does_nothing_where_the_cap_is_too_low(tmp_path: Path) -> None:
    source = crm()
    source.put("undo")
    undo = {"tool": "crm.undo", "args": {"id": "${item.id}"}}
    async with batching(source, tmp_path, {"max_inner_calls": 50}, on_error="all_or_nothing", undo=undo) as board:
        whole = await board.call("crm.get_all", {"id": list(range(100))})
        assert whole.failure is not None and whole.failure.code is FailureCode.BUDGET
        assert source.handlers["get"].calls == []
        assert (await board.call("crm.get_all", {"id": list(range(50))})).ok


async def test_what_was_done_is_taken_back_though_the_cap_is_reached(tmp_path: Path) -> None:
    source = crm()

    async def odd(call: Call) -> Result:
        return Result.failed(FailureCode.FAILED, "no") if call.arguments["id"] == 9 else Result(value={"id": 1})

    source.handlers["get"].script = odd
    source.put("undo")
    undo = {"tool": "crm.undo", "args": {"id": "${item.id}"}}
    budget = {"max_inner_calls": 10}
    async with batching(source, tmp_path, budget, on_error="all_or_nothing", undo=undo) as board:
        result = await board.call("crm.get_all", {"id": list(range(10))})
    assert result.failure is not None and result.failure.code is FailureCode.FAILED
    assert len(source.handlers["undo"].calls) == 9


async def test_tools_that_a_selector_picks_may_run_so_often_by_whomever() -> None:
    holder: list[Board] = []
    budget = Budget(limits=(("crm.*", 3), ("effects:destructive", 1)))
    async with Board.of(crm(), scripted(holder, 2), budget=budget) as board:
        holder.append(board)
        session = Session("one")
        assert (await board.call("crm.get", {"id": 1}, session=session)).ok
        assert (await board.call("code.run", session=session)).value == 2
        last = await board.call("crm.get", {"id": 1}, session=session)
        assert last.failure is not None and "'crm.*' picks may run 3 times" in last.failure.message
        assert (await board.call("crm.get", {"id": 1}, session=session, mode=Mode.DRY_RUN)).ok
        assert (await board.call("crm.get", {"id": 1}, session=Session("two"))).ok


async def test_an_agent_inside_of_a_call_spends_its_own_budget() -> None:
    """A subagent that is published as a tool makes its calls in a session of its own."""
    holder: list[Board] = []
    own = Session("inner", budget=Budget(max_tool_calls=4))

    async def subagent(call: Call) -> Result:
        return Result(value=[(await holder[0].call("crm.get", {"id": n}, session=own)).ok for n in range(5)])

    async with Board.of(crm(), FakeSource("agents", {"ask": subagent}), budget=Budget(max_inner_calls=1)) as board:
        holder.append(board)
        assert (await board.call("agents.ask")).value == [True] * 4 + [False]


async def test_a_forgotten_session_begins_anew_and_the_oldest_is_forgotten_first() -> None:
    session = Session("one")
    async with Board.of(crm(), budget=Budget(max_tool_calls=1)) as board:
        assert [result.ok for result in await own_calls(board, 2, session)] == [True, False]
        board.forget(session)
        assert (await board.call("crm.get", {"id": 1}, session=session)).ok
    sessions = Sessions(most=2)
    for id in ("a", "b", "a", "c"):
        sessions.load(Session(id), [ToolName("x", "y")])
    assert [bool(sessions.loaded(Session(id))) for id in ("a", "b", "c")] == [True, False, True]


async def test_a_session_of_somebody_else_is_refused_and_shows_nothing() -> None:
    mine, theirs = Session("s", principal="anna"), Session("s", principal="eve")
    async with Board.of(FakeSource("files", {f"t{n}": None for n in range(30)})) as board:
        await board.call("tool_search", {"query": "t7", "limit": 1}, session=mine)
        refused = await board.call("files.t7", session=theirs)
        assert refused.failure is not None and refused.failure.code is FailureCode.BLOCKED
        assert "somebody else" in refused.failure.message and refused.failure.next_step
        assert (await board.call("tool_describe", session=theirs)).failure is not None
        assert board.view(theirs).loaded == ()
        board.forget(theirs)
        assert [spec.name.name for spec in board.view(mine).loaded] == ["t7"]
