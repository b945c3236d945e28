"""Before and after: whether runs take the new tool, how sure that is, and what kept the others."""

import pytest

from pegboard.insight.canonical import canonical_name, canonical_run
from pegboard.insight.interval import Share, apart
from pegboard.insight.offer import offer_of
from pegboard.insight.verify import Watch, verify
from pegboard.trace import CallRecord, Run

OFFER = offer_of([{"name": name} for name in ("find_user", "get_order", "get_user_with_orders")])
ROW = {
    "id": "bundle-1",
    "kind": "bundle",
    "tools": ["find_user", "get_order"],
    "replaces": [["find_user", "get_order"]],
}
OLD = "find_user(name=Ann{n})=u{n}x > get_order(user=u{n}x)=ok"
NEW = "get_user_with_orders(name=Ann{n})=ok"


def why(run, sequence):
    return "rank", f"{run.id}: {len(sequence)}"


@pytest.mark.requirement("C1.10")
def test_a_change_that_works_shows_in_shares_with_intervals(runs):
    answer = verify(Watch(ROW, "get_user_with_orders", OFFER), runs(OLD, 20), runs(NEW, 20), why)
    assert (answer.before.old, answer.before.new, answer.after.old, answer.after.new) == (20, 0, 0, 20)
    assert answer.verdict == "works"
    row = answer.to_json()
    assert (row["before"]["calls_a_run"], row["after"]["calls_a_run"]) == (2.0, 1.0)
    assert row["after"]["new"]["share"] == 1.0 and row["after"]["new"]["interval"][0] > 0.8


@pytest.mark.requirement("C1.10")
def test_runs_that_kept_the_old_way_are_named_with_the_reason(runs):
    answer = verify(Watch(ROW, "get_user_with_orders", OFFER), runs(OLD, 9), [*runs(NEW, 2), *runs(OLD, 3, 50)], why)
    assert [kept.run for kept in answer.kept] == ["r50", "r51", "r52"]
    assert answer.kept[0].tools == ("find_user", "get_order")
    assert answer.to_json()["reasons"] == {"rank": 3}
    assert answer.verdict == "partly"


def test_runs_without_the_choice_say_nothing(runs):
    answer = verify(Watch(ROW, "get_user_with_orders", OFFER), runs(OLD, 5), runs("note(x=1)=ok", 5), why)
    assert (answer.after.runs, answer.after.chances, answer.verdict) == (5, 0, "unseen")
    assert verify(Watch(ROW, "get_user_with_orders", OFFER), [], runs(OLD, 3), why).verdict == "ignored"


def test_calls_inside_the_new_tool_are_not_the_old_sequence(run):
    inner = run(OLD.replace("{n}", "1"))
    calls = [CallRecord(id="top", tool="get_user_with_orders", ok=True, turn=1, segment=1)]
    calls += [
        CallRecord(id=f"top/{call.id}", tool=call.tool, arguments=call.arguments, ok=True, parent="top", segment=1)
        for call in inner.calls
    ]
    answer = verify(Watch(ROW, "get_user_with_orders", OFFER), [], [Run(id="r", calls=tuple(calls))], why)
    assert (answer.after.new, answer.after.old, answer.after.calls) == (1, 0, 1)


def test_tools_are_known_under_every_clients_spelling():
    for name in ("find_user", "mcp__shop__find_user", "shop__find_user"):
        assert canonical_name(name, OFFER) == "find_user"
    assert canonical_name("unheard_of", OFFER) == "unheard_of"
    wrapped = CallRecord(id="1", tool="tool_call", arguments={"name": "find_user", "arguments": {"name": "x"}})
    inner = CallRecord(id="2", tool="find_user", parent="1")
    [only] = canonical_run(Run(id="r", calls=(wrapped, inner)), OFFER).calls
    assert (only.tool, only.arguments) == ("find_user", {"name": "x"})


def test_shares_of_few_cases_are_not_told_apart():
    assert not apart(Share(0, 3), Share(3, 3))
    assert apart(Share(0, 20), Share(20, 20))
    assert (str(Share(0, 0)), Share(0, 0).interval) == ("none seen", (0.0, 1.0))
