"""The calls of a run as a tree: what a call made inside stands below it."""

from collections.abc import Sequence
from typing import Any

from pegboard.trace.plain import call_to_json
from pegboard.trace.record import CallRecord, Run


def call_tree(run: Run) -> list[dict[str, Any]]:
    """The calls that the model made, in order, each with `ended` where times are known, and with its own `calls`.

    A call whose parent is not in the run, or is in a damaged trace its own ancestor, stands at the top.
    """
    known = {call.id for call in run.calls}
    children: dict[str | None, list[CallRecord]] = {}
    for call in run.calls:
        children.setdefault(call.parent if call.parent in known and call.parent != call.id else None, []).append(call)
    top: list[dict[str, Any]] = []
    _hang(children.pop(None, []), top, children)
    for call in run.calls:
        if children.get(call.parent):  # in a circle, which no other call leads into
            _hang([call], top, children)
    return top


def _hang(
    calls: Sequence[CallRecord], into: list[dict[str, Any]], children: dict[str | None, list[CallRecord]]
) -> None:
    """Put calls with all that they made into a list."""
    todo = [(call, into) for call in reversed(calls)]
    hung = set[int]()
    while todo:
        call, rows = todo.pop()
        if id(call) in hung:
            continue
        hung.add(id(call))
        inner: list[dict[str, Any]] = []
        rows.append({**call_to_json(call), **_ended(call), "calls": inner})
        todo += [(each, inner) for each in reversed(children.pop(call.id, []))]


def span_of(run: Run) -> dict[str, float | None]:
    """When a run began and ended, and how long it took, as far as times are known."""
    starts = [call.started for call in run.calls if call.started is not None]
    ends = [call.started + (call.seconds or 0.0) for call in run.calls if call.started is not None]
    if not starts:
        return {"started": None, "ended": None, "seconds": None}
    return {"started": min(starts), "ended": max(ends), "seconds": max(ends) - min(starts)}


def _ended(call: CallRecord) -> dict[str, float]:
    return {"ended": call.started + call.seconds} if call.started is not None and call.seconds is not None else {}
