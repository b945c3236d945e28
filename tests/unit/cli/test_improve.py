"""`pegboard improve`: eight steps in words and as JSON; nothing is written without a person."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

TRACES = Path(__file__).parents[2] / "corpus" / "traces" / "tau1-retail.jsonl.gz"


@pytest.mark.requirement("C1.11")
def test_the_whole_procedure_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "get_order_details"}, {"name": "get_user_details"}]))
    config = tmp_path / "pegboard.toml"
    config.write_text('[sources.retail]\nrecorded = "tools.json"\n')
    monkeypatch.chdir(tmp_path)
    before = config.read_text()
    assert run(["improve", str(TRACES), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [step["step"] for step in answer["steps"]] == list(range(1, 9))
    commands = [each["command"] for step in answer["steps"] for each in step["proposed"] if each["command"]]
    assert any(command.startswith("pegboard insight apply bundle-") for command in commands)
    assert any(command.startswith("pegboard insight apply batch-") for command in commands)
    assert run(["improve", str(TRACES)]) == 0
    out = capsys.readouterr().out
    assert "1. Map the current set" in out and "8. Verify" in out
    assert config.read_text() == before
    kept = run(["insight", "list", "--kind", "bundle", "--json"])
    assert (kept, len(json.loads(capsys.readouterr().out)["findings"]) > 0) == (0, True)


def test_a_new_board_without_traces_is_walked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "pegboard.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert run(["improve", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 0
