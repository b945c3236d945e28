"""Suggestions are replayed on runs without claiming more than they save."""

import pytest

from pegboard.errors import PegboardError
from pegboard.insight.replay import Plan, plan_from_json, replay
from pegboard.insight.view import look_at

PLAN = Plan(
    chains={("a", "b", "c"): "abc", ("a", "b"): "abc"},
    batches={"get": "many", "b": "bs"},
    pairs={frozenset(("x", "y")): "xy"},
)


@pytest.mark.parametrize(
    ("calls", "after_calls", "after_turns", "by"),
    [
        ("a > b > c", 1, 1, ["abc"]),
        ("a > b | c", 2, 2, ["abc"]),
        ("a > b! > c", 3, 3, []),
        ("a > b(i=P1) & b(i=P2) > c", 1, 1, ["abc"]),
        ("b(i=P1) & b(i=P2)", 1, 1, ["bs"]),
        ("l=P11 P12 > get(i=P11) > get(i=P12)", 2, 2, ["many"]),
        ("l=P11 P12 > get(i=P11) & get(i=P12)", 2, 2, ["many"]),
        ("l=P11 P12 > get(i=P11) > get(i=P12) & z", 3, 3, ["many"]),
        ("get(i=P11) > get(i=P11)", 2, 2, []),
        ("x(q=one) > y(q=one)", 1, 1, ["xy"]),
        ("x(q=one) > y(q=two)", 2, 2, []),
        ("a & z > b", 3, 2, []),
        ("z & a > b", 2, 1, ["abc"]),
    ],
)
def test_what_a_plan_saves(run, calls, after_calls, after_turns, by):
    outcome = replay(look_at(run(calls)).shape, PLAN)
    assert (outcome.calls[1], outcome.turns[1], [cut.finding for cut in outcome.cuts]) == (after_calls, after_turns, by)


def test_what_is_no_list_of_findings_is_refused():
    with pytest.raises(PegboardError, match="findings"):
        plan_from_json({"runs": 3})
