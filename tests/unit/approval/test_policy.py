"""The first rule that fits decides; foreign tools may warn of themselves, but never talk themselves free."""

from typing import Any

import pytest

from pegboard.approval.policy import Action, Policy, is_harmless, judge
from pegboard.config import InvalidConfigError
from pegboard.config.load import parse
from pegboard.core import Effects, Mode, SourceRef, ToolName, ToolSpec, with_modes
from pegboard.core.mode import with_own_modes


def tool(name: str = "bank.pay", effects: Effects = Effects.DESTRUCTIVE, kind: str = "mcp", **more: Any) -> ToolSpec:
    full = ToolName.parse(name)
    return ToolSpec(name=full, effects=effects, source=SourceRef(full.namespace, kind), **more)


def policy(tmp_path: Any, **table: Any) -> Policy:
    return Policy.of(parse({"approval": table}, folder=tmp_path).tables["approval"])


def decided(policy: Policy, spec: ToolSpec, mode: Mode = Mode.EXECUTE, **arguments: Any) -> str:
    return judge(policy.plan(spec), spec, mode, arguments).action.value


@pytest.mark.requirement("C5.2")
@pytest.mark.parametrize(
    ("spec", "action"),
    [
        (tool(), "ask"),
        (tool(effects=Effects.UNKNOWN), "allow"),
        (tool(effects=Effects.READ_ONLY), "allow"),
        (tool(effects=Effects.ADDITIVE), "allow"),
        (tool(kind="python"), "allow"),
        (tool(kind="openapi"), "allow"),
        (with_modes(tool(kind="openapi"), [Mode.PREVIEW]), "allow"),
        (tool(annotations={"openWorldHint": True}, effects=Effects.UNKNOWN), "allow"),
    ],
)
def test_by_default_only_a_foreign_tool_that_destroys_without_a_preview_asks(
    tmp_path: Any, spec: ToolSpec, action: str
) -> None:
    assert decided(policy(tmp_path), spec) == action


@pytest.mark.requirement("R8.1")
@pytest.mark.parametrize(
    ("require", "asks"),
    [
        (["delete_files"], {"files.delete_files"}),
        (["mcp:*"], {"git.push", "git.log"}),
        (["*.delete_*", "effects:unknown"], {"files.delete_files", "git.log"}),
        (["*", "!git.*"], {"files.delete_files", "files.list"}),
        (["effects:read_only"], {"files.list"}),
    ],
)
def test_require_gates_what_it_names_or_matches(tmp_path: Any, require: list[str], asks: set[str]) -> None:
    specs = [
        tool("files.delete_files", kind="python"),
        tool("files.list", Effects.READ_ONLY, "python"),
        tool("git.push", Effects.ADDITIVE),
        tool("git.log", Effects.UNKNOWN),
    ]
    rules = policy(tmp_path, require=require, destructive="allow")
    assert {str(spec.name) for spec in specs if decided(rules, spec) == "ask"} == asks


def test_the_first_that_fits_decides(tmp_path: Any) -> None:
    rows = [
        {"action": "allow", "tools": ["bank.pay"], "when": "input.amount <= 10"},
        {"action": "deny", "tools": "bank.pay", "when": "input.amount > 1000", "name": "too much"},
    ]
    rules = policy(tmp_path, rules=rows, require=["bank.*"], deny=["bank.close"], allow=["*"])
    assert [decided(rules, tool(), amount=amount) for amount in (10, 11, 1001)] == ["allow", "ask", "deny"]
    assert decided(rules, tool("bank.close")) == "deny"
    assert decided(rules, tool("shop.delete")) == "allow"


@pytest.mark.parametrize(("action", "outcome"), [("allow", "ask"), ("ask", "ask"), ("deny", "deny")])
def test_a_condition_that_cannot_be_judged_never_lets_a_call_pass(tmp_path: Any, action: str, outcome: str) -> None:
    rules = policy(tmp_path, rules=[{"action": action, "tools": ["bank.pay"], "when": "input.amount < 5"}])
    assert decided(rules, tool(), sum=1) == outcome
    assert decided(rules, tool(), amount="much") == outcome


