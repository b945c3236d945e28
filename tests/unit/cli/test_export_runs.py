"""`pegboard runs export`: traces from files or the store into any form that can be written."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

TRACES = Path(__file__).parents[2] / "corpus" / "traces" / "tau1-retail.jsonl.gz"


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.gz", "runs.parquet"])
def test_what_was_exported_teaches_the_same(name: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["runs", "export", name, str(TRACES), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 24
    found: list[Any] = []
    for path in (name, str(TRACES)):
        assert run(["insight", path, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["findings"])
    assert found[0] == found[1]


def test_a_form_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["runs", "export", "x.jsonl", str(TRACES), "--format", "nonsense"]) == 2
