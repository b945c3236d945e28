"""An agent of Runtype is taken over from the command line, and given back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run
from pegboard.config import load

Pegboard = Callable[..., tuple[int, Any, str]]
AGENT = {
    "name": "Clerk",
    "config": {
        "model": "gpt-4o",
        "systemPrompt": "Keep order.",
        "temperature": 0.1,
        "tools": {
            "toolIds": ["tool_9f8e7d6c"],
            "runtimeTools": [
                {
                    "name": "add",
                    "description": "Add two numbers.",
                    "toolType": "custom",
                    "parametersSchema": {"type": "object", "properties": {"a": {"type": "number"}}},
                    "config": {"code": "return input.a + 1;"},
                }
            ],
            "approval": {"require": ["delete_*"]},
            "maxToolCalls": 4,
        },
    },
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "pegboard.toml").write_text('[approval] # who says yes\nrequire = ["bank.*"]\n')
    (tmp_path / "clerk.json").write_text(json.dumps(AGENT))
    return tmp_path


@pytest.fixture
def pegboard(home: Path, capsys: pytest.CaptureFixture[str]) -> Pegboard:
    def command(*arguments: str) -> tuple[int, Any, str]:
        code = run([*arguments, "--config", str(home), "--json"])
        seen = capsys.readouterr()
        return code, json.loads(seen.out), seen.err

    return command


@pytest.mark.requirement("R8.1")
def test_an_agent_is_taken_over_and_comes_back_to_the_letter(pegboard: Pegboard, home: Path) -> None:
    file = str(home / "clerk.json")
    code, refused, _ = pegboard("agent", "import", file, "--write")
    assert code == 1
    assert "--map tool_9f8e7d6c=TOOL" in str(refused["findings"])
    code, taken, _ = pegboard("agent", "import", file, "--map", "tool_9f8e7d6c=crm.find", "--write")
    assert (code, taken["name"]) == (0, "clerk")
    text = (home / "pegboard.toml").read_text()
    assert text.startswith("[approval] # who says yes\n")
    config = load(home)
    assert config.tables["approval"]["require"] == ("bank.*", "delete_*")
    assert config.tables["agent"]["clerk"]["tools"] == ("crm.find", "clerk.add")
    code, back, _ = pegboard("agent", "export", "clerk")
    assert (code, back["as_it_was"], back["agent"]) == (0, True, AGENT)
    (home / "pegboard.toml").write_text(text.replace("max_tool_calls = 4", "max_tool_calls = 9"))
    code, changed, _ = pegboard("agent", "export", "clerk")
    assert (code, changed["as_it_was"]) == (0, False)
    assert changed["agent"]["config"]["tools"]["maxToolCalls"] == 9
    assert "ORIGIN_OUTDATED" in {one["code"] for one in changed["findings"]}


def test_without_write_nothing_is_written(pegboard: Pegboard, home: Path) -> None:
    before = {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}
    code, shown, _ = pegboard("agent", "import", str(home / "clerk.json"), "--map", "tool_9f8e7d6c=crm.find")
    assert (code, shown["written"], shown["board"]) == (0, False, {"approval": {"require": ["delete_*"]}})
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()} == before


def test_what_stands_in_the_config_otherwise_is_told_and_left(pegboard: Pegboard, home: Path) -> None:
    (home / "pegboard.toml").write_text("[approval]\ntimeout = 60\n")
    agent = {"name": "a", "config": {"model": "m:x", "tools": {"approval": {"require": True, "timeout": 5000}}}}
    (home / "clerk.json").write_text(json.dumps(agent))
    code, taken, _ = pegboard("agent", "import", str(home / "clerk.json"), "--write")
    assert code == 0
    [left] = taken["left"]
    assert "timeout" in left
    assert load(home).tables["approval"]["timeout"] == 60


def test_people_read_what_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["agent", "import", str(home / "clerk.json"), "--config", str(home)]) == 1
    said = capsys.readouterr().err
    assert "refused TOOL_ID_NOT_PORTABLE at /config/tools/toolIds/0" in said
    assert "dropped KEY_WITHOUT_EFFECT at /config/temperature" in said
    assert "Nothing is taken over." in said


@pytest.mark.parametrize(("document", "verb"), [(AGENT, "agent"), ({"name": "f", "steps": []}, "chain")])
def test_the_verb_for_clients_points_to_the_one_that_takes_it_over(
    pegboard: Pegboard, home: Path, document: Any, verb: str
) -> None:
    (home / "it.json").write_text(json.dumps(document))
    code, problem, _ = pegboard("import", str(home / "it.json"))
    assert code == 2
    assert f"pegboard {verb} import" in problem["error"]["next_step"]
