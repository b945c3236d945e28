"""`pegboard import`: shows first, writes when told, and keeps the file as it was."""

import json
from pathlib import Path

import pytest

from pegboard.cli.app import run

SERVERS = {"mcpServers": {"git": {"command": "mcp-server-git"}, "bad": 3}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".cursor").mkdir(parents=True)
    (home / ".cursor/mcp.json").write_text(json.dumps(SERVERS))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def test_without_write_it_only_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import"]) == 0
    shown = capsys.readouterr()
    assert "[sources.git]" in shown.out
    assert "bad" in shown.err and "--write" in shown.err
    assert list(folder.iterdir()) == []


def test_writing_keeps_the_file_as_it_was_and_a_second_time_changes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = '[board]\nname = "mine" # a comment\n'
    (folder / "pegboard.toml").write_text(before)
    assert run(["import", "cursor", "--write", "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert shape["written"] and shape["sources"][0]["name"] == "git"
    assert [item["name"] for item in shape["skipped"]] == ["bad"]
    after = (folder / "pegboard.toml").read_text()
    assert after.startswith(before)
    assert (folder / "pegboard.toml.bak").read_text() == before
    assert run(["import", "--write"]) == 0
    assert (folder / "pegboard.toml").read_text() == after


def test_nothing_found_is_a_finding_and_a_wrong_name_is_misuse(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", "zed"]) == 1
    assert run(["import", "zedd"]) == 2
    assert "Did you mean zed" in capsys.readouterr().err
