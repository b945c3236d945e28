"""Calls as a tree: what was made inside stands below, with times, also in damaged traces."""

from pegboard.trace import CallRecord, Run
from pegboard.trace.tree import call_tree, span_of


def call(id, parent=None, started=None, seconds=None):
    return CallRecord(id=id, tool=f"t{id}", parent=parent, started=started, seconds=seconds)


def shape(rows):
    return [(row["id"], shape(row["calls"])) for row in rows]


def test_inner_calls_stand_below_their_parents_in_order():
    run = Run(id="r", calls=(call("a"), call("b", "a"), call("c", "b"), call("d", "a"), call("e")))
    assert shape(call_tree(run)) == [("a", [("b", [("c", [])]), ("d", [])]), ("e", [])]


def test_a_lost_parent_and_a_circle_lose_no_call():
    run = Run(id="r", calls=(call("a", "gone"), call("b", "c"), call("c", "b"), call("d", "d")))
    assert shape(call_tree(run)) == [("a", []), ("d", []), ("b", [("c", [])])]


def test_a_very_deep_chain_is_no_trouble():
    run = Run(id="r", calls=tuple(call(str(n), str(n - 1) if n else None) for n in range(2000)))
    assert call_tree(run)[0]["id"] == "0"


def test_times_are_told_where_they_are_known():
    run = Run(id="r", calls=(call("a", started=10.0, seconds=2.0), call("b"), call("c", started=9.5)))
    assert call_tree(run)[0]["ended"] == 12.0
    assert "ended" not in call_tree(run)[1]
    assert span_of(run) == {"started": 9.5, "ended": 12.0, "seconds": 2.5}
    assert span_of(Run(id="r"))["started"] is None
