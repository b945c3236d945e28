"""Records calls without holding them up: a bounded queue, one thread that writes, batches."""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Event, Lock, Thread
from time import perf_counter, sleep, time
from typing import TypeAlias

from pegboard.trace.store import Entry, TraceStore

BATCH = 100
"""So many waiting calls are written at once."""

PATIENCE = 0.2
"""A call waits at most so many seconds for others to be written with."""

BURST = 0.0005
"""The writing thread works at most so many seconds at a stretch while the event loop has work to do."""

FORGET_EVERY = 3600.0
"""Old runs are forgotten so many seconds after the last time."""

CAPACITY = 10_000
"""Waiting calls beyond these are dropped, counted and reported: memory has an end, and no call may wait."""

Pending: TypeAlias = Callable[[], Entry]
"""A call, still to be redacted, cut and put into its form: that is done in the writing thread."""

_log = logging.getLogger("pegboard.trace")


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """How recording goes.

    Parameters:
        written: calls that are in the store.
        waiting: calls that are not yet.
        dropped: calls that are lost: the queue was full, or the store failed.
        error: why the store failed last, as long as it does.
    """

    written: int
    waiting: int
    dropped: int
    error: str | None


class Recorder:
    """Hands calls to a store from a thread of its own, which starts with the first call.

    Parameters:
        store: where the calls go.
        batch: see `BATCH`.
        patience: see `PATIENCE`.
        capacity: see `CAPACITY`.
        keep_seconds: runs that ended longer ago are forgotten, when the first call is written and then once an hour;
            None keeps all.
        keep_runs: more runs than these are forgotten then too, the oldest; None keeps any number.
    """

    def __init__(
        self,
        store: TraceStore,
        *,
        batch: int = BATCH,
        patience: float = PATIENCE,
        capacity: int = CAPACITY,
        keep_seconds: float | None = None,
        keep_runs: int | None = None,
    ) -> None:
        self.store = store
        self._keep_seconds, self._keep_runs = keep_seconds, keep_runs
        self._forgot = float("-inf")
        self._batch, self._patience, self._capacity = batch, patience, capacity
        self._waiting: deque[Pending] = deque()
        self._some, self._many = Event(), Event()
        self._settled = Condition()
        self._thread: Thread | None = None
        self._closing = False
        self._accepting = Lock()
        self._accepted = self._written = self._refused = self._lost = 0
        self._error: str | None = None

    def add(self, pending: Pending) -> bool:
        """Take a call to be written; costs a microsecond and never fails.

        Returns:
            Whether it was taken: it will then be in the store by the end of `close`, unless the store itself fails.
        """
        with self._accepting:
            waiting = len(self._waiting)
            if waiting >= self._capacity or self._closing:
                self._refused += 1
                return False
            self._waiting.append(pending)
            self._accepted += 1
            if self._thread is None:
                self._start()
        if waiting == 0:
            self._some.set()
        elif waiting + 1 >= self._batch:
            self._many.set()
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was taken so far is written or lost; False if that took longer than `timeout` seconds."""
        target = self._accepted
        self._many.set()
        self._some.set()
        with self._settled:
            return self._settled.wait_for(lambda: self._written + self._lost >= target, timeout)

    def close(self, timeout: float | None = 10.0) -> None:
        """Write what is waiting, and end; calls that come later are dropped."""
        with self._accepting:
            self._closing = True
        self._many.set()
        self._some.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self.store.close()

    @property
    def status(self) -> RecorderStatus:
        """How recording goes."""
        return RecorderStatus(self._written, len(self._waiting), self._refused + self._lost, self._error)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd, in words for `doctor`."""
        status = self.status
        lost = (f"{status.dropped} calls were not recorded.",) if status.dropped else ()
        return (*lost, *((status.error,) if status.error else ()))

    def _start(self) -> None:
        self._thread = Thread(target=self._work, name="pegboard-trace", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while True:
            self._some.wait()
            self._some.clear()
            while True:
                # Before each batch: calls that came while the last one was written are worth no transaction each.
                self._many.wait(0 if self._closing else self._patience)
                self._many.clear()
                if not self._waiting:
                    break
                self._write([self._waiting.popleft() for _ in range(min(len(self._waiting), self._batch * 10))])
            if self._closing and not self._waiting:
                return

    def _write(self, batch: list[Pending]) -> None:
        entries: list[Entry] = []
        begun = perf_counter()
        for pending in batch:
            try:
                entries.append(pending())
            except Exception as problem:  # one call that cannot be put into its form never costs the others
                _log.warning("A call could not be recorded: %s", problem)
            if perf_counter() - begun > BURST:
                sleep(0)  # let the event loop have the interpreter; after every call that would cost it more
                begun = perf_counter()
        kept = self._append(entries)
        if kept:
            self._forget()
        with self._settled:
            self._written += len(kept)
            self._lost += len(batch) - len(kept)
            self._settled.notify_all()

    def _append(self, entries: list[Entry]) -> list[Entry]:
        try:
            self.store.append(entries)
        except Exception as problem:  # a store of another hand may raise anything; recording goes on
            if self._error is None:
                _log.warning("Calls are not recorded: %s", problem)
            self._error = str(problem)
            return []
        if self._error is not None:
            _log.warning("Calls are recorded again; %d were lost.", self._lost)
        self._error = None
        return entries

    def _forget(self) -> None:
        now = time()
        nothing = self._keep_seconds is None and self._keep_runs is None
        if nothing or now - self._forgot < FORGET_EVERY:
            return
        self._forgot = now
        try:
            self.store.prune(now - self._keep_seconds if self._keep_seconds is not None else 0.0, most=self._keep_runs)
        except Exception as problem:
            _log.warning("Old runs could not be forgotten: %s", problem)
