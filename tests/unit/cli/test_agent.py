"""`pegboard agent eval`, `pegboard test`, `pegboard insight verify`: tables, JSON, JUnit and exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

ORDERS = """
from pegboard import tool

@tool(effects="read_only", examples=[{"name": "Ann1"}])
async def find_user(name: str) -> str:
    "Find a user by name."
    return f"u-{name}"

@tool(effects="read_only")
async def get_order(user: str) -> dict:
    "Get the order of a user."
    return {"user": user, "total": 3}

@tool(effects="destructive")
async def drop(user: str) -> str:
    "Delete a user."
    raise RuntimeError("it ran")
"""


def old_run(number: int, **more: Any) -> dict[str, Any]:
    calls = [
        {
            "tool": "shop.find_user",
            "args": {"name": f"Ann{number}"},
            "result_excerpt": f"u-Ann{number}",
            "ok": True,
            "turn": 1,
        },
        {
            "tool": "shop.get_order",
            "args": {"user": f"u-Ann{number}"},
            "ok": True,
            "turn": 2,
            "result_excerpt": json.dumps({"user": f"u-Ann{number}", "total": 3}),
        },
    ]
    return {"run_id": f"old-{number}", "task": f"t{number}", "calls": calls, **more}


def new_run(number: int, tool: str) -> dict[str, Any]:
    call = {"tool": tool, "args": {"name": f"Ann{number}"}, "ok": True, "turn": 1, "result_excerpt": "{}"}
    return {"run_id": f"new-{number}", "task": f"t{number}", "calls": [call]}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop_tools.py").write_text(ORDERS)
    (tmp_path / "pegboard.toml").write_text('[sources.shop]\npython = "shop_tools"\n')
    write(tmp_path / "old.jsonl", [old_run(number) for number in range(12)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, runs: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in runs))
    return path


@pytest.fixture
def pegboard(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: object) -> tuple[int, Any, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        out: Any = json.loads(captured.out) if "--json" in arguments else captured.out
        return code, out, captured.err

    return command


def test_a_suite_is_judged_on_recorded_transcripts(shop: Path, pegboard: Any) -> None:
    (shop / "suite.toml").write_text(
        '[[tasks]]\nid = "t1"\nmust_use = ["shop.find_user"]\n[[tasks]]\nid = "t2"\nat_most = 1\n'
    )
    code, answer, _ = pegboard(
        "agent", "eval", "suite.toml", "--transcripts", "old.jsonl", "--junit", "j.xml", "--json"
    )
    assert code == 1
    assert [row["passed"] for row in answer["outcomes"]] == [True, False]
    assert len(answer["unmatched"]) == 10
    assert 'failures="1"' in (shop / "j.xml").read_text()
    code, out, err = pegboard("agent", "eval", "suite.toml", "--transcripts", "old.jsonl")
    assert (code, "FAILED" in out, "1 of 2" in err) == (1, True, True)
    assert pegboard("agent", "eval", "suite.toml")[0] == 2
    assert pegboard("agent", "eval", "suite.toml", "--model", "m")[0] == 2


@pytest.mark.requirement("C1.9")
def test_one_tool_is_run_alone_on_its_examples_and_on_traces(shop: Path, pegboard: Any) -> None:
    code, answer, _ = pegboard("test", "shop.find_user", "--traces", "old.jsonl", "--json")
    assert (code, answer["passed"], answer["examples"]) == (0, 12, 12)
    assert {row["origin"] for row in answer["outcomes"]} == {"example", "trace"}
    changed = [old_run(1)]
    changed[0]["calls"][1]["result_excerpt"] = json.dumps({"user": "u", "total": "three", "note": ""})
    write(shop / "changed.jsonl", changed)
    code, answer, _ = pegboard("test", "get_order", "--traces", "changed.jsonl", "--json")
    assert code == 1
    assert answer["outcomes"][0]["faults"] == ["/total was a text and is a number", "/note is gone"]


@pytest.mark.requirement("C1.9")
def test_a_tool_that_changes_something_is_only_checked_unless_told_otherwise(shop: Path, pegboard: Any) -> None:
    assert pegboard("test", "drop")[0] == 1  # no example is no proof
    calls = [{"tool": "shop.drop", "args": {"user": "u"}, "ok": True, "result_excerpt": "gone"}]
    write(shop / "drop.jsonl", [{"run_id": "1", "calls": calls}])
    code, answer, _ = pegboard("test", "drop", "--traces", "drop.jsonl", "--json")
    assert (code, answer["mode"]) == (0, "dry_run")
    assert pegboard("test", "drop", "--traces", "drop.jsonl", "--execute")[0] == 1
    assert pegboard("test", "nonsense")[0] == 2


@pytest.mark.requirement("C1.10")
def test_a_change_is_verified_by_new_traces_and_a_suite(shop: Path, pegboard: Any) -> None:
    pegboard("insight", "old.jsonl")
    kept = pegboard("insight", "list", "--kind", "bundle", "--json")[1]["findings"]
    id = kept[0]["id"]
    code, _, err = pegboard("insight", "verify", id)
    assert (code, "not applied" in err) == (2, True)
    tool = pegboard("insight", "apply", id, "--write", "--json")[1]["tool"]
    write(shop / "new.jsonl", [new_run(number, tool) for number in range(12)])
    (shop / "suite.toml").write_text(f'[[tasks]]\nid = "t1"\nmust_use = ["{tool}"]\nat_most = 1\n')
    code, answer, _ = pegboard("insight", "verify", id, "--traces", "new.jsonl", "--suite", "suite.toml", "--json")
    assert (code, answer["verdict"], answer["suite"]["passed"]) == (0, "works", 1)
    assert (answer["before"]["old"]["runs"], answer["after"]["new"]["runs"]) == (12, 12)
    code, answer, _ = pegboard("insight", "verify", id, "--traces", "old.jsonl", "--json")
    assert (code, answer["verdict"], answer["reasons"]) == (1, "ignored", {"description": 12})
    code, out, err = pegboard("insight", "verify", id, "--traces", "old.jsonl")
    assert (code, "12 of 12" in out, "No run took it" in err) == (1, True, True)
