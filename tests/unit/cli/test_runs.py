"""Runs are listed by what was called, and shown as a tree."""

from pathlib import Path

import pytest

from pegboard.cli.app import run
from pegboard.trace.record import CallRecord
from pegboard.trace.sqlite import SqliteTraces
from pegboard.trace.store import Entry


@pytest.fixture
def board(tmp_path: Path) -> Path:
    (tmp_path / "pegboard.toml").write_text("")
    traces = SqliteTraces(tmp_path / ".pegboard/traces.db")
    outer = CallRecord(id="1", tool="a.outer", arguments={"x": 1}, result="r" * 200, ok=True, started=10.0, seconds=2.0)
    inner = CallRecord(
        id="2", tool="a.inner", ok=False, failure="timeout", error="late\x1b[1m", parent="1", started=11.0
    )
    lost = CallRecord(id="3", tool="b.other", ok=True, parent="gone", started=12.0, seconds=0.5)
    traces.append([Entry("run-1", n, call, "tester") for n, call in enumerate((outer, inner, lost))])
    traces.append([Entry("run-2", 0, CallRecord(id="1", tool="c.last", ok=True, started=99.0, seconds=1.0))])
    traces.close()
    return tmp_path


def test_a_run_is_shown_as_a_tree_with_times(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "show", "run-1", "--config", str(board)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "arguments" not in line and "result" not in line]
    assert [line.split("  ")[0] == "" for line in lines] == [False, True, False]
    assert "a.outer  2.000 s  ok" in lines[0]
    assert "a.inner  timeout: late" in lines[1]
    assert "b.other" in lines[2]


def test_the_latest_run_is_shown_where_none_is_named(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "show", "--config", str(board)]) == 0
    assert "c.last" in capsys.readouterr().out


def test_runs_are_listed_latest_first(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "list", "--config", str(board)]) == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["run-2", "run-1"]


def test_an_unknown_run_is_told_with_a_near_one(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "show", "run-3", "--config", str(board)]) == 1
    assert "Did you mean run-" in capsys.readouterr().err


def test_a_board_that_keeps_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pegboard.toml").write_text('[board]\nstore = ":memory:"\n')
    assert run(["runs", "list", "--config", str(tmp_path)]) == 1
    assert "keeps no traces" in capsys.readouterr().err
