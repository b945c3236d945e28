"""How values flow between tools: the evidence for wiring the steps of a bundle, and for the flow graph.

Within a stretch, each call of a tool is looked at together with the blocks before it: how often a value of this
argument stood in that tool's result, or was an argument of that tool too. Over whole runs, where each argument's
values come from at all.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from pegboard.insight.flow import Origin, Use
from pegboard.insight.pattern import Pattern
from pegboard.insight.scalars import general, scalars
from pegboard.insight.shape import REACH, Span
from pegboard.insight.support import Support
from pegboard.insight.view import View
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord

_SEARCHED = 200_000
"""Longer results are not searched for the place of a value."""


class Wire(NamedTuple):
    """From a tool to an argument of another tool: `path` is the place in the arguments, such as `flights[].date`."""

    giver: str
    taker: str
    path: str


@dataclass(slots=True)
class Flows:
    """Counts of flows between tools.

    Parameters:
        support: by wire, the runs and tasks in which a value first seen in the giver's result came to the argument.
        calls: by (tool, path), of its values how many came from where (`Origin`), over all calls.
        together: by (giver, taker), the taker's calls with a block of the giver shortly before them in the stretch.
        given: by wire, of these the calls with a value that stood in the giver's result.
        shared: by wire and the giver's own path, of these the calls with a value that was the giver's argument too.
        places: by wire, where in the giver's structured result the values stood.
        patterns: by (tool, path), what the values look like.
        values: by (giver, path), how many different values the runs had, each run for itself.
        givers: by (giver, path), how many runs had one.
    """

    support: dict[Wire, Support] = field(default_factory=dict[Wire, Support])
    calls: dict[tuple[str, str], Counter[str]] = field(default_factory=dict[tuple[str, str], Counter[str]])
    together: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    given: Counter[Wire] = field(default_factory=Counter[Wire])
    shared: Counter[tuple[Wire, str]] = field(default_factory=Counter[tuple[Wire, str]])
    places: dict[Wire, Counter[str]] = field(default_factory=dict[Wire, Counter[str]])
    patterns: dict[tuple[str, str], Pattern] = field(default_factory=dict[tuple[str, str], Pattern])
    values: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    givers: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def observe(self, view: View) -> None:
        """Count the flows of one run."""
        calls = view.run.calls
        wires: set[Wire] = set()
        values: set[tuple[tuple[str, str], str]] = set()
        for place, uses in enumerate(view.uses):
            taker = calls[place].tool
            for use in uses:
                self._count_use(taker, use)
                if use.sources:
                    giver = calls[use.sources[0]].tool
                    wires.add(Wire(giver, taker, use.path))
                    values.add(((giver, use.path), use.text))
        for wire in wires:
            self.support.setdefault(wire, Support()).add(view.ref)
        self.values.update(key for key, _ in values)
        self.givers.update({key for key, _ in values})
        results = _Places(calls)
        for spans in view.spans:
            for index in range(1, len(spans)):
                self._count_near(view, spans, index, results)

    def _count_use(self, taker: str, use: Use) -> None:
        key = (taker, use.path)
        counts = self.calls.get(key)
        if counts is None:
            counts, self.patterns[key] = self.calls.setdefault(key, Counter()), Pattern()
        counts[use.origin] += 1
        if use.sources:
            self.patterns[key].add(use.text)

    def _count_near(self, view: View, spans: Sequence[Span], index: int, results: "_Places") -> None:
        calls = view.run.calls
        near = {place: calls[place].tool for back in spans[max(0, index - REACH) : index] for place in back.places}
        taker = calls[spans[index].places[0]].tool
        givers = sorted(set(near.values()))
        for place in spans[index].places:
            for giver in givers:
                self.together[giver, taker] += 1
            for path, uses in _by_path(view.uses[place]).items():
                for giver, source, text in _given(uses, near):
                    wire = Wire(giver, taker, path)
                    self.given[wire] += 1
                    found = results.find(source, text)
                    if found is not None:
                        self.places.setdefault(wire, Counter())[found] += 1
                for giver, argument in _shared(uses, near, view):
                    self.shared[Wire(giver, taker, path), argument] += 1

    def merge(self, other: Self) -> None:
        """Take in the flows of another part of the traces."""
        for wire, support in other.support.items():
            self.support.setdefault(wire, Support()).merge(support)
        for key, counts in other.calls.items():
            self.calls.setdefault(key, Counter()).update(counts)
        for wire, counts in other.places.items():
            self.places.setdefault(wire, Counter()).update(counts)
        for key, pattern in other.patterns.items():
            self.patterns.setdefault(key, Pattern()).merge(pattern)
        self.together.update(other.together)
        self.given.update(other.given)
        self.shared.update(other.shared)
        self.values.update(other.values)
        self.givers.update(other.givers)

    def paths(self, tool: str) -> list[str]:
        """The paths of a tool's arguments that were seen, sorted."""
        return sorted(path for name, path in self.calls if name == tool)

    def variety(self, giver: str, path: str) -> float:
        """How many different values of a giver go into arguments of this path, in the runs in which any does."""
        return self.values[giver, path] / max(1, self.givers[giver, path])

    def made_up(self, tool: str, path: str) -> float:
        """The share of an argument's values that neither a result, nor an earlier argument, nor the user had."""
        counts = self.calls[tool, path]
        return counts[Origin.NEW] / counts.total()


def _by_path(uses: Sequence[Use]) -> dict[str, list[Use]]:
    found: dict[str, list[Use]] = {}
    for use in uses:
        found.setdefault(use.path, []).append(use)
    return found


def _given(uses: Sequence[Use], near: Mapping[int, str]) -> Iterator[tuple[str, int, str]]:
    """Each near tool that gave one of the values, with the first of its calls that did, and the value."""
    seen: set[str] = set()
    for use in uses:
        for source in use.sources:
            giver = near.get(source)
            if giver is not None and giver not in seen:
                seen.add(giver)
                yield giver, source, use.text


def _shared(uses: Sequence[Use], near: Mapping[int, str], view: View) -> Iterator[tuple[str, str]]:
    """Each near tool that had one of the values as an argument, with its path there."""
    for use in uses:
        if use.argument is not None and use.argument in near:
            path = next((other.path for other in view.uses[use.argument] if other.text == use.text), None)
            if path is not None:
                yield near[use.argument], path
                return


class _Places:
    """Where values stand in structured results; each result is walked at most once."""

    def __init__(self, calls: Sequence[CallRecord]) -> None:
        self._calls = calls
        self._walked: dict[int, dict[str, str]] = {}

    def find(self, place: int, text: str) -> str | None:
        """The path of the value in the call's result; None where that is no structure that holds it."""
        walked = self._walked.get(place)
        if walked is None:
            walked = self._walked[place] = dict(_paths(_structure(self._calls[place].result)))
        return walked.get(text)


def _structure(result: Json) -> Json:
    if isinstance(result, str) and result[:1] in "{[" and result[-1:] in "}]" and len(result) <= _SEARCHED:
        try:
            return json.loads(result)
        except (ValueError, RecursionError):
            return None
    return result if not isinstance(result, str) else None


def _paths(structure: Json) -> Iterator[tuple[str, str]]:
    found: dict[str, str] = {}
    for path, text in scalars(structure):
        found.setdefault(text, general(path))
    yield from found.items()
