"""`pegboard probe`: ranks in a table or as JSON, and an exit code by a threshold."""

import json
from pathlib import Path

import pytest

from pegboard.cli.app import run

TOOLS = [
    {"name": "get_page", "description": "Get a page of the book."},
    {"name": "fetch_page", "description": "Get a page of the book."},
    {"name": "send_mail", "description": "Send a mail to a person."},
]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "tools.json").write_text(json.dumps({"server": "hub", "tools": TOOLS}))
    (tmp_path / "pegboard.toml").write_text('[sources.hub]\nrecorded = "tools.json"\n')
    monkeypatch.chdir(tmp_path)
    return "tools.json"


def test_shadowed_tools_are_shown_with_their_shadow(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", tools]) == 0
    said = capsys.readouterr()
    assert "hub.send_mail" not in said.out and "find their tool within 3" in said.err
    assert any(name in said.out for name in ("hub.get_page", "hub.fetch_page"))


def test_a_tool_below_the_threshold_ends_with_one(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", tools, "--within", "1", "--threshold", "0.9", "--json"]) == 1
    shape = json.loads(capsys.readouterr().out)
    assert shape["below"] and "hub.send_mail" not in shape["below"]
    assert {row["tool"] for row in shape["tools"]} == {"hub.get_page", "hub.fetch_page", "hub.send_mail"}


def test_the_board_is_probed_and_one_tool_in_detail(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", "--all"]) == 0
    assert "hub.send_mail\t100%\t1.00" in capsys.readouterr().out
    assert run(["probe", "--tool", "send_mail"]) == 0
    assert "Send a mail to a person\tsentence\t1" in capsys.readouterr().out
    assert run(["probe", "--tool", "send_mial"]) != 0
    assert "send_mail" in capsys.readouterr().err
