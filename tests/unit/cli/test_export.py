"""`pegboard export`: the request's part that holds a board's tools, and what it took, beside it or on stderr."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run
from pegboard.schema.lower import DIALECTS

ROWS: list[dict[str, Any]] = [
    {
        "name": "good",
        "description": "Do it.",
        "inputSchema": {"properties": {"url": {"type": "string", "format": "uri"}}},
    },
    {"name": "other", "description": "Do more.", "inputSchema": {"type": "object", "properties": {}}},
]


@pytest.fixture
def board(tmp_path: Path) -> list[str]:
    (tmp_path / "rows.json").write_text(json.dumps({"tools": ROWS}))
    (tmp_path / "pegboard.toml").write_text('[board]\nthreshold = 2\n[sources.s]\nrecorded = "rows.json"\n')
    return ["--config", str(tmp_path)]


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "codex"])
def test_every_target_gets_every_tool(capsys: pytest.CaptureFixture[str], board: list[str], target: str) -> None:
    assert run(["export", "--target", target, "--all", *board]) == 0
    found = capsys.readouterr()
    assert list(json.loads(found.out)) == ["tools"]
    assert "good" in found.out
    assert "other" in found.out
    assert "2 definitions" in found.err


def test_all_means_all_however_many_may_be_direct(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(5)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "pegboard.toml").write_text('[board]\nmax_direct = 2\n[sources.s]\nrecorded = "rows.json"\n')
    assert run(["export", "--target", "anthropic", "--all", "--config", str(tmp_path)]) == 0
    assert len(json.loads(capsys.readouterr().out)["tools"]) >= 5


def test_losses_are_told_on_stderr_or_stand_in_the_document(
    capsys: pytest.CaptureFixture[str], board: list[str]
) -> None:
    run(["export", "--target", "gemini", "--all", *board])
    told = capsys.readouterr().err
    assert 's.good/properties/url: format "uri" is said in the description.' in told
    run(["export", "--target", "gemini", "--all", "--json", *board])
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["target", "request", "definitions", "notes"]
    assert found["definitions"][0]["losses"][0]["keyword"] == "format"


def test_what_the_board_defers_is_found_by_search(capsys: pytest.CaptureFixture[str], board: list[str]) -> None:
    assert run(["export", "--target", "openai-responses", *board]) == 0
    found = capsys.readouterr()
    *functions, search = [row["type"] for row in json.loads(found.out)["tools"]]
    assert set(functions) == {"function"} and search == "tool_search"
    assert "2 tools deferred" in found.err
    assert run(["export", "--target", "openai-responses", "--search", "hosted", *board]) == 0
    [entry, *_] = json.loads(capsys.readouterr().out)["tools"]
    assert entry["name"] == "tool_describe"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "gemini", "--search", "client"), "gemini has no option 'search'"),
        (("--target", "anthropic", "--search", "hosted"), "anthropic has no search 'hosted'"),
        (("--target", "mistral"), "There is no dialect 'mistral'"),
    ],
)
def test_a_mistake_is_told_with_a_remedy(
    capsys: pytest.CaptureFixture[str], board: list[str], arguments: tuple[str, ...], said: str
) -> None:
    assert run(["export", *arguments, *board]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", [["export", "--target", "anthropic"], ["check"], ["probe"]], ids=lambda it: it[0])
def test_a_source_that_is_not_there_is_told_of(
    command: list[str], capsys: pytest.CaptureFixture[str], board: list[str]
) -> None:
    file = Path(board[1]) / "pegboard.toml"
    file.write_text(file.read_text() + '[sources.gone]\nrecorded = "nowhere.json"\n')
    run([*command, *board])
    found = capsys.readouterr()
    assert "gone is unavailable" in found.err
    assert "gone is" not in found.out


@pytest.mark.parametrize(("target", "mark"), [("openai-responses", "programmatic"), ("anthropic", "code_execution")])
def test_what_code_may_call_programs_of_a_provider_may_call(
    capsys: pytest.CaptureFixture[str], board: list[str], target: str, mark: str
) -> None:
    command = ["export", "--target", target, "--all", "--programs", *board]
    assert run(command) == 2
    assert "codemode.tools" in capsys.readouterr().err
    with open(f"{board[1]}/pegboard.toml", "a") as file:
        file.write('[codemode]\ntools = ["s.good"]\n')
    assert run(command) == 0
    tools = json.loads(capsys.readouterr().out)["tools"]
    rows = {row["name"]: row for entry in tools for row in entry.get("tools", [entry]) if "name" in row}
    allowed = [name for name, row in rows.items() if "allowed_callers" in row]
    assert [name.removeprefix("s__") for name in allowed] == ["good"]
    assert mark in json.dumps(tools)


def test_a_target_without_programs_says_so(capsys: pytest.CaptureFixture[str], board: list[str]) -> None:
    with open(f"{board[1]}/pegboard.toml", "a") as file:
        file.write('[codemode]\ntools = ["s.good"]\n')
    assert run(["export", "--target", "gemini", "--programs", *board]) == 2
    assert "programs" in capsys.readouterr().err
