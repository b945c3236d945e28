"""Recording holds nobody up, loses nothing that it took, and survives its store."""

import threading
from collections.abc import Sequence
from time import time

from pegboard.testing import MemoryTraces
from pegboard.trace import CallRecord, Entry, Recorder


def entry(number: int) -> Entry:
    return Entry("run", number, CallRecord(id=str(number), tool="a.b", started=float(number)))


class GatedTraces(MemoryTraces):
    """A store whose first batch waits until a test lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.reached = threading.Event(), threading.Event()

    def append(self, entries: Sequence[Entry]) -> None:
        self.reached.set()
        assert self.gate.wait(10)
        super().append(entries)


def test_what_was_taken_is_in_the_store_after_close() -> None:
    store = MemoryTraces()
    recorder = Recorder(store)
    for number in range(1000):
        assert recorder.add(lambda number=number: entry(number))
    recorder.close()
    assert [one.seq for one in store.entries] == list(range(1000))
    assert store.closed
    assert recorder.status.written == 1000


def test_a_flush_waits_for_what_came_before_it() -> None:
    store = MemoryTraces()
    recorder = Recorder(store, patience=60)
    recorder.add(lambda: entry(1))
    assert recorder.flush(10)
    assert len(store.entries) == 1
    assert recorder.flush(10)
    recorder.close()


def test_nothing_is_started_before_the_first_call() -> None:
    before = threading.active_count()
    recorder = Recorder(MemoryTraces())
    assert threading.active_count() == before
    assert recorder.flush(1)
    recorder.close()


def test_a_full_queue_drops_counts_and_goes_on() -> None:
    store = GatedTraces()
    recorder = Recorder(store, capacity=5, batch=1, patience=0)
    recorder.add(lambda: entry(0))
    assert store.reached.wait(10)
    taken = [recorder.add(lambda number=number: entry(number)) for number in range(1, 10)]
    assert taken == [True] * 5 + [False] * 4
    assert recorder.status.dropped == 4
    store.gate.set()
    recorder.close()
    assert [one.seq for one in store.entries] == [0, 1, 2, 3, 4, 5]


def test_a_store_that_fails_costs_its_batches_and_is_told() -> None:
    store = MemoryTraces()
    recorder = Recorder(store)
    store.broken = "The disk is full."
    recorder.add(lambda: entry(1))
    assert recorder.flush(10)
    assert (recorder.status.dropped, recorder.status.error) == (1, "The disk is full.")
    store.broken = None
    recorder.add(lambda: entry(2))
    assert recorder.flush(10)
    assert (recorder.status.written, recorder.status.dropped, recorder.status.error) == (1, 1, None)
    recorder.close()


def test_a_call_that_cannot_be_put_into_form_costs_only_itself() -> None:
    store = MemoryTraces()
    recorder = Recorder(store)

    def broken() -> Entry:
        raise ValueError("odd")

    recorder.add(lambda: entry(1))
    recorder.add(broken)
    recorder.add(lambda: entry(2))
    recorder.close()
    assert [one.seq for one in store.entries] == [1, 2]
    assert recorder.status.dropped == 1


def test_what_comes_after_close_is_refused() -> None:
    recorder = Recorder(MemoryTraces())
    recorder.close()
    assert recorder.add(lambda: entry(1)) is False
    assert recorder.status.dropped == 1


def test_many_threads_may_record_at_once() -> None:
    store = MemoryTraces()
    recorder = Recorder(store, batch=7)

    def record(start: int) -> None:
        for number in range(start, start + 250):
            recorder.add(lambda number=number: entry(number))

    threads = [threading.Thread(target=record, args=(1000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    assert len({one.seq for one in store.entries}) == 1000


def test_old_and_too_many_runs_are_forgotten_when_the_first_call_is_written() -> None:
    store = MemoryTraces()
    store.append([Entry(f"old-{n}", 0, CallRecord(id="a", tool="t", started=10.0 + n, seconds=1.0)) for n in range(3)])
    late = [Entry(f"new-{n}", 0, CallRecord(id="a", tool="t", started=time() + n, seconds=0.0)) for n in range(3)]
    recorder = Recorder(store, patience=60, keep_seconds=3600.0, keep_runs=2)
    for entry in late:
        recorder.add(lambda entry=entry: entry)
    recorder.close()
    assert {entry.run for entry in store.entries} == {"new-1", "new-2"}
