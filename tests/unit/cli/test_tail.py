"""`runs tail` shows each call once, as the store gets it."""

from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.tail import follow
from pegboard.trace import CallRecord
from pegboard.trace.sqlite import SqliteTraces
from pegboard.trace.store import Entry, RunFilter


def entry(run: str, seq: int, started: float, **more: Any) -> Entry:
    record = CallRecord(id=f"{run}-{seq}", tool=f"shop.t{seq}", ok=True, started=started, seconds=0.1)
    return Entry(run=run, seq=seq, record=record, **more)


@pytest.fixture
def traces(tmp_path: Path) -> SqliteTraces:
    return SqliteTraces(tmp_path / "traces.db")


def followed(traces: SqliteTraces, *later: list[Entry], since: float = 100.0, **where: Any) -> list[str]:
    """The ids of calls in the order shown, while `later` entries come in one batch a pause."""
    batches = iter(later)

    def pause() -> bool:
        batch = next(batches, None)
        if batch is not None:
            traces.append(batch)
        return batch is not None

    return [call.id for _, call in follow(traces, since=since, where=RunFilter(**where), pause=pause)]


def test_each_call_is_shown_once_as_it_comes(traces: SqliteTraces) -> None:
    traces.append([entry("a", 0, 50.0), entry("a", 1, 101.0)])
    shown = followed(traces, [entry("a", 2, 102.0)], [], [entry("b", 0, 103.0), entry("a", 3, 102.5)])
    assert shown == ["a-1", "a-2", "a-3", "b-0"]


def test_a_call_that_ended_late_is_still_shown(traces: SqliteTraces) -> None:
    assert followed(traces, [entry("a", 1, 150.0)], [entry("a", 0, 120.0)]) == ["a-1", "a-0"]


def test_only_the_wanted_runs_are_shown(traces: SqliteTraces) -> None:
    rows = [entry("a", 0, 101.0, agent="one"), entry("b", 0, 102.0, agent="two")]
    assert followed(traces, rows, agent="two") == ["b-0"]
