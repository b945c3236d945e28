"""Parts run at once keep the pace that they were given."""

import anyio
import pytest

from pegboard.compose.fanout import Pace, fan_out
from pegboard.core import FailureCode, Result, Status
from pegboard.testing import FixedClock


class Day:
    """Time that passes only where something waits for it."""

    def __init__(self) -> None:
        self.clock = FixedClock(now=0.0)

    async def sleep(self, seconds: float) -> None:
        self.clock.advance(seconds)


@pytest.mark.parametrize("concurrency", [1, 2, 8])
@pytest.mark.parametrize("rate", [0.5, 4.0])
def test_a_rate_is_kept(rate: float, concurrency: int) -> None:
    day, starts = Day(), list[float]()

    async def job() -> Result:
        starts.append(day.clock())
        return Result()

    async def main() -> None:
        pace = Pace(rate=rate, concurrency=concurrency)
        outcomes = await fan_out([job] * 5, pace, clock=day.clock, sleep=day.sleep)
        assert [outcome.status for outcome in outcomes] == [Status.OK] * 5

    anyio.run(main)
    assert len(starts) == 5
    assert all(start >= slot / rate for slot, start in enumerate(starts))
    assert concurrency > 1 or starts == [slot / rate for slot in range(5)]


def test_without_a_rate_nothing_waits() -> None:
    day = Day()

    async def job() -> Result:
        return Result()

    anyio.run(lambda: fan_out([job] * 5, Pace(), clock=day.clock, sleep=day.sleep))
    assert day.clock() == 0.0


def test_a_retry_comes_when_it_was_asked_for_and_holds_the_others_back() -> None:
    day, told = Day(), list[tuple[str, float]]()

    async def busy() -> Result:
        told.append(("busy", day.clock()))
        if len(told) > 1:
            return Result()
        return Result.failed(FailureCode.UPSTREAM, "slow down", retryable=True, details={"retry_after": 7})

    async def other() -> Result:
        told.append(("other", day.clock()))
        return Result()

    anyio.run(lambda: fan_out([busy, other], Pace(concurrency=1), clock=day.clock, sleep=day.sleep))
    assert told == [("busy", 0.0), ("busy", 7.0), ("other", 7.0)]
