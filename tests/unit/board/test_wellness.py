"""How services are: quickly, also where they hang; from calls, from probes, and kept for a while."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from pegboard.board import Board
from pegboard.board.wellness import KEEP_SECONDS, Wellness
from pegboard.core import (
    Call,
    Failure,
    FailureCode,
    Health,
    Mode,
    Result,
    Session,
    SourceRef,
    SourceState,
    SourceStatus,
    ToolName,
    ToolSpec,
)
from pegboard.discovery.health import STATUS_OF, ServiceHealth, ServiceStatus
from pegboard.sources.wrap import Disabled
from pegboard.testing import FakeSource, FixedClock

pytestmark = pytest.mark.anyio
HEALTHY, DEGRADED, UNAVAILABLE = ServiceStatus


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Service:
    """A source on a board, as far as its health goes; it counts how often it was asked."""

    state: SourceState = SourceState.READY
    error: str | None = None
    answer: Health = Health(SourceState.READY)
    hangs: bool = False
    asked: int = 0

    def summary(self) -> SourceStatus:
        return SourceStatus(name="crm", kind="mcp", state=self.state, tools=3, error=self.error)

    async def probe(self) -> Health:
        self.asked += 1
        if self.hangs:
            await anyio.sleep_forever()
        return self.answer


@dataclass
class Ward:
    """One service under watch, with a clock that a test moves."""

    service: Service = field(default_factory=Service)
    clock: FixedClock = field(default_factory=FixedClock)

    def __post_init__(self) -> None:
        self.wellness = Wellness(lambda: {"crm": self.service}, clock=self.clock)

    async def check(self, *, probe: bool = False) -> ServiceHealth:
        [found] = await self.wellness.check(["crm"], probe=probe)
        return found

    async def call(self, result: Result | Failure) -> None:
        async def handler(_: Call) -> Result:
            return result if isinstance(result, Result) else Result(failure=result)

        spec = ToolSpec(name=ToolName("crm", "get"), source=SourceRef("crm", "mcp"))
        await self.wellness.watch(lambda _: spec)(handler)(Call(tool=spec.name, arguments={}))


@pytest.mark.requirement("C11.1")
@pytest.mark.parametrize(
    ("state", "status", "reason"),
    [
        (SourceState.READY, HEALTHY, None),
        (SourceState.IDLE, HEALTHY, "was well when it was last seen"),
        (SourceState.STARTING, DEGRADED, "It is starting."),
        (SourceState.DEGRADED, DEGRADED, "half of it is missing"),
        (SourceState.UNAVAILABLE, UNAVAILABLE, "half of it is missing"),
        (SourceState.DISABLED, UNAVAILABLE, "It is disabled."),
    ],
)
async def test_each_state_of_a_source_means_one_of_three(
    state: SourceState, status: ServiceStatus, reason: str | None
) -> None:
    error = "half of it is missing"
    found = await Ward(Service(state, error, Health(state, error if state is not SourceState.READY else None))).check()
    assert STATUS_OF[state] is found.status is status
    assert found.state is state and found.tools == 3
    assert found.reasons == () if reason is None else reason in " ".join(found.reasons)


@pytest.mark.requirement("C11.2")
async def test_a_service_that_hangs_is_unavailable_and_one_with_running_calls_degraded() -> None:
    ward = Ward(Service(hangs=True))
    with anyio.fail_after(60):
        found = await ward.check()
    assert found.status is UNAVAILABLE and "no answer within" in found.reasons[0]
    ward.clock.advance(KEEP_SECONDS)
    gate = anyio.Event()

    async def slow(_: Call) -> Result:
        await gate.wait()
        return Result()

    spec = ToolSpec(name=ToolName("crm", "get"), source=SourceRef("crm", "mcp"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ward.wellness.watch(lambda _: spec)(slow), Call(tool=spec.name, arguments={}))
        await anyio.lowlevel.checkpoint()
        busy = await ward.check()
        gate.set()
    assert busy.status is DEGRADED and "1 of its calls are still running" in busy.reasons[0]


@pytest.mark.requirement("C11.3")
async def test_an_answer_is_kept_for_a_while_unless_a_probe_is_wished() -> None:
    ward = Ward()
    await ward.check()
    ward.clock.advance(KEEP_SECONDS - 1)
    kept = await ward.check()
    assert (ward.service.asked, kept.age) == (1, KEEP_SECONDS - 1)
    assert (await ward.check(probe=True)).age == 0
    assert ward.service.asked == 2
    ward.clock.advance(KEEP_SECONDS)
    await ward.check()
    assert ward.service.asked == 3


async def test_a_state_that_has_changed_is_told_at_once() -> None:
    ward = Ward()
    await ward.check()
    ward.service.state, ward.service.error = SourceState.UNAVAILABLE, "it died"
    assert (await ward.check()).reasons == ("it died",)


@pytest.mark.requirement("C11.3")
async def test_calls_tell_how_a_service_is_without_a_probe() -> None:
    ward = Ward()
    await ward.call(Result(value=1))
    assert (await ward.check()).status is HEALTHY
    assert ward.service.asked == 0
    lost = Failure(FailureCode.TIMEOUT, "no answer within 60 s")
    await ward.call(lost)
    once = await ward.check()
    assert once.status is DEGRADED and "Its last call failed: no answer within 60 s" in once.reasons
    await ward.call(lost)
    await ward.call(lost)
    assert (await ward.check()).status is UNAVAILABLE
    await ward.call(Result.failed(FailureCode.FAILED, "no such user"))
    assert (await ward.check()).status is HEALTHY, "a tool that reports an error has answered"


@pytest.mark.parametrize(
    "result",
    [
        *(
            Result.failed(code, "x")
            for code in (FailureCode.INVALID_ARGUMENTS, FailureCode.BLOCKED, FailureCode.BUDGET, FailureCode.CANCELLED)
        ),
        Result(value=1, mode=Mode.DRY_RUN),
        Result(value=1, mode=Mode.SCHEMA),
    ],
)
async def test_calls_that_never_reached_the_service_say_nothing_of_it(result: Result) -> None:
    ward = Ward()
    await ward.call(Failure(FailureCode.UNAVAILABLE, "gone"))
    await ward.call(result)
    assert (await ward.check()).status is DEGRADED


async def test_old_failures_are_forgotten_and_a_probe_that_is_answered_clears_them() -> None:
    ward = Ward()
    await ward.call(Failure(FailureCode.UNAVAILABLE, "gone"))
    assert (await ward.check(probe=True)).status is HEALTHY
    await ward.call(Failure(FailureCode.UNAVAILABLE, "gone"))
    ward.clock.advance(5 * KEEP_SECONDS)
    assert (await ward.check()).status is HEALTHY


async def test_reasons_hold_no_secrets() -> None:
    service = Service(SourceState.UNAVAILABLE, "wrong token hunter2")
    wellness = Wellness(lambda: {"crm": service}, clean=lambda text: text.replace("hunter2", "***"))
    assert (await wellness.check(["crm"]))[0].reasons == ("wrong token ***",)


@asynccontextmanager
async def clinic() -> AsyncIterator[tuple[Board, FakeSource]]:
    """A board of a service that is well, one that is broken, and one that is switched off."""
    well, broken = FakeSource("well", {"do": None}), FakeSource("broken", {"do": None})
    broken.fail_start()
    async with Board.of(well, broken, Disabled("off", "mcp", "It is disabled in the config.")) as board:
        yield board, well


@pytest.mark.requirement("C11.1", "C11.4")
async def test_an_agent_asks_for_one_service_or_for_all() -> None:
    async with clinic() as (board, _):
        every = await board.call("check_service_health")
        assert {row["service"]: row["status"] for row in every.value["services"]} == {
            "well": "healthy",
            "broken": "unavailable",
            "off": "unavailable",
        }
        assert "off is unavailable: It is disabled." in every.content[0]["text"]
        one = await board.call("check_service_health", {"service": "broken"})
        assert one.value["status"] == "unavailable" and "told to fail" in one.value["services"][0]["reasons"][0]


@pytest.mark.parametrize(("asked", "near"), [("wel", "well"), ("zzz", "well, broken, off")])
async def test_an_unknown_service_is_answered_with_the_nearest_names(asked: str, near: str) -> None:
    async with clinic() as (board, _):
        failure = (await board.call("check_service_health", {"service": asked})).failure
    assert failure is not None and failure.code is FailureCode.INVALID_ARGUMENTS
    assert near in (failure.next_step or "")


async def test_a_call_that_fails_is_seen_in_the_next_check() -> None:
    async with clinic() as (board, well):
        well.put("down", Failure(FailureCode.UNAVAILABLE, "connection refused"))
        await board.refresh(["well"])
        await board.call("well.down", session=Session("a"))
        found: Any = (await board.call("check_service_health", {"service": "well"})).value
    assert found["status"] == "degraded" and "connection refused" in found["services"][0]["reasons"][0]
