"""Whatever ends a process, in whatever state of a chain: no step that is over runs again, and nothing kept is lost."""

import resource
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from chain_kit import CHECKOUT, Shop, board, run_of, status_of
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.approval import Choice, Decision, Request
from pegboard.board import Board
from pegboard.catalog import Catalog
from pegboard.chain import Chain, ChainError, ChainFault, ChainRun, Chains, RunStatus, StepStatus
from pegboard.chain.ledger import LEASE, Ledger
from pegboard.compose import bind
from pegboard.core import Call, Effects, FailureCode, Result, Tool, ToolName, ToolSpec
from pegboard.errors import StoreError
from pegboard.store import Store

ARGS = {"name": "ann", "amount": 5}


class Crash(BaseException):
    """Stands for the end of a process: nothing behind it runs."""


class World:
    """What outlives a process: the store, the time, and what tools have done."""

    def __init__(self, effects: Sequence[Effects]) -> None:
        self.store = Store.open(":memory:")
        self.now = 1_000_000.0
        self.effects = list(effects)
        self.done: list[int] = []

    def process(self, crash_at: int | None = None, late: bool = False) -> "Process":
        self.now += LEASE + 1
        return Process(self, crash_at, late)


class Dying(Ledger):
    """A ledger whose process ends at one of its moments: its writes and its tools' calls, counted from 0."""

    def __init__(self, world: World, crash_at: int | None, late: bool) -> None:
        super().__init__(world.store, lambda: world.now, owner=f"process at {world.now}")
        self._at, self._late, self._moments, self.dead = crash_at, late, 0, False

    def moment(self, work: Callable[[], Any]) -> Any:
        """Do something, unless the process ends before it; where it ends late, it ends just after it."""
        now, self._moments = self._moments == self._at, self._moments + 1
        if self.dead or (now and not self._late):
            self.dead = True
            raise Crash
        done = work()
        if now:
            self.dead = True
            raise Crash
        return done

    def _kept(self, work: Callable[[], Any]) -> Any:
        return self.moment(lambda: super(Dying, self)._kept(work))

    def release(self, id: str, ticket: str) -> None:
        if not self.dead:
            super().release(id, ticket)


class Held(Chains):
    """The runs, in a ledger that a test made."""

    def __init__(self, board: Any, ledger: Ledger) -> None:
        super().__init__(board, lambda: Store.open(":memory:"))
        self._mine = ledger

    @property
    def ledger(self) -> Ledger:
        return self._mine


class Process:
    """One process with a chain of steps `s0`, `s1` ..., each a tool that adds its number to what the world has seen."""

    def __init__(self, world: World, crash_at: int | None, late: bool) -> None:
        self.world = world
        self.ledger = Dying(world, crash_at, late)
        self.chains = Held(self, self.ledger)
        tools = [
            Tool(ToolSpec(name=ToolName("t", f"s{at}"), effects=effects), self._effect(at))
            for at, effects in enumerate(world.effects)
        ]
        rows = [{"id": f"s{at}", "tool": f"t.s{at}"} for at in range(len(tools))]
        chain = Chain.read("all", {"description": "d", "steps": rows})
        self.catalog = Catalog.of(self.chains.kept(list(bind(Catalog.of(tools), self.run, [chain]).catalog)))

    def _effect(self, at: int) -> Callable[[Call], Any]:
        async def handler(call: Call) -> Result:
            self.ledger.moment(lambda: self.world.done.append(at))
            return Result(value=f"value {at}")

        return handler

    async def run(self, call: Call) -> Result:
        return await self.catalog.tools[call.tool].handler(call)

    def does(self, work: Callable[[], Any]) -> Any:
        """Do something in this process; None where it ended on the way."""

        async def main() -> Any:
            return await work()

        try:
            return anyio.run(main)
        except BaseException:
            if not self.ledger.dead:
                raise
            return None


def begin(process: Process) -> Any:
    return process.does(lambda: process.run(Call(tool=ToolName("", "all"), arguments={})))