@pytest.mark.parametrize(
    ("table", "unknown", "open_world"),
    [
        ({"unknown": "ask"}, "ask", "ask"),
        ({"open_world": "deny"}, "allow", "deny"),
        ({"unknown": "ask", "open_world": "deny"}, "ask", "deny"),
        ({"unknown": "deny", "open_world": "ask"}, "deny", "deny"),
    ],
)
def test_of_the_defaults_the_strictest_holds(tmp_path: Any, table: Any, unknown: str, open_world: str) -> None:
    rules = policy(tmp_path, **table)
    assert decided(rules, tool(effects=Effects.UNKNOWN)) == unknown
    assert decided(rules, tool(effects=Effects.UNKNOWN, annotations={"openWorldHint": True})) == open_world
    assert decided(rules, tool(effects=Effects.UNKNOWN, kind="python")) == "allow"


@pytest.mark.requirement("R8.3")
def test_modes_that_do_nothing_run_without_a_yes_where_they_are_our_own(tmp_path: Any) -> None:
    rules = policy(tmp_path, require=["*"])
    ours, theirs = with_modes(tool(kind="python"), [Mode.PREVIEW]), with_own_modes(tool(), [Mode.PREVIEW])
    assert decided(rules, ours, Mode.PREVIEW) == "allow"
    assert decided(rules, ours, Mode.EXECUTE) == "ask"
    assert decided(rules, theirs, Mode.PREVIEW) == "ask"
    assert decided(rules, tool(), Mode.DRY_RUN) == "allow"
    # The preview of a tool that only reads is the tool itself.
    assert not is_harmless(tool(effects=Effects.READ_ONLY), Mode.PREVIEW)


def test_a_denied_tool_is_not_previewed_and_a_rule_may_name_modes(tmp_path: Any) -> None:
    spec = with_modes(tool(kind="python"), [Mode.PREVIEW])
    assert decided(policy(tmp_path, deny=["bank.*"]), spec, Mode.PREVIEW) == "deny"
    named = policy(tmp_path, rules=[{"action": "ask", "modes": ["preview"]}])
    assert [decided(named, spec, mode) for mode in (Mode.PREVIEW, Mode.EXECUTE)] == ["ask", "allow"]


def test_meta_tools_are_never_judged_and_free_tools_have_no_plan(tmp_path: Any) -> None:
    rules = policy(tmp_path, require=["*"], unknown="ask")
    assert rules.plan(tool("tool_call", Effects.UNKNOWN, "meta")) == ()
    assert policy(tmp_path).plan(tool(effects=Effects.UNKNOWN)) == ()
    assert policy(tmp_path, allow=["*"]).plan(tool()) == ()


@pytest.mark.parametrize(
    ("table", "where", "step"),
    [
        ({"require": ["effects:destroying"]}, "approval.require[0]", "destructive"),
        ({"destructive": "aks"}, "approval.destructive", '"ask"'),
        ({"rules": [{"action": "ask"}, {"tools": ["a"]}]}, "approval.rules[1]", "action"),
        ({"rules": [{"action": "forbid"}]}, "approval.rules[0].action", "allow or ask or deny"),
        ({"rules": [{"action": "ask", "tool": ["a"]}]}, "approval.rules[0].tool", "tools"),
        ({"rules": [{"action": "ask", "tools": [1]}]}, "approval.rules[0].tools", "git.*"),
        ({"rules": [{"action": "ask", "when": "input."}]}, "approval.rules[0].when", ""),
        ({"rules": [{"action": "ask", "effects": "danger"}]}, "approval.rules[0].effects", "destructive"),
        ({"rules": [{"action": "ask", "open_world": "yes"}]}, "approval.rules[0].open_world", "true or false"),
        ({"approve": ["*"]}, "approval.approve", "require"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(tmp_path: Any, table: Any, where: str, step: str) -> None:
    with pytest.raises(InvalidConfigError) as refused:
        parse({"approval": table}, folder=tmp_path)
    [problem] = refused.value.problems
    assert problem.key == where
    assert step in problem.next_step


def test_actions_are_ordered_by_strictness() -> None:
    assert list(Action) == [Action.ALLOW, Action.ASK, Action.DENY]
