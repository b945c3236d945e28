"""`pegboard connect`: prints the entry, edits the client's config, and takes it back."""

import json
from pathlib import Path

import pytest

from pegboard.cli.app import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pegboard.toml").write_text("[board]\n")
    return tmp_path


def test_the_printed_entry_starts_this_board_by_absolute_paths(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "cursor"]) == 0
    entry = json.loads(capsys.readouterr().out)["mcpServers"]["pegboard"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-4:] == ["serve", "--stdio", "--config", str(home / "pegboard.toml")]
    assert not (home / ".cursor").exists()


def test_written_and_undone_the_file_is_as_it_was(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".cursor").mkdir()
    file = home / ".cursor/mcp.json"
    before = b'{ // mine\r\n\t"mcpServers": {"a": {"command": "a"},},\r\n}'
    file.write_bytes(before)
    assert run(["connect", "cursor", "--write", "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert shape["changed"] and Path(shape["backup"]).read_bytes() == before
    assert run(["connect", "cursor", "--undo"]) == 0
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]
    assert run(["connect", "cursor", "--undo"]) == 1


def test_what_is_written_is_not_imported_again(home: Path) -> None:
    assert run(["connect", "zed", "--write"]) == 0
    assert run(["import", "zed", "--write"]) == 0
    assert (home / "pegboard.toml").read_text() == "[board]\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["cursr"],
        ["cursor", "--write", "--undo"],
        ["cursor", "--http", "no address"],
        ["claude-desktop", "--http", "http://127.0.0.1:1/mcp"],
        ["windsurf", "--scope", "project"],
        ["cursor", "--config", "missing.toml"],
    ],
)
def test_misuse_is_answered_with_a_remedy(home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert run(["connect", *arguments]) == 2
    assert len(capsys.readouterr().err.split(". ")) > 1
    assert [path.name for path in home.iterdir()] == ["pegboard.toml"]
