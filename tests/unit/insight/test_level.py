"""Only what agents chose is a habit: calls inside of composed tools are no sequence, those through `tool_call` are."""

from dataclasses import replace

from pegboard.insight.evidence import Evidence
from pegboard.insight.level import agent_level
from pegboard.insight.suggest import suggest
from pegboard.trace import CallRecord, Run

PAIR = "find(q=Ann{n})=U{n}7 > open(user=U{n}7)=ok"


def inside(run: Run) -> Run:
    """The run as a bundle would have made it: one call, and the rest inside of it."""
    top = CallRecord(id="top", tool="find_and_open", ok=True, turn=0, segment=1)
    inner = [replace(call, id=f"i{call.id}", parent="top", group="top", turn=None) for call in run.calls]
    return replace(run, calls=(top, *inner))


def through(run: Run) -> Run:
    """The run as made through the meta-tool: each call has a wrapper around it."""
    calls: list[CallRecord] = []
    for call in run.calls:
        wrapper = CallRecord(id=f"w{call.id}", tool="tool_call", ok=True, turn=call.turn, segment=1)
        calls += [wrapper, replace(call, parent=wrapper.id, group=None, turn=None, segment=0)]
    return replace(run, calls=tuple(calls))


def found(runs):
    evidence = Evidence()
    for run in runs:
        evidence.observe(run)
    return [(finding.kind.value, finding.tools) for finding in suggest(evidence)], evidence


def test_what_a_bundle_does_inside_is_not_proposed_again(runs):
    kinds, evidence = found(map(inside, runs(PAIR, 8)))
    assert kinds == []
    traffic = evidence.whole().traffic
    assert (traffic.tools["find"].calls, traffic.lengths) == (8, {1: 8})


def test_calls_through_the_meta_tool_are_the_calls_of_what_it_names(runs):
    kinds, _ = found(map(through, runs(PAIR, 8)))
    assert kinds == [("bundle", ("find", "open"))]


def test_calls_of_a_subagent_stay(runs):
    run = runs(PAIR, 1)[0]
    under = replace(run, calls=tuple(replace(call, parent="task") for call in run.calls))
    assert agent_level(under) == (under, ())
