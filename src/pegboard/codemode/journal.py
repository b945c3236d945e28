"""The journal of a run of code: its calls by number, so that a replay is answered from it and calls nothing twice.

The code is replayed from its start. Its calls come in the same order again if their answers do (and clock and random
numbers are the same), so answers are given in the order that the journal tells. What may take effect is written down
before it is called; what only reads is written with the next thing that must be, or not at all.
"""

import json
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import anyio

from pegboard.approval.pause import pausing
from pegboard.approval.request import Request
from pegboard.codemode import verdict
from pegboard.codemode.clock import Clock
from pegboard.codemode.fault import CodeError
from pegboard.codemode.hold import Hold
from pegboard.codemode.outcome import Fault, Outcome, Stop, ToolError
from pegboard.codemode.record import CodeStatus, Entry, EntryStatus
from pegboard.core import Failure, FailureCode
from pegboard.errors import StoreError
from pegboard.schema.types import Json, digest

Once: TypeAlias = Callable[[], Awaitable[str]]
"""Calls the tool: its answer as JSON. Raises `ToolError`."""

PULSE = 3.0
"""Seconds between two words to the others: also how soon a run that was cancelled ends."""
MOST_HELD = 4_000_000
"""Characters of answers that are held until they are written; what was read beyond is read again by a replay."""
_LAST = 1 << 62
_STATUS: Mapping[Stop, CodeStatus] = {
    Stop.WAITING: CodeStatus.WAITING_APPROVAL,
    Stop.OUTCOME_UNKNOWN: CodeStatus.NEEDS_OPERATOR,
    Stop.CANCELLED: CodeStatus.CANCELLED,
}


