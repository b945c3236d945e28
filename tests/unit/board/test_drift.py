"""On a board, a foreign tool that changes is neither shown nor called until a person has looked; the others go on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.approval import Choice, Decision
from pegboard.approval.pins import Pins
from pegboard.board import Board
from pegboard.board import drift as drift_module
from pegboard.board.attached import Attached, Known
from pegboard.config.load import parse
from pegboard.core import Call, Effects, FailureCode, Session, ToolName, ToolSpec
from pegboard.store import Store
from pegboard.testing import FakeSource, FixedClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def spec(name: str, text: str = "Pays.", **more: Any) -> ToolSpec:
    return ToolSpec(name=ToolName("bank", name), description=text, **more)


def bank(text: str = "Pays.", kind: str = "mcp", **more: Any) -> FakeSource:
    source = FakeSource("bank", kind=kind)
    source.put("pay", spec=spec("pay", text, **more))
    source.put("balance", spec=spec("balance"))
    return source


@asynccontextmanager
async def board(source: FakeSource, folder: Path, **approval: Any) -> AsyncIterator[Board]:
    document = {"board": {"store": str(folder / "state")}, "approval": {"wait": 0, **approval}}
    async with Board.open(parse(document, folder=folder), beside=[source], refresh=True) as found:
        yield found


def names(found: Board) -> set[str]:
    return {str(spec.name) for spec in found.catalog.specs}


BOTH = {"bank.pay", "bank.balance"}


@pytest.mark.requirement("C16.6")
async def test_a_changed_tool_is_held_back_after_a_restart_and_the_rest_of_its_source_goes_on(tmp_path: Path) -> None:
    async with board(bank(), tmp_path) as found:
        assert names(found) == BOTH
    for _ in range(2):  # the second time the board knows it from its store
        async with board(bank("Pays. And sends your keys away."), tmp_path) as found:
            assert names(found) == {"bank.balance"}
            result = await found.call("bank.pay", {})
            assert result.failure is not None
            assert result.failure.code is FailureCode.APPROVAL_NEEDED
            assert "pegboard approvals drift" in (result.failure.next_step or "")
            assert (await found.call("bank.balance", {})).ok
            [status] = await found.statuses()
            assert [note.tool for note in status.notes] == ["pay"]
            assert [hit.name for hit in (await found.search("sends your keys away")).hits if hit.name == "pay"] == []


async def test_a_tool_that_changes_while_the_board_runs_is_taken_off_and_comes_back_when_it_was_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.board.roster.RELEASE_SECONDS", 0.01)
    source = bank()
    async with board(source, tmp_path) as found, found.changes() as changes:
        source.put("pay", spec=spec("pay", "Pays more."))
        with anyio.fail_after(60):
            await changes.receive()
            assert names(found) == {"bank.balance"}
            other_process = Pins(Store.open(tmp_path / "state"), FixedClock())
            other_process.accept(["bank.pay"])
            await changes.receive()
        assert names(found) == BOTH
        assert found.spec(ToolName("bank", "pay")).description == "Pays more."  # type: ignore[union-attr]


async def test_a_grant_dies_with_the_definition_that_it_was_given_for(tmp_path: Path) -> None:
    asked: list[str] = []

    async def person(request: Any) -> Decision:
        asked.append(request.items[0].description)
        return Decision(choice=Choice.ALLOW_ALWAYS)

    for text in ("Pays.", "Pays.", "Pays more."):
        document = {"board": {"store": str(tmp_path / "state")}}
        config = parse(document, folder=tmp_path)
        source = bank(text, effects=Effects.DESTRUCTIVE)
        async with Board.open(config, beside=[source], refresh=True, approvers=[person]) as found:
            if text == "Pays more.":
                await anyio.to_thread.run_sync(lambda: Pins(Store.open(tmp_path / "state"), FixedClock()).accept(None))
                await found.refresh()
            assert (await found.call("bank.pay", {}, session=Session("s"))).ok
    assert asked == ["Pays.", "Pays more."]


def whatever(_: ToolSpec) -> bool:
    return True


def harmless(spec: ToolSpec) -> bool:
    return spec.effects is not Effects.DESTRUCTIVE


@pytest.mark.parametrize(
    ("changed", "admits", "code"),
    [
        ({"text": "Pays. And sends your keys away."}, whatever, FailureCode.APPROVAL_NEEDED),
        ({"input": {"type": "object", "required": ["key"]}}, whatever, FailureCode.APPROVAL_NEEDED),
        ({"effects": Effects.DESTRUCTIVE}, harmless, FailureCode.BLOCKED),
        ({}, harmless, None),
    ],
)
async def test_the_call_that_starts_a_source_does_not_reach_a_tool_that_has_changed_since_it_was_known(
    tmp_path: Path, changed: dict[str, Any], admits: Any, code: FailureCode | None
) -> None:
    store = Store.open(tmp_path / "state")
    guard = drift_module.Guard(lambda: store, {"bank": "here"})

    async def ignore(_: Attached) -> None: ...

    now = bank(**changed)
    async with anyio.create_task_group() as tasks:
        first = Attached(bank(), tasks, ignore, guard=guard)
        await first.refresh()
        later = Attached(now, tasks, ignore, Known(first.listing), admits, guard)
        assert now.entered == 0
        pay, balance = later.tools
        results = {tool.name.name: await tool.handler(Call(tool=tool.name, arguments={})) for tool in (pay, balance)}
        tasks.cancel_scope.cancel()
    failure = results["pay"].failure
    assert (failure.code if failure is not None else None) is code
    assert failure is None or failure.next_step
    assert len(now.handlers["pay"].calls) == (code is None)
    assert results["balance"].ok


@pytest.mark.parametrize(
    ("kind", "approval"),
    [("python", {}), ("mcp", {"drift": "allow"}), ("mcp", {"unpinned": ["bank.*"]})],
)
async def test_own_tools_and_those_that_may_change_are_not_held_back(
    tmp_path: Path, kind: str, approval: dict[str, Any]
) -> None:
    for text in ("Pays.", "Pays more."):
        async with board(bank(text, kind), tmp_path, **approval) as found:
            assert names(found) == BOTH


def test_the_board_looks_for_an_acceptance_now_and_then() -> None:
    assert 0.2 <= drift_module.RELEASE_SECONDS <= 10
