"""Runs go into Parquet and come back equal; foreign and damaged files are told."""

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.errors import SourceError
from pegboard.trace import CallRecord, Run
from pegboard.trace.importers import Skipped, read
from pegboard.trace.parquet import read_parquet, write_parquet

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
CALL = st.builds(
    CallRecord,
    id=TEXT,
    tool=TEXT,
    arguments=JSON,
    result=JSON,
    ok=st.none() | st.booleans(),
    error=st.none() | TEXT,
    turn=st.none() | st.integers(0, 99),
    segment=st.integers(0, 9),
    started=st.none() | st.floats(0, 2e9),
    values=st.none() | st.lists(JSON, max_size=3).map(tuple),
    meta=st.dictionaries(TEXT, JSON, max_size=2),
)
RUNS = st.lists(
    st.builds(
        Run,
        id=TEXT,
        calls=st.lists(CALL, max_size=3).map(tuple),
        source=TEXT.filter(bool),
        task=st.none() | TEXT,
        success=st.none() | st.booleans(),
        user_messages=st.none() | st.lists(TEXT, max_size=2).map(tuple),
        meta=st.dictionaries(TEXT, JSON, max_size=2),
    ),
    max_size=4,
    unique_by=lambda run: run.id,
)


@settings(max_examples=20)
@given(runs=RUNS)
def test_runs_come_back_equal(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("p") / "runs.parquet"
    write_parquet(runs, path)
    assert list(read_parquet(path)) == runs
    assert list(read(path)) == runs


def test_a_foreign_table_with_runs_and_tools_is_read(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"run": ["a", "a", "b"], "tool": ["x", "y", "x"], "arguments": ['{"q": 1}', None, "{"]}
    pyarrow.parquet.write_table(pyarrow.table(rows), tmp_path / "t.parquet")
    items = list(read(tmp_path / "t.parquet"))
    runs = [item for item in items if not isinstance(item, Skipped)]
    assert [(run.id, [call.tool for call in run.calls]) for run in runs] == [("a", ["x", "y"]), ("b", [])]
    assert runs[0].calls[0].arguments == {"q": 1}
    assert [str(item) for item in items if isinstance(item, Skipped)] != []


@pytest.mark.parametrize("case", ["columns", "damaged"])
def test_a_file_that_holds_no_traces_is_told(case: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    if case == "columns":
        pyarrow.parquet.write_table(pyarrow.table({"n": [1]}), path)
    else:
        path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(SourceError):
        list(read(path))
