"""The board over sources made by hand."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from pegboard.board import Board
from pegboard.core import (
    Call,
    FailureCode,
    Health,
    Listing,
    Mode,
    NoteKind,
    Result,
    Session,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.discovery import Residency
from pegboard.errors import PegboardError, SourceError
from pegboard.sources.recorded import RecordedSource

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Shelf:
    """A source of tools that answer with their own name and arguments."""

    name: str
    names: list[str]
    broken: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)
    kind: str = "python"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        if self.broken:
            raise SourceError("The program is missing.")
        yield

    async def listing(self) -> Listing:
        ref = SourceRef(self.name, self.kind)
        specs = [ToolSpec(name=ToolName(self.name, n), description=f"Do {n}.", source=ref) for n in self.names]
        return Listing(tuple(Tool(spec, self.answer) for spec in specs))

    async def answer(self, call: Call) -> Result:
        return Result(value={"tool": str(call.tool), **call.arguments})

    async def health(self) -> Health:
        return Health(SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        while True:
            await self.changed.wait()
            self.changed = anyio.Event()
            yield


@pytest.mark.parametrize("spelling", ["git.log", "git__log", "mcp__git__log", "log"])
async def test_a_tool_is_called_by_each_spelling_of_its_name(spelling: str) -> None:
    async with Board.of(Shelf("git", ["log", "diff"]), Shelf("time", ["now"])) as board:
        result = await board.call(spelling, {"n": 1})
    assert result.value == {"tool": "git.log", "n": 1}


async def test_a_mode_may_be_given_by_its_name_and_an_unknown_one_is_refused() -> None:
    async with Board.of(Shelf("git", ["log"])) as board:
        checked = await board.call("git.log", mode="dry-run")
        assert checked.mode is Mode.DRY_RUN
        with pytest.raises(PegboardError, match=r"no mode 'try'.*explore, preview, dry_run, execute, schema"):
            await board.call("git.log", mode="try")


async def test_an_unknown_name_is_answered_with_the_nearest_ones() -> None:
    async with Board.of(Shelf("git", ["log", "diff"])) as board:
        result = await board.call("git.dif")
    assert result.failure is not None
    assert result.failure.code is FailureCode.UNKNOWN_TOOL
    assert "git.diff" in str(result.failure)


async def test_a_broken_source_never_costs_the_others() -> None:
    async with Board.of(Shelf("bad", ["x"], broken=True), Shelf("good", ["y"])) as board:
        statuses = {status.name: status for status in await board.statuses()}
        result = await board.call("good.y")
    assert result.ok
    assert statuses["good"].state is SourceState.READY
    assert statuses["bad"].state is SourceState.UNAVAILABLE
    assert "program is missing" in (statuses["bad"].error or "")


async def test_a_change_of_a_source_reaches_catalog_index_and_listeners() -> None:
    shelf = Shelf("git", ["log"])
    async with Board.of(shelf) as board, board.changes() as changes:
        shelf.names.append("blame")
        shelf.changed.set()
        with anyio.fail_after(60):
            diff = await changes.receive()
        assert diff.added == (ToolName("git", "blame"),)
        assert (await board.call("git.blame")).ok
        assert [hit.name.name for hit in (await board.search("blame")).hits] == ["blame"]


async def test_a_newcomer_never_renames_a_tool() -> None:
    shelf = Shelf("a", ["b__c"])
    async with Board.of(shelf, Shelf("a__b", ["d"])) as board, board.changes() as changes:
        before = dict(board.aliases.wire)
        shelf.names.append("b__d")
        shelf.changed.set()
        with anyio.fail_after(60):
            await changes.receive()
        assert {name: board.aliases.wire[name] for name in before} == before
        assert len(set(board.aliases.wire.values())) == 3


async def test_of_two_sources_with_one_name_the_first_serves_and_the_second_says_so() -> None:
    first, second = Shelf("x", ["log"]), Shelf("y", ["log"])
    second_listing = first.listing
    second.listing = second_listing  # type: ignore[method-assign]
    async with Board.of(first, second) as board:
        notes = (await board.statuses())[1].notes
    assert "x.log" in notes[0].message


@pytest.mark.parametrize(
    ("row", "advice", "never"),
    [
        ({"name": "log", "namespace": "git"}, "namespace git of its own", "another prefix"),
        ({"name": "log"}, "another prefix", "of its own"),
    ],
)
async def test_a_taken_name_is_told_with_what_would_free_it(
    tmp_path: Path, row: dict[str, str], advice: str, never: str
) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([row]))
    second = RecordedSource("second", tmp_path / "tools.json", prefix=None if "namespace" in row else "git")
    async with Board.of(Shelf("git", ["log"]), second) as board:
        [note] = [note for note in (await board.statuses())[1].notes if note.kind is NoteKind.SET_ASIDE]
    assert "git.log" in note.message
    assert advice in note.message and never not in note.message


@pytest.mark.parametrize(("count", "direct"), [(19, 19), (20, 0), (21, 0)])
async def test_from_twenty_tools_on_the_long_tail_is_found_by_search(count: int, direct: int) -> None:
    async with Board.of(Shelf("s", [f"t{n}" for n in range(count)])) as board:
        view = board.view()
    assert len(view.direct) == direct
    assert bool(view.meta) is (direct == 0)


async def test_what_a_session_loads_is_shown_to_that_session_alone() -> None:
    async with Board.of(Shelf("s", [f"t{n}" for n in range(30)])) as board:
        one, other = Session("one"), Session("other")
        await board.call("tool_search", {"query": "t7", "limit": 1}, session=one)
        assert [spec.name.name for spec in board.view(one).loaded] == ["t7"]
        assert board.view(other).loaded == ()
        board.forget(one)
        assert board.view(one).loaded == ()


async def test_refreshing_a_source_that_does_not_exist_names_the_nearest() -> None:
    async with Board.of(Shelf("git", ["log"])) as board:
        with pytest.raises(PegboardError, match="git"):
            await board.refresh(["gti"])


async def test_what_a_session_finds_is_listed_beside_a_full_hot_set_and_stays_callable() -> None:
    policy = Residency(always=("s.t1", "s.t2"), max_direct=2)
    async with Board.of(Shelf("s", [f"t{n}" for n in range(30)]), residency=policy) as board:
        session = Session("one")
        for name in ("t7", "t8", "t9"):
            await board.call("tool_search", {"query": name, "limit": 1}, session=session)
        view = board.view(session)
        assert [spec.name.name for spec in view.direct] == ["t1", "t2"]
        assert [spec.name.name for spec in view.loaded] == ["t7", "t8", "t9"]
        for spec in view.loaded:
            assert spec in view.listed and (await board.call(spec.name, session=session)).ok