class Journal:
    """The calls of one run.

    Parameters:
        hold: the run; without it nothing is kept, and a call that waits for a yes fails in the code.
        clock: the time of the run.
    """

    def __init__(self, hold: Hold | None = None, clock: Clock | None = None) -> None:
        self._hold, self._clock = hold, clock
        self._known = dict(hold.run.entries) if hold is not None else {}
        self._due = _in_turn(self._known.values())
        self._turns = {number: anyio.Event() for number in self._known}
        self._replayed = anyio.Event()
        self._begun = self._told = self._flying = self._held = self._asking = 0
        self._waiting: dict[int, Entry] = {}
        self._unwritten: dict[int, Entry] = {}
        self._lock = anyio.Lock()
        self._closing: Fault | None = None
        self.fault: Fault | None = None
        """What ends the run, once it does; whoever runs the code looks at it."""
        self.seed = hold.run.seed if hold is not None else time.time_ns()
        self.at = round((hold.run.created if hold is not None else time.time()) * 1000)
        """The time that the code sees, Unix milliseconds: that of the last answer."""

    async def answered(self, name: str, given: Json, *, tool: str, harmless: bool, once: Once) -> str:
        """The answer of a call, from the journal where it is there.

        Parameters:
            name: what the code called.
            given: its arguments.
            tool: the tool's full name; empty where it is none.
            harmless: whether calling it twice does no more than calling it once.
            once: calls the tool.

        Raises:
            ToolError: the call failed, now or then.
        """
        self._begun += 1
        entry = self._entry(self._begun, name, given)
        self._release()
        if self._closing is None and entry.status is EntryStatus.STARTED:
            self._close(verdict.in_doubt(self.id, entry))
        if self._closing is not None:
            await anyio.sleep_forever()
        if not entry.status.is_over:
            return await self._live(entry, tool, harmless, once)
        await self._deliver(entry)
        return _answer_of(entry)

    async def slept(self, name: str, seconds: float) -> None:
        """Sleep in the code's stead; in a replay, no longer than until its turn.

        Parameters:
            name: what the code called.
            seconds: how long.
        """
        self._begun += 1
        entry = self._entry(self._begun, name, seconds)
        self._release()
        if not entry.status.is_over:
            await anyio.sleep(seconds)
            self._note(entry, EntryStatus.OK, "null", keep=False)
        await self._deliver(entry)

    def _entry(self, number: int, name: str, given: Json) -> Entry:
        mark = digest(given) if self._hold is not None else ""
        known = self._known.pop(number, None)
        if known is None:
            return Entry(number=number, name=name, digest=mark, status=EntryStatus.BEGUN)
        if (known.name, known.digest) != (name[:500], mark):
            self._close(verdict.diverged(self.id, known, name))
        return known

    # Calls

    async def _live(self, entry: Entry, tool: str, harmless: bool, once: Once) -> str:
        entry.status = EntryStatus.BEGUN if harmless else EntryStatus.STARTED
        failed: ToolError | None = None
        answer = ""
        self._flying += 1
        try:
            answer = await self._called(entry, tool, harmless, once)
        except ToolError as problem:
            failed = problem
            self._note(entry, EntryStatus.FAILED, _failure_text(problem.failure), keep=True)
        else:
            self._note(entry, EntryStatus.OK, answer, keep=not harmless)
        finally:
            if self._hold is not None and not harmless:
                await self._flushed()
            self._flying -= 1
            self._close(None)
        await self._deliver(entry)
        if failed is not None:
            raise failed
        return answer

    async def _called(self, entry: Entry, tool: str, harmless: bool, once: Once) -> str:
        await self._start(entry, harmless)
        try:
            with pausing(partial(self._asked, entry, tool, harmless)):
                return await once()
        except ToolError as problem:
            if self._hold is not None and verdict.waits(problem.failure, entry):
                await self._wait(entry, problem.failure)
            raise

    async def _start(self, entry: Entry, harmless: bool) -> None:
        if self._hold is None:
            return
        self._unwritten[entry.number] = entry
        if harmless:
            return
        try:
            await self._flush()
        except StoreError as problem:
            raise ToolError(
                Failure(FailureCode.UNAVAILABLE, f"{problem.message} Nothing ran.", next_step=problem.next_step)
            ) from problem
        except CodeError as problem:
            self._close(_gone(problem, self.id))
            await self._parked()

    async def _wait(self, entry: Entry, failure: Failure) -> None:
        """End the run here, once what else is under way has ended: it goes on when there is a yes."""
        entry.status = EntryStatus.WAITING
        self._waiting[entry.number] = self._unwritten[entry.number] = entry
        self._close(verdict.waiting(self.id, list(self._waiting.values()), failure))
        await self._flushed()
        await self._parked()

    @contextmanager
    def _asked(self, entry: Entry, tool: str, harmless: bool, request: Request) -> Generator[None]:
        """A person is asked: that is written down, and once more when it is over, before anything runs."""
        paused: AbstractContextManager[None] = self._clock.asking() if self._clock is not None else nullcontext()
        with paused:
            if self._hold is None or request.subject != tool:  # a part of the tool asks, and others of it may have run
                yield
                return
            entry.request = request.id
            self._waiting[entry.number] = entry
            self._mark(entry, EntryStatus.WAITING)
            yield
        del self._waiting[entry.number]
        self._mark(entry, EntryStatus.BEGUN if harmless else EntryStatus.STARTED)

    def _mark(self, entry: Entry, status: EntryStatus) -> None:
        """Write down at once how a call is; raises where that cannot be."""
        assert self._hold is not None
        entry.status = status
        try:
            self._hold.write_now([replace(entry)], self._status)
        except CodeError as problem:
            self._close(_gone(problem, self.id))
            raise

    def _note(self, entry: Entry, status: EntryStatus, answer: str, *, keep: bool) -> None:
        if self._hold is None:
            entry.status, entry.answer = status, answer if status is EntryStatus.FAILED else None
            return
        if not keep:
            self._held += len(answer)
            if self._held > MOST_HELD:
                return
        entry.status, entry.answer = status, answer
        self._unwritten[entry.number] = entry

    # Answers

    async def _deliver(self, entry: Entry) -> None:
        """Come back when it is this answer's turn; never where the run ends here."""
        if entry.place:
            await self._turns[entry.number].wait()
        elif self._told < len(self._due):
            await self._replayed.wait()
        if self._closing is not None:
            await anyio.sleep_forever()
        self._told += 1
        if not entry.place:
            entry.place, entry.after, entry.at = self._told, self._begun, round(time.time() * 1000)
            if self._hold is not None:
                self._unwritten[entry.number] = entry
        self.at = entry.at
        self._release()

    def _release(self) -> None:
        """Let the next answer of the journal go, once the code has made the calls that it had made by then."""
        due = self._due.get(self._told + 1)
        if due is not None and self._begun >= max(due.after, due.number):
            self._turns[due.number].set()
        if self._told >= len(self._due):
            self._replayed.set()

    # The end

    @property
    def id(self) -> str:
        """The run's id; empty where nothing is kept."""
        return self._hold.run.id if self._hold is not None else ""

    @property
    def _status(self) -> CodeStatus:
        return CodeStatus.WAITING_APPROVAL if self._waiting else CodeStatus.RUNNING

    def _close(self, fault: Fault | None) -> None:
        """Take no more calls, and end the run when those that are under way have ended."""
        if self._closing is None or (fault is not None and self._closing.stop is fault.stop is Stop.WAITING):
            self._closing = fault  # the later of two that wait names both
        if self._closing is not None and not self._flying:
            self.fault = self._closing

    async def _parked(self) -> None:
        """Wait, without being one of those that are under way, until the run is ended."""
        self._flying -= 1
        self._close(None)
        try:
            await anyio.sleep_forever()
        finally:
            self._flying += 1

    async def _flushed(self) -> None:
        """Write what is unwritten; where that fails it is tried again with the next."""
        try:
            await self._flush()
        except StoreError:
            return
        except CodeError as problem:
            self._close(_gone(problem, self.id))

    async def _flush(self) -> None:
        assert self._hold is not None
        async with self._lock:
            entries, self._unwritten = self._unwritten, {}
            try:
                told = sorted(entries.values(), key=lambda entry: entry.place or _LAST)
                await self._hold.write([replace(entry) for entry in told], self._status)
            except BaseException:
                self._unwritten = {**entries, **self._unwritten}
                raise
            self._held = 0

    async def pulse(self) -> None:
        """Say again and again that this process lives."""
        while True:
            await anyio.sleep(PULSE)
            if self._hold is not None and self._hold.kept:
                await self._flushed()

    async def closed(self, outcome: Outcome | None) -> Outcome | None:
        """What the run came to, once it has ended: written down.

        Parameters:
            outcome: what the code came to. None: the caller has gone; what waits for a yes goes on waiting then.
        """
        if outcome is None:
            await self._settled(CodeStatus.WAITING_APPROVAL if self._waiting else CodeStatus.CANCELLED, None)
            return None
        fault = self._closing or self._unmet(outcome)
        ended = outcome if fault is None else replace(outcome, text=None, error=fault)
        failure = ended.error
        status = CodeStatus.DONE if failure is None else _STATUS.get(failure.stop, CodeStatus.FAILED)
        await self._settled(status, None if failure is None else failure.to_json())
        return ended

    async def _settled(self, status: CodeStatus, failure: dict[str, Any] | None) -> None:
        if self._hold is None or not self._hold.kept:
            return
        with anyio.CancelScope(shield=True), suppress(StoreError, CodeError):
            if not status.is_over:
                await self._flush()
            await self._hold.settle(status, failure)

    def _unmet(self, outcome: Outcome) -> Fault | None:
        """What the journal tells of calls that the code did not make this time, though it came to its end."""
        if outcome.error is not None and outcome.error.stop is not Stop.ERROR:
            return None
        missing = [entry for entry in self._known.values() if entry.status is not EntryStatus.BEGUN]
        return verdict.diverged(self.id, missing[0], None) if missing else None


def _in_turn(entries: Iterable[Entry]) -> dict[int, Entry]:
    """The answers that the code had, by their places; one behind a gap, which a crash has left, has none."""
    placed = {entry.place: entry for entry in entries if entry.place}
    whole = next(place for place in count(1) if place not in placed)
    for place, entry in placed.items():
        if place > whole:
            entry.place = 0
    return {place: entry for place, entry in placed.items() if place < whole}


def _gone(problem: CodeError, run: str) -> Fault:
    return Fault(Stop.CANCELLED, problem.message, next_step=problem.next_step, run=run)


def _failure_text(failure: Failure) -> str:
    told = (failure.code.value, failure.message, failure.where, failure.next_step, failure.retryable)
    return json.dumps(told)


def _answer_of(entry: Entry) -> str:
    if entry.status is EntryStatus.FAILED:
        code, message, where, next_step, retryable = json.loads(entry.answer or "[]")
        raise ToolError(Failure(FailureCode(code), message, where, next_step, retryable))
    return entry.answer or "null"
