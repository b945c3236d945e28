"""Running many parts at once: bounded, paced, stoppable, and never losing a part that has finished."""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import anyio

from pegboard.compose.inner import clock, retry_after, status_of
from pegboard.core import FailureCode, Result, Status

Job: TypeAlias = Callable[[], Awaitable[Result]]
"""One part, ready to run; called again for a retry."""

Told: TypeAlias = Callable[[int, int], Awaitable[None]]
"""Told how many parts have ended, and of how many."""

HOPELESS = frozenset((FailureCode.UNAVAILABLE, FailureCode.BLOCKED, FailureCode.BUDGET, FailureCode.APPROVAL_NEEDED))
"""Failures that the next part will meet as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast, how long and how stubbornly.

    Parameters:
        concurrency: how many parts run at once.
        rate: how many start per second at most; None: no limit.
        retries: how many more attempts a part gets after a failure that says it may succeed later.
        longest_wait: the longest time in seconds that a retry-after is waited for; a longer one is a failure.
        stop_after: how many failures end the whole; None: none do.
        stop_hopeless: how many failures in a row that say "not now, not for you" end the whole.
        timeout: seconds after which parts that have not finished are given up; None: never.
    """

    concurrency: int = 32
    rate: float | None = None
    retries: int = 2
    longest_wait: float = 30.0
    stop_after: int | None = None
    stop_hopeless: int | None = 5
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one part ended.

    Parameters:
        status: ok, failed, timed out, cancelled (it was running when the whole was stopped), skipped (never begun).
        result: what it came to, or None where it was never begun or did not finish.
        seconds: how long it took, retries and waits included.
        attempts: how often it was tried.
    """

    status: Status
    result: Result | None = None
    seconds: float | None = None
    attempts: int = 0


@dataclass(slots=True)
class _Run:
    pace: Pace
    jobs: Sequence[Job]
    done: Told | None
    outcomes: list[Outcome]
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    next: int = 0
    finished: int = 0
    failures: int = 0
    hopeless: int = 0
    stopped: bool = False
    resume_at: float = 0.0
    next_start: float = 0.0
    started: dict[int, float] = field(default_factory=dict[int, float])

    async def work(self) -> None:
        while not self.stopped and self.next < len(self.jobs):
            index = self.next
            self.next += 1
            await self._turn()
            if self.stopped:
                return
            self.started[index] = self.clock()
            outcome = await self._attempts(index)
            self.outcomes[index] = outcome
            self._count(outcome)
            if self.done is not None:
                await self.done(self.finished, len(self.jobs))

    async def _turn(self) -> None:
        now = self.clock()
        start = max(now, self.resume_at, self.next_start)
        if self.pace.rate:
            self.next_start = start + 1 / self.pace.rate
        if start > now:
            await self.sleep(start - now)

    async def _attempts(self, index: int) -> Outcome:
        attempt = 0
        while True:
            attempt += 1
            result = await self.jobs[index]()
            wait = self._wait(result, attempt)
            if wait is None:
                seconds = self.clock() - self.started[index]
                return Outcome(status_of(result), result, seconds, attempt)
            await self.sleep(wait)

    def _wait(self, result: Result, attempt: int) -> float | None:
        failure = result.failure
        if failure is None or not failure.retryable or attempt > self.pace.retries or self.stopped:
            return None
        asked = retry_after(failure)
        if asked is None:
            # Jitter keeps parts that failed together from coming back together.
            return min(self.pace.longest_wait, 0.05 * 2**attempt * random.uniform(0.5, 1.0))  # noqa: S311
        if asked > self.pace.longest_wait:
            return None
        self.resume_at = max(self.resume_at, self.clock() + asked)
        return asked

    def _count(self, outcome: Outcome) -> None:
        self.finished += 1
        if outcome.status is Status.OK:
            self.hopeless = 0
            return
        self.failures += 1
        failure = outcome.result.failure if outcome.result else None
        self.hopeless = self.hopeless + 1 if failure and failure.code in HOPELESS else 0
        if self.pace.stop_after is not None and self.failures >= self.pace.stop_after:
            self.stopped = True
        if self.pace.stop_hopeless is not None and self.hopeless >= self.pace.stop_hopeless:
            self.stopped = True

    def unfinished(self, status: Status) -> None:
        for index, outcome in enumerate(self.outcomes):
            if outcome.result is None and index in self.started:
                self.outcomes[index] = replace(outcome, status=status, seconds=self.clock() - self.started[index])


async def fan_out(
    jobs: Sequence[Job],
    pace: Pace,
    *,
    done: Told | None = None,
    cancelled: Callable[[Sequence[Outcome]], Awaitable[None]] | None = None,
    clock: Callable[[], float] = clock,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> list[Outcome]:
    """Run the jobs and return how each ended, in their order.

    A failed part never cancels another one. When the whole stops early, parts that run are waited for and parts
    that have not begun are skipped; on the timeout, parts that run are `timed_out`.

    Parameters:
        jobs: the parts.
        pace: how fast and how long.
        done: told after each part how many have ended, and of how many.
        cancelled: told of all outcomes, in a shielded scope, when the caller cancels the whole.
        clock: the time in seconds, from any start.
        sleep: waits for so many seconds of that time.
    """
    run = _Run(pace, jobs, done, [Outcome(Status.SKIPPED)] * len(jobs), clock, sleep)
    try:
        with anyio.move_on_after(pace.timeout):
            async with anyio.create_task_group() as group:
                for _ in range(min(pace.concurrency, len(jobs))):
                    group.start_soon(run.work)
    except anyio.get_cancelled_exc_class():
        run.unfinished(Status.CANCELLED)
        if cancelled is not None:
            with anyio.CancelScope(shield=True):
                await cancelled(run.outcomes)
        raise
    run.unfinished(Status.TIMED_OUT)
    return run.outcomes
