"""`pegboard agent run`: what is printed where, and how it ends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_model import Scripted, serving

from pegboard.cli.app import run

TOOLS = """
from pegboard import tool

@tool(effects="read_only")
async def find(name: str) -> str:
    "Find a user by name."
    return f"u-{name}"

@tool(effects="destructive")
async def drop(user: str) -> str:
    "Delete a user."
    return f"dropped {user}"
"""
CONFIG = """
[sources.shop]
python = "shop_desk"
[approval]
require = ["effects:destructive"]
wait = 0
[agent.clerk]
model = "toy"
base_url = "${env:MODEL_URL}"
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    (tmp_path / "shop_desk.py").write_text(TOOLS)
    (tmp_path / "pegboard.toml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    turns = [[("shop__find", {"name": "ann"})], [("shop__drop", {"user": "u-ann"})], "She is gone."]
    with serving(Scripted(turns)) as scripted:
        monkeypatch.setenv("MODEL_URL", scripted.url)
        yield scripted


def test_words_go_to_stdout_and_calls_to_stderr(model: Scripted, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["agent", "run", "clerk", "Drop ann.", "--yes"]) == 0
    out, err = capfd.readouterr()
    assert out == "She is gone.\n"
    for line in ('-> shop__find {"name":"ann"}', "<- shop.find ok", "<- shop.drop ok", "end_turn: 2 calls in 3 turns"):
        assert line in err


def test_without_a_yes_the_call_waits_and_the_model_is_told(model: Scripted, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["agent", "run", "clerk", "Drop ann.", "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert [call["ok"] for call in row["calls"]] == [True, False]
    assert row["calls"][1]["failure"] == "approval_needed"


def test_a_model_without_a_table_takes_its_limits_from_options(
    model: Scripted, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ["--model", "toy", "--base-url", model.url, "--tools", "shop.find", "--max-tool-calls", "1"]
    assert run(["agent", "run", *options, "--json", "Find ann."]) == 0
    assert [name for name in model.names(0) if "shop" in name] == ["shop__find"]
    assert json.loads(capfd.readouterr().out)["agent"] == "agent"


def test_a_run_that_was_stopped_ends_with_1(model: Scripted, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["agent", "run", "clerk", "Drop ann.", "--yes", "--max-turns", "1"]) == 1
    assert "max_turns: 1 call in 1 turn" in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["clark", "Drop ann."],
        ["clerk"],
        ["clerk", " "],
        [],
        ["clerk", "a", "b"],
        ["clerk", "a", "--tools", "effects:odd"],
    ],
)
def test_what_cannot_be_meant_ends_with_2(words: list[str], model: Scripted, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["agent", "run", *words]) == 2
    assert not model.requests
    assert capfd.readouterr().err
