"""From traces to a tool on the board: found, previewed, written, run against the traces, and taken back."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

TRACES = Path(__file__).parents[2] / "corpus" / "traces" / "tau1-retail.jsonl.gz"
TOOLS = {
    "find_user_id_by_name_zip": ("first_name", "last_name", "zip"),
    "find_user_id_by_email": ("email",),
    "get_user_details": ("user_id",),
    "get_order_details": ("order_id",),
    "get_product_details": ("product_id",),
    "list_all_product_types": (),
}


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A board whose upstream is made of the traces."""
    rows = [
        {
            "name": name,
            "inputSchema": {"type": "object", "properties": {p: {"type": "string"} for p in given}, "required": given},
        }
        for name, given in TOOLS.items()
    ]
    (tmp_path / "tools.json").write_text(json.dumps(rows))
    (tmp_path / "pegboard.toml").write_text(
        f'[sources.retail]\nrecorded = "tools.json"\nanswers = [{json.dumps(str(TRACES))}]\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pegboard(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return command


def found(pegboard: Any, kind: str) -> str:
    assert pegboard("insight", TRACES)[0] == 0
    rows = json.loads(pegboard("insight", "list", "--kind", kind, "--json")[1])["findings"]
    return rows[0]["id"]


def test_findings_are_kept_by_id(board: Path, pegboard: Any) -> None:
    id = found(pegboard, "bundle")
    shown = json.loads(pegboard("insight", "show", id[:10], "--json")[1])
    assert (shown["id"], shown["applied"], shown["sources"]) == (id, None, [str(TRACES)])
    code, _, err = pegboard("insight", "show", "bundle-none")
    assert (code, "bundle-" in err) == (2, True)


def test_a_preview_writes_nothing(board: Path, pegboard: Any) -> None:
    id = found(pegboard, "bundle")
    before = (board / "pegboard.toml").read_text()
    code, out, _ = pegboard("insight", "apply", id)
    assert (code, "[bundle." in out) == (0, True)
    assert (board / "pegboard.toml").read_text() == before
    assert not (board / "pegboard-cases").exists()


@pytest.mark.parametrize(("kind", "python"), [("bundle", False), ("batch", False), ("bundle", True)])
def test_what_was_applied_gives_what_the_old_sequence_gave(kind: str, python: bool, board: Path, pegboard: Any) -> None:
    id = found(pegboard, kind)
    before = (board / "pegboard.toml").read_text()
    code, out, _ = pegboard("insight", "apply", id, "--write", "--json", *(["--python"] if python else []))
    answer = json.loads(out)
    assert (code, answer["warnings"]) == (0, [])
    assert len(answer["cases"]) >= 3
    for case in answer["cases"]:
        code, out, _ = pegboard("call", answer["tool"], "--args", json.dumps(case["arguments"]), "--json")
        texts = json.dumps(json.loads(out)["value"])
        assert code == 0
        assert all(
            json.dumps(result)[1:-1] in texts or json.dumps(json.dumps(result))[1:-1] in texts
            for result in case["gives"]
        )
    old = json.loads(pegboard("describe", answer["replaces"][0][-1], "--json")[1])
    assert answer["tool"] in json.dumps(old)
    assert pegboard("insight", "undo", id)[0] == 0
    assert (board / "pegboard.toml").read_text() == before
    assert not list(board.glob("pegboard-cases/*")) and not list(board.glob("insight_*.py"))


def test_a_finding_of_a_file_is_applied_too(board: Path, pegboard: Any) -> None:
    (board / "f.json").write_text(pegboard("insight", TRACES, "--config", "elsewhere.toml", "--json")[1])
    id = next(row["id"] for row in json.loads((board / "f.json").read_text())["findings"] if row["kind"] == "batch")
    assert pegboard("insight", "apply", id, "--json")[0] == 2
    given = ("insight", "apply", id, "--findings", "f.json", "--traces", TRACES, "--write", "--json")
    answer = json.loads(pegboard(*given)[1])
    assert (answer["warnings"], len(answer["cases"]) > 0) == ([], True)


def test_a_file_that_was_changed_since_stays(board: Path, pegboard: Any) -> None:
    id = found(pegboard, "batch")
    pegboard("insight", "apply", id, "--write")
    [cases] = board.glob("pegboard-cases/*")
    cases.write_text("mine")
    code, _, err = pegboard("insight", "undo", id)
    assert (code, "it stays" in err, cases.read_text()) == (1, True, "mine")


def test_an_applied_finding_survives_the_next_report(board: Path, pegboard: Any) -> None:
    id = found(pegboard, "batch")
    pegboard("insight", "apply", id, "--write", "--name", "read_orders")
    pegboard("insight", TRACES)
    shown = json.loads(pegboard("insight", "show", id, "--json")[1])
    assert shown["applied"]["tool"] == "retail.read_orders"
    again = json.loads(pegboard("insight", "apply", id, "--write", "--json")[1])
    assert again["tool"] == "retail.get_orders_details"
    assert (board / "pegboard.toml").read_text().count("[batch.") == 1