def go_on(process: Process, run: ChainRun) -> Any:
    """Resume, as an operator does who looks at what really happened."""
    choice: dict[str, Any] = {}
    if run.status is RunStatus.NEEDS_OPERATOR:
        (step,) = run.in_flight
        at = int(step[1:])
        choice = {"skip": step, "output": f"value {at}"} if at in process.world.done else {"redo": step}
    return process.does(lambda: process.chains.resume(run.id, **choice))


EFFECTS = st.sampled_from([Effects.READ_ONLY, Effects.IDEMPOTENT, Effects.ADDITIVE, Effects.UNKNOWN])


@pytest.mark.slow
@pytest.mark.requirement("C6.3")
@settings(max_examples=20)
@given(
    effects=st.lists(EFFECTS, min_size=1, max_size=3),
    crashes=st.lists(st.tuples(st.integers(0, 7), st.booleans()), min_size=2, max_size=4),
)
def test_however_often_processes_end_no_step_that_is_over_runs_again(
    effects: list[Effects], crashes: list[tuple[int, bool]]
) -> None:
    check(effects, crashes)


@pytest.mark.requirement("C6.3")
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("at", range(11))
def test_at_whichever_moment_a_process_ends_no_step_that_is_over_runs_again(at: int, late: bool) -> None:
    check([Effects.READ_ONLY, Effects.ADDITIVE, Effects.IDEMPOTENT], [(at, late)])


def check(effects: list[Effects], crashes: list[tuple[int, bool]]) -> None:
    """Run a chain in processes that end at these moments, then in sound ones until it is done."""
    world = World(effects)
    over: dict[str, Any] = {}
    for crash in [*crashes, *[(None, False)] * 3]:
        process = world.process(*crash)
        known = world.process().ledger.runs()
        if not known:
            begin(process)
        else:
            run = world.process().ledger.run(known[0].id)
            ran = len(world.done)
            go_on(process, run)
            again = {f"s{at}" for at in world.done[ran:]}
            assert again & set(over) == set()
        for run in world.process().ledger.runs():
            steps = world.process().ledger.run(run.id).steps
            assert over.items() <= {p.step: p.value for p in steps.values() if p.status.is_over}.items()
            over = {p.step: p.value for p in steps.values() if p.status is StepStatus.OK}
    assert over == {f"s{at}": f"value {at}" for at in range(len(effects))}
    for at, effect in enumerate(effects):
        assert world.done.count(at) == 1 or (effect.repeatable and world.done.count(at) > 1)
    assert world.process().ledger.runs()[0].status is RunStatus.DONE


@pytest.mark.requirement("C6.3")
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("at", range(7))
def test_at_whichever_moment_of_a_fork_a_process_ends_no_step_runs_again(at: int, late: bool) -> None:
    world = World([Effects.ADDITIVE] * 3)
    begin(world.process())
    first = world.process().ledger.runs()[0]
    process = world.process(at, late)
    process.does(lambda: process.chains.fork(first.id, "s1"))
    for _ in range(3):
        for run in world.process().ledger.runs():
            if run.id != first.id and run.status is not RunStatus.DONE:
                choose(world, world.process().ledger.run(run.id), before=3)
    assert world.done.count(0) == 1  # what the fork has taken over never runs in it
    assert (world.done.count(1), world.done.count(2)) in [(2, 2), (1, 1)]  # it was written, or it never began


def choose(world: World, run: ChainRun, before: int) -> None:
    """Resume, as an operator who knows what was done by the first so many effects."""
    process, choice = world.process(), dict[str, Any]()
    if run.status is RunStatus.NEEDS_OPERATOR:
        (step,) = run.in_flight
        took_effect = world.done[before:].count(int(step[1:])) > 0
        choice = {"skip": step, "output": f"value {step[1:]}"} if took_effect else {"redo": step}
    process.does(lambda: process.chains.resume(run.id, **choice))


