"""Every trace store keeps the same promises."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard.testing import MemoryTraces
from pegboard.trace import CallRecord, Entry, RunFilter, TraceStore
from pegboard.trace.sqlite import SqliteTraces


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> TraceStore:
    makers: dict[str, Callable[[], TraceStore]] = {
        "memory": MemoryTraces,
        "sqlite": lambda: SqliteTraces(tmp_path / "deep" / "traces.db"),
    }
    return makers[request.param]()


def call(
    run: str, at: float, tool: str = "files.read", *, ok: bool = True, seq: int = 0, agent: str | None = None
) -> Entry:
    record = CallRecord(
        id=f"{run}-{at}-{seq}",
        tool=tool,
        arguments={"n": at, "text": "ü\ud800"},
        result=[1, None, {"a": "b"}],
        ok=ok,
        failure=None if ok else "failed",
        started=at,
        seconds=0.5,
        source=tool.partition(".")[0],
        values=(1, "b"),
        meta={"result_bytes": 3, "mended": ["/n"]},
    )
    return Entry(run, seq, record, agent)


DAY = [
    call("one", 10, "files.read", agent="coder"),
    call("one", 12, "files.delete", ok=False),
    call("two", 20, "mail.send", agent="writer"),
    call("two", 20, "mail.list", seq=1),
    call("three", 30, "files.read"),
]


def test_a_new_store_is_empty(store: TraceStore) -> None:
    assert store.runs() == ()
    assert store.run("one") is None
    assert list(store.scan()) == []
    assert store.prune(1e12) == 0


def test_a_run_comes_back_as_it_was(store: TraceStore) -> None:
    store.append(DAY[:2])
    run = store.run("one")
    assert run is not None
    assert run.agent == "coder"
    assert run.calls == (DAY[0].record, DAY[1].record)


def test_calls_stand_in_the_order_in_which_they_started(store: TraceStore) -> None:
    store.append([call("r", 3), call("r", 1, seq=2)])
    store.append([call("r", 1, seq=1), call("r", 2)])
    run = store.run("r")
    assert run is not None
    assert [(record.started, record.id.rpartition("-")[2]) for record in run.calls] == [
        (1, "1"),
        (1, "2"),
        (2, "0"),
        (3, "0"),
    ]


def test_runs_are_summed_up_the_latest_first(store: TraceStore) -> None:
    store.append(DAY[:3])
    store.append(DAY[3:])
    summaries = store.runs()
    assert [summary.id for summary in summaries] == ["three", "two", "one"]
    one = summaries[2]
    assert (one.agent, one.calls, one.failed, one.tools, one.started, one.ended) == (
        "coder",
        2,
        1,
        ("files.read", "files.delete"),
        10,
        12.5,
    )
    assert [summary.id for summary in store.runs(limit=1)] == ["three"]


@pytest.mark.requirement("R11.1")
@pytest.mark.parametrize(
    ("where", "found"),
    [
        (RunFilter(), ["one", "two", "three"]),
        (RunFilter(agent="coder"), ["one"]),
        (RunFilter(agent="*r"), ["one", "two"]),
        (RunFilter(failed=True), ["one"]),
        (RunFilter(failed=False), ["two", "three"]),
        (RunFilter(since=20), ["two", "three"]),
        (RunFilter(tool="files.*"), ["one", "three"]),
        (RunFilter(tool="read"), ["one", "three"]),
        (RunFilter(tool="mail.send"), ["two"]),
        (RunFilter(source="mail"), ["two"]),
        (RunFilter(tool="files.*", failed=True), ["one"]),
        (RunFilter(tool="'; DROP TABLE calls; --"), []),
    ],
)
def test_filters_pick_runs(store: TraceStore, where: RunFilter, found: list[str]) -> None:
    store.append(DAY)
    assert [run.id for run in store.scan(where)] == found
    assert {summary.id for summary in store.runs(where)} == set(found)


def test_old_runs_are_forgotten(store: TraceStore) -> None:
    store.append(DAY)
    assert store.prune(20) == 2
    assert [run.id for run in store.scan()] == ["two", "three"]


def test_of_too_many_runs_the_latest_are_kept(store: TraceStore) -> None:
    store.append(DAY)
    assert store.prune(0, most=3) == 0
    assert store.prune(0, most=1) > 0
    assert [run.id for run in store.scan()] == ["three"]
    assert store.prune(0, most=0) > 0
    assert list(store.scan()) == []


def test_a_call_whose_time_is_not_known_is_kept(store: TraceStore) -> None:
    store.append([Entry("r", 0, CallRecord(id="a", tool="t"))])
    run = store.run("r")
    assert run is not None
    assert run.calls == (CallRecord(id="a", tool="t"),)
    assert store.runs()[0].ended is None
    store.append([call("r", 5)])
    store.append([Entry("r", 0, CallRecord(id="b", tool="t"))])
    assert (store.runs()[0].started, store.runs()[0].ended) == (5, 5.5)
