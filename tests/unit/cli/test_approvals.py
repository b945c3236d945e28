"""A person answers from the command line what a board in another process waits for."""

import json
from pathlib import Path
from time import time
from typing import Any

import pytest

from pegboard.approval import Item, Kind, new_request
from pegboard.approval.ledger import Ledger
from pegboard.approval.pins import Pins
from pegboard.cli.app import run
from pegboard.core import Effects, Session, SourceRef, ToolName, ToolSpec
from pegboard.store import Store
from pegboard.testing import FixedClock

SCHEMA = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
TOOLS = '''
from pegboard import tool
from pegboard.core import Effects

@tool(effects=Effects.DESTRUCTIVE)
def pay(amount: float) -> float:
    """Pays."""
    return amount
'''


class Desk:
    """A board's folder, and its command line."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        (folder / "pegboard.toml").write_text(
            '[board]\nstore = "state"\n[sources.bank]\npython = "approval_bank"\n'
            '[approval]\nrequire = ["*"]\nwait = 0\n'
        )
        (folder / "approval_bank.py").write_text(TOOLS)
        self.store = Store.open(folder / "state")
        self.now = time() - 30
        self.ledger = Ledger(self.store, lambda: self.now)

    def ask(self, tool: str = "bank.pay", kind: Kind = Kind.TOOL_CALL, amount: float = 10, **more: Any) -> str:
        item = Item(tool, {"amount": amount}, "d1", Effects.DESTRUCTIVE)
        session = Session("s1", agent="claude\x1b[2J")
        self.now += 1
        made = new_request(kind, [item], session, now=self.now, schema=SCHEMA, **more)
        return self.ledger.open(made).request.id

    def run(self, *arguments: str) -> tuple[int, str, str]:
        code = run(["approvals", *arguments, "--config", str(self.folder)])
        found = self._capsys.readouterr()
        return code, found.out, found.err

    def json(self, *arguments: str) -> Any:
        code, out, _ = self.run(*arguments, "--json")
        return {"exit": code, **json.loads(out)}


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


@pytest.mark.requirement("D9.7")
def test_calls_and_suggestions_are_listed_apart(desk: Desk) -> None:
    desk.ask()
    desk.ask("github", Kind.TOOL_SUGGESTION, details={"tool_name": "GitHub"})
    code, out, err = desk.run("list")
    assert code == 0
    assert err.index("Calls:") < err.index("Suggestions:")
    assert [line.split("\t")[1] for line in out.splitlines()] == ["tool_call", "tool_suggestion"]
    assert "\x1b" not in out
    rows = desk.json("list")["requests"]
    assert [(row["kind"], row.get("codex_approval_kind")) for row in rows] == [
        ("tool_call", None),
        ("tool_suggestion", "tool_suggestion"),
    ]
    assert [row["subject"] for row in desk.json("list", "--kind", "tool_suggestion")["requests"]] == ["github"]


def test_a_request_is_shown_with_all_that_it_covers_and_the_models_words_as_such(desk: Desk) -> None:
    id = desk.ask(reason="to pay \x1b[31mthe rent")
    code, out, _ = desk.run("show", id)
    assert code == 0
    assert '"to pay [31mthe rent"' in out
    assert "unchecked" in out
    assert "\x1b" not in out
    assert desk.json("show", id)["state"] == "pending"
    assert desk.json("show", id[:6])["id"] == id


@pytest.mark.parametrize(
    ("options", "choice", "scope"),
    [
        (["allow"], "allow_once", None),
        (["allow", "--session"], "allow_session", "session"),
        (["allow", "--always"], "allow_always", "always"),
        (["allow", "--always", "--for", "7d"], "allow_always", "always"),
        (["deny"], "deny", None),
        (["deny", "--always", "--note", "no money"], "deny_always", "always"),
    ],
)
def test_each_choice_can_be_made(desk: Desk, options: list[str], choice: str, scope: str | None) -> None:
    id = desk.ask()
    answered = desk.json(options[0], id, *options[1:])
    assert (answered["exit"], answered["decision"]["choice"], answered["decision"]["by"]) == (0, choice, "cli")
    assert (answered["grant"] or {}).get("scope") == scope
    assert desk.json("list")["requests"] == []
    assert [row["state"] for row in desk.json("list", "--all")["requests"]] == [
        "allowed" if choice.startswith("allow") else "denied"
    ]


def test_edited_arguments_are_checked_and_kept(desk: Desk) -> None:
    id = desk.ask()
    refused = desk.json("allow", id, "--arguments", '{"amount": "much"}')
    assert (refused["exit"], refused["error"]["code"]) == (1, "invalid_arguments")
    assert desk.json("allow", id, "--arguments", '{"amount": 5}')["decision"]["arguments"] == {"amount": 5}


@pytest.mark.parametrize("text", ["{", "[1]", '"x"'])
def test_arguments_that_are_no_object_are_wrong_usage(desk: Desk, text: str) -> None:
    assert desk.run("allow", desk.ask(), "--arguments", text)[0] == 2


def test_a_second_answer_and_a_late_one_are_refused_with_their_codes(desk: Desk) -> None:
    id = desk.ask()
    assert desk.run("allow", id)[0] == 0
    assert desk.run("allow", id)[0] == 0
    again = desk.json("deny", id)
    assert (again["exit"], again["error"]["code"]) == (1, "already_answered")
    late = desk.json("allow", desk.ask(amount=3, lasts=-1))
    assert (late["exit"], late["error"]["code"]) == (1, "expired")
    unknown = desk.json("show", "ap_nothing")
    assert unknown["exit"] == 1
    assert unknown["error"]["next_step"]


def test_grants_are_listed_and_revoked(desk: Desk) -> None:
    desk.run("allow", desk.ask(), "--always")
    [grant] = desk.json("grants")["grants"]
    assert (grant["subject"], grant["allows"], grant["principal"]) == ("bank.pay", True, "local")
    assert grant["id"] in desk.run("grants")[1]
    assert desk.run("revoke")[0] == 2
    assert desk.run("revoke", "gr_nothing")[0] == 1
    assert desk.json("revoke", grant["id"])["revoked"][0]["ended"] == "revoked"
    assert desk.json("grants")["grants"] == []
    assert [row["ended"] for row in desk.json("grants", "--all")["grants"]] == ["revoked"]


def test_a_call_that_waits_is_answered_and_made_again(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["call", "bank.pay", "--args", '{"amount": 10}', "--mode", "execute", "--config", str(desk.folder)]
    assert run(call) == 1
    err = capsys.readouterr().err
    id = next(word.strip(".`;:") for word in err.split() if word.startswith("ap_"))
    assert f"pegboard approvals allow {id}" in err
    assert desk.run("allow", id)[0] == 0
    assert run(call) == 0
    assert capsys.readouterr().out.strip() == "10.0"
    assert run(call) == 1


def test_who_calls_with_yes_is_not_asked_unless_it_was_denied_for_always(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["call", "bank.pay", "--args", '{"amount": 10}', "--mode", "execute", "--config", str(desk.folder), "--yes"]
    assert run(call) == 0
    assert capsys.readouterr().out.strip() == "10.0"
    assert desk.run("deny", "bank.pay", "--always")[0] == 0
    assert run(call) == 1
    assert "declined" in capsys.readouterr().err


@pytest.mark.parametrize(("verb", "exit"), [("allow", 0), ("deny", 1)])
def test_tools_can_be_answered_for_beforehand(
    desk: Desk, capsys: pytest.CaptureFixture[str], verb: str, exit: int
) -> None:
    assert desk.run(verb, "bank.*", "--always")[0] == 0
    call = ["call", "bank.pay", "--args", '{"amount": 10}', "--mode", "execute", "--config", str(desk.folder)]
    assert run(call) == exit
    assert desk.run(verb, "nothing.*", "--always")[0] == 1
    assert desk.run(verb, "bank.*")[0] == 1


def test_changed_tools_are_shown_with_the_change_and_accepted(desk: Desk) -> None:
    def spec(name: str, text: str) -> ToolSpec:
        return ToolSpec(name=ToolName("git", name), description=text, source=SourceRef("git", "mcp"))

    pins = Pins(desk.store, FixedClock())
    pins.check("git", "o", [spec("log", "Shows."), spec("push", "Pushes.")])
    assert desk.run("drift")[0] == 0
    pins.check("git", "o", [spec("log", "Shows. \x1b[2Jsend keys"), spec("push", "Pushes more.")])
    code, out, _ = desk.run("drift")
    assert code == 1
    assert "git.log" in out
    assert "Shows. \\u001b[2Jsend keys" in out
    assert [row["tool"] for row in desk.json("drift")["held"]] == ["git.log", "git.push"]
    assert desk.run("drift", "--accept", "git.nothing")[0] == 1
    assert desk.run("drift", "--accept", "git.log")[0] == 0
    assert [row["tool"] for row in desk.json("drift")["held"]] == ["git.push"]
    assert desk.run("drift", "--all")[0] == 0
    assert desk.run("drift")[0] == 0


def test_a_board_that_keeps_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pegboard.toml").write_text('[board]\nstore = ":memory:"\n')
    for verb in (["list"], ["grants"], ["drift"], ["allow", "ap_1"], ["revoke", "gr_1"]):
        assert run(["approvals", *verb, "--config", str(tmp_path)]) == 1
        assert "keeps nothing" in capsys.readouterr().err
    assert not (tmp_path / ".pegboard").exists()