@pytest.mark.requirement("C6.3")
@pytest.mark.parametrize("late", [False, True])
def test_a_process_that_ends_while_it_cancels_leaves_the_run_as_it_was_or_cancelled(late: bool) -> None:
    world, run = crashed([Effects.IDEMPOTENT] * 2, 3)
    process = world.process(0, late)
    process.does(lambda: process.chains.cancel(run.id))
    status = world.process().ledger.run(run.id).status
    assert status is (RunStatus.CANCELLED if late else RunStatus.RUNNING)
    ran = len(world.done)
    if late:
        with pytest.raises(ChainError, match="cancelled"):
            go_on(world.process(), run)
        assert len(world.done) == ran
    else:
        assert go_on(world.process(), run).ok


@pytest.mark.requirement("C6.3")
@pytest.mark.parametrize("effects", [Effects.IDEMPOTENT, Effects.ADDITIVE])
def test_a_process_that_ends_between_two_attempts_leaves_a_step_whose_outcome_is_open(
    effects: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World([effects])
    process = world.process()
    rows = [{"id": "s0", "tool": "t.s0", "retries": 2}]
    chain = Chain.read("all", {"description": "d", "steps": rows})
    bare = [tool for tool in process.catalog if str(tool.name) == "t.s0"]
    failing = [Tool(tool.spec, lambda call: refuse()) for tool in bare]
    process.catalog = Catalog.of(process.chains.kept(list(bind(Catalog.of(failing), process.run, [chain]).catalog)))

    async def refuse() -> Result:
        return Result.failed(FailureCode.FAILED, "not now")

    async def end(course: Any, seconds: float) -> None:
        process.ledger.dead = True
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr("pegboard.compose.steprun.Course.pause", end)
        begin(process)
    run = world.process().ledger.run(world.process().ledger.runs()[0].id)
    assert (run.status, run.in_flight, world.done) == (RunStatus.RUNNING, ("s0",), [])
    result = go_on(world.process(), run)
    if effects is Effects.IDEMPOTENT:
        assert (result.value, world.done) == ("value 0", [0])
    else:
        assert (status_of(result), world.done) == ("needs_operator", [])


def crashed(effects: Sequence[Effects], at: int) -> tuple[World, ChainRun]:
    world = World(effects)
    begin(world.process(at))
    return world, world.process().ledger.runs()[0]


def test_one_of_two_processes_gets_a_run_and_the_other_is_told_who_has_it() -> None:
    world, run = crashed([Effects.IDEMPOTENT] * 2, 3)
    first, second = world.process(), world.process()
    _, ticket = first.ledger.claim(run.id)
    with pytest.raises(ChainError, match="under way in another process") as found:
        second.ledger.claim(run.id)
    assert found.value.code is ChainFault.RUN_HELD
    world.now += LEASE + 1  # the first one says nothing any more
    second.ledger.claim(run.id)
    for write in (
        lambda: first.ledger.start(run.id, ticket, "s0", "t.s0"),
        lambda: first.ledger.settle(run.id, ticket, RunStatus.DONE),
    ):
        with pytest.raises(ChainError) as found:
            write()
        assert found.value.code is ChainFault.RUN_LOST
    assert first.ledger.renew(run.id, ticket) is False


def test_a_clock_that_was_set_back_holds_no_run_for_ever() -> None:
    world, run = crashed([Effects.IDEMPOTENT] * 2, 3)
    world.process().ledger.claim(run.id)
    world.now -= 86_400
    assert begin(world.process()).ok
    assert go_on(world.process(), run).value == "value 1"


@pytest.mark.parametrize("at", range(2))
def test_a_disk_that_is_full_stops_a_run_before_what_it_cannot_keep(at: int) -> None:
    world = World([Effects.ADDITIVE] * 2)
    process = world.process()
    written = process.ledger._kept
    writes = {"left": (0, 2)[at]}

    def full(work: Callable[[], Any]) -> Any:
        writes["left"] -= 1
        if writes["left"] < 0:
            raise StoreError("The chain's checkpoint could not be written. database or disk is full.")
        return written(work)

    process.ledger._kept = full  # type: ignore[method-assign]
    result = begin(process)
    assert result.failure.code is FailureCode.UNAVAILABLE
    assert "disk is full" in result.failure.message
    assert world.done == [[], [0]][at]
    if at:
        run = world.process().ledger.runs()[0]
        assert go_on(world.process(), run).report.data["chain_run"]["status"] == "needs_operator"
        assert world.done == [0]


@pytest.mark.anyio
@pytest.mark.requirement("C6.3")
async def test_waiting_for_a_person_outlives_the_process(tmp_path: Path) -> None:
    shop = Shop()
    asking = {"approval": {"wait": 0, "require": ["shop.charge"]}}
    steps = [  # what is charged is not known before the first step ran, so that it cannot be asked for beforehand
        {"id": "sent", "tool": "shop.mail", "args": {"receipt": "${input.name}"}},
        {"id": "paid", "tool": "shop.charge", "args": {"id": "${sent}", "amount": 5}},
    ]
    late = {"description": "Mail, then charge.", "steps": steps}
    async with board(shop, tmp_path, more=asking, checkout=late) as there:
        result = await there.call("checkout", {"name": "ann"})
        waiting = (await there.chains.runs())[0]
        request = result.failure.details["approval"]["id"] if result.failure else ""
        assert (status_of(result), waiting.status) == ("waiting_approval", RunStatus.WAITING_APPROVAL)
    async with board(shop, tmp_path, more=asking, checkout=late) as there:
        assert status_of(await there.chains.resume(waiting.id)) == "waiting_approval"
        await there.desk.answer(request, Decision(choice=Choice.ALLOW_ONCE))
        done = await there.chains.resume(waiting.id)
    assert (done.value, run_of(done)) == ({"receipt": "r-sent ann"}, waiting.id)
    assert shop.counts == {"mail": 1, "charge": 1}


@pytest.mark.anyio
async def test_a_cancelled_call_lets_its_run_go(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path) as there:
        with anyio.CancelScope() as scope:
            shop.on_call = lambda name: scope.cancel() if name == "mail" else None
            await there.call("checkout", ARGS)
        shop.on_call = lambda name: None
        run = (await there.chains.runs())[0]
        assert (run.status, run.owner) == (RunStatus.RUNNING, "")
        assert await there.chains.adopt() == {}  # whoever withdrew the call does not want it to go on by itself
        assert (await there.chains.resume(run.id)).value == "sent r-c-ann"
    assert shop.counts["charge"] == 1


@pytest.mark.anyio
async def test_a_run_that_another_process_cancels_stops_what_it_has_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.chain.hold.PULSE", 0.01)
    shop = Shop()
    async with board(shop, tmp_path) as there, board(Shop(), tmp_path) as other:
        shop.blocked = anyio.Event()

        async def cancel() -> None:
            await other.chains.cancel((await other.chains.runs())[0].id)

        async with anyio.create_task_group() as tasks:
            shop.on_call = lambda name: tasks.start_soon(cancel) if name == "find" else None
            result = await there.call("checkout", ARGS)
        assert result.failure is not None
        assert (result.failure.code, status_of(result)) == (FailureCode.CANCELLED, "cancelled")
        assert "may have taken effect" in result.failure.message
        assert (await there.chains.show(run_of(result))).status is RunStatus.CANCELLED


ASKING = {"approval": {"wait": 30, "require": ["shop.charge"]}}
LATE: dict[
    str, Any
] = {  # what is charged is not known before the first step ran, so that it cannot be asked for beforehand
    "description": "Mail, then charge.",
    "steps": [
        {"id": "sent", "tool": "shop.mail", "args": {"receipt": "${input.name}"}},
        {"id": "paid", "tool": "shop.charge", "args": {"id": "${sent}", "amount": 5}, "timeout": 5},
    ],
}


@pytest.mark.anyio
@pytest.mark.requirement("C6.3")
async def test_a_process_may_end_while_a_person_is_asked_and_a_gateway_goes_on_once_there_is_an_answer(
    tmp_path: Path,
) -> None:
    shop = Shop()
    async with board(shop, tmp_path, more=ASKING, checkout=LATE) as there:
        with anyio.CancelScope() as scope:

            async def leave(request: Request) -> None:
                run = await there.chains.show((await there.chains.runs())[0].id)
                asked.append((request.id, run.status, run.steps["paid"].status))
                scope.cancel()

            asked: list[tuple[str, RunStatus, StepStatus]] = []
            there.desk.approvers = (leave,)
            there.chains.stop()
            await there.call("checkout", {"name": "ann"})
        run = (await there.chains.runs())[0]
    assert [each[1:] for each in asked] == [(RunStatus.RUNNING, StepStatus.WAITING)]
    async with board(shop, tmp_path, more=ASKING, checkout=LATE) as other:
        await other.desk.answer(asked[0][0], Decision(choice=Choice.ALLOW_ONCE))
        await adopted(other, run.id)
        assert (await other.chains.show(run.id)).value == {"receipt": "r-sent ann"}
    assert shop.counts == {"mail": 1, "charge": 1}


async def adopted(there: Board, id: str) -> None:
    """Wait until a gateway over this board has brought a run to its end."""
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(there.adopting)
            while not (await there.chains.show(id)).value:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_gateway_goes_on_with_a_run_that_waits_once_its_person_has_answered(tmp_path: Path) -> None:
    shop, asking = Shop(), {"approval": {"wait": 0, "require": ["shop.charge"]}}
    async with board(shop, tmp_path, more=asking, checkout=LATE) as there:
        result = await there.call("checkout", {"name": "ann"})
        assert (status_of(result), shop.counts) == ("waiting_approval", {"mail": 1})
        assert result.failure is not None
        await there.desk.answer(result.failure.details["approval"]["id"], Decision(choice=Choice.ALLOW_ONCE))
    async with board(shop, tmp_path, more=asking, checkout=LATE) as other:
        await adopted(other, run_of(result))
    assert shop.counts == {"mail": 1, "charge": 1}


@pytest.mark.anyio
async def test_a_gateway_that_is_told_so_adopts_nothing(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, more={"chains": {"adopt": False}}) as there:
        with anyio.fail_after(60):
            await there.adopting()  # it has nothing to wait for


@pytest.mark.anyio
async def test_the_time_of_a_step_stands_still_while_a_person_is_asked(tmp_path: Path) -> None:
    shop = Shop()
    left: dict[str, float] = {}

    def note(name: str) -> None:
        left[name] = anyio.current_effective_deadline() - anyio.current_time()

    shop.on_call = note
    async with board(shop, tmp_path, more=ASKING, checkout=LATE) as there:

        async def late(request: Request) -> Decision:
            note("a person")
            return Decision(choice=Choice.ALLOW_ONCE)

        there.desk.approvers = (late,)
        result = await there.call("checkout", {"name": "ann"})
    assert result.value == {"receipt": "r-sent ann"}
    assert left["a person"] > 60
    assert left["charge"] <= 5


@pytest.mark.anyio
async def test_a_real_limit_of_the_disk_stops_a_run_which_then_goes_on_without_doing_anything_twice(
    tmp_path: Path,
) -> None:
    shop = Shop()
    steps = [
        {"id": "paid", "tool": "shop.charge", "args": {"id": "i", "amount": 5}},
        {"id": "found", "tool": "shop.find", "args": {"name": "y" * 2_000_000}},
        {"id": "sent", "tool": "shop.mail", "args": {"receipt": "${paid.receipt}"}},
    ]
    async with board(shop, tmp_path, small=CHECKOUT, checkout={"description": "d", "steps": steps}) as there:
        assert (await there.call("small", ARGS)).ok
        largest = max(file.stat().st_size for file in (tmp_path / "store").iterdir())
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 2_500_000, hard))
        try:
            result = await there.call("checkout", {})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert result.failure is not None
        assert result.failure.code is FailureCode.UNAVAILABLE
        run = await there.chains.show(run_of(result))
        assert run.steps["paid"].status is StepStatus.OK
        clock = there.chains.ledger.clock
        there.chains.ledger.clock = lambda: clock() + LEASE + 1  # that the run was let go may not be written either
        done = await there.chains.resume(run.id)
    assert done.value == "sent r-i"
    assert shop.counts["charge"] == 2  # once in each of the two chains
