"""How values flow between tools: the evidence for wiring the steps of a bundle, and for the flow graph.

Within a stretch, each call of a tool is looked at together with the blocks before it: how often a value of this
argument stood in that tool's result, or was an argument of that tool too. Over whole runs, where each argument's
values come from at all.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeAlias

from pegboard.insight.flow import Origin, Use
from pegboard.insight.pattern import Pattern
from pegboard.insight.scalars import general, scalars
from pegboard.insight.shape import REACH, Span
from pegboard.insight.support import Support
from pegboard.insight.view import View
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord

WHOLE = "$"
"""The place of a value that is the whole result."""

_SEARCHED = 200_000
"""Longer results are not searched for the place of a value."""


Wire: TypeAlias = tuple[str, str, str]
"""Giver, taker and path: from a tool's results to an argument of another, such as `flights[].date`."""


# Reading a member from its class costs more than all else that is done with it here.
_RESULT, _, _USER, _NEW, _SHORT = Origin


@dataclass(slots=True)
class Argument:
    """Where the values of one argument of a tool came from, over all calls, and what those from results look like."""

    result: int = 0
    argument: int = 0
    user: int = 0
    new: int = 0
    short: int = 0
    pattern: Pattern = field(default_factory=Pattern)

    def add(self, use: Use) -> None:
        """Count a value."""
        origin = use.origin
        if origin is _RESULT:
            self.result += 1
            self.pattern.add(use.text)
        elif origin is _NEW:
            self.new += 1
        elif origin is _SHORT:
            self.short += 1
        elif origin is _USER:
            self.user += 1
        else:
            self.argument += 1

    def merge(self, other: Self) -> None:
        """Take in another part's count."""
        self.result += other.result
        self.argument += other.argument
        self.user += other.user
        self.new += other.new
        self.short += other.short
        self.pattern.merge(other.pattern)

    @property
    def origins(self) -> dict[str, int]:
        """How many values came from where; only what occurs."""
        counts = {"arg": self.argument, "new": self.new, "out": self.result, "short": self.short, "user": self.user}
        return {name: count for name, count in counts.items() if count}


@dataclass(slots=True)
class Flows:
    """Counts of flows between tools.

    Parameters:
        support: by wire, the runs and tasks in which a value first seen in the giver's result came to the argument.
        arguments: by tool and path, where its values came from.
        together: by (giver, taker), the taker's calls with a block of the giver shortly before them in the stretch.
        given: by wire, of these the calls with a value that stood in the giver's result.
        shared: by wire and the giver's own path, of these the calls with a value that was the giver's argument too.
        places: by wire, where in the giver's structured result the values stood.
        values: by (giver, path), how many different values the runs had, each run for itself.
        givers: by (giver, path), how many runs had one.
    """

    support: dict[Wire, Support] = field(default_factory=dict[Wire, Support])
    arguments: dict[str, dict[str, Argument]] = field(default_factory=dict[str, dict[str, Argument]])
    together: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    given: Counter[Wire] = field(default_factory=Counter[Wire])
    shared: Counter[tuple[Wire, str]] = field(default_factory=Counter[tuple[Wire, str]])
    places: dict[Wire, Counter[str]] = field(default_factory=dict[Wire, Counter[str]])
    values: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    givers: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def observe(self, view: View) -> None:
        """Count the flows of one run."""
        wires: dict[Wire, set[str]] = {}
        for call, uses in zip(view.run.calls, view.uses, strict=True):
            if uses:
                self._count_uses(view, call.tool, uses, wires)
        for wire in wires:
            support = self.support.get(wire)
            if support is None:
                support = self.support[wire] = Support()
            support.add(view.ref)
        self._count_values(wires)
        results = _Places(view.run.calls)
        for spans in view.spans:
            if len(spans) > 1:
                self._count_near(view, spans, results)

    def _count_uses(self, view: View, taker: str, uses: Sequence[Use], wires: dict[Wire, set[str]]) -> None:
        known = self.arguments.get(taker)
        if known is None:
            known = self.arguments[taker] = {}
        for use in uses:
            path, sources = use.path, use.sources
            argument = known.get(path)
            if argument is None:
                argument = known[path] = Argument()
            argument.add(use)
            if sources:
                wire = (view.run.calls[sources[0]].tool, taker, path)
                texts = wires.get(wire)
                if texts is None:
                    wires[wire] = {use.text}
                else:
                    texts.add(use.text)

    def _count_near(self, view: View, spans: Sequence[Span], results: "_Places") -> None:
        """Count what the blocks of a stretch have from those shortly before them."""
        calls = view.run.calls
        tools = [calls[span.places[0]].tool for span in spans]
        blocks = {place: index for index, span in enumerate(spans) for place in span.places}
        for index in range(1, len(spans)):
            start, taker, places = max(0, index - REACH), tools[index], spans[index].places
            for giver in {tools[start]} if index == start + 1 else set(tools[start:index]):
                self.together[giver, taker] += len(places)
            near = _Near(tools, blocks, start, index)
            for place in places:
                seen: set[Wire] = set()
                for use in view.uses[place]:
                    if use.sources:
                        self._count_given(use, near, seen, results)
                    if use.argument is not None and use.argument in blocks:
                        self._count_shared(use, near, view)

    def _count_values(self, wires: Mapping[Wire, set[str]]) -> None:
        by_giver: dict[tuple[str, str], set[str]] = {}
        for (giver, _, path), texts in wires.items():
            key = (giver, path)
            by_giver[key] = by_giver[key] | texts if key in by_giver else texts
        for key, texts in by_giver.items():
            self.values[key] += len(texts)
            self.givers[key] += 1

    def _count_given(self, use: Use, near: "_Near", seen: set[Wire], results: "_Places") -> None:
        """Each near tool that gave a value, once a call and argument."""
        for source in use.sources:
            block = near.blocks.get(source)
            if block is None or not near.start <= block < near.end:
                continue
            wire = (near.tools[block], near.tools[near.end], use.path)
            if wire not in seen:
                seen.add(wire)
                self.given[wire] += 1
                found = results.find(source, use.text)
                if found is not None:
                    places = self.places.get(wire)
                    if places is None:
                        places = self.places[wire] = Counter()
                    places[found] += 1

    def _count_shared(self, use: Use, near: "_Near", view: View) -> None:
        """A near tool that had the value as an argument, with its path there."""
        before = use.argument or 0
        block = near.blocks[before]
        if not near.start <= block < near.end:
            return
        for other in view.uses[before]:
            if other.text == use.text:
                self.shared[(near.tools[block], near.tools[near.end], use.path), other.path] += 1
                return

    def merge(self, other: Self) -> None:
        """Take in the flows of another part of the traces."""
        for wire, support in other.support.items():
            self.support.setdefault(wire, Support()).merge(support)
        for tool, paths in other.arguments.items():
            known = self.arguments.setdefault(tool, {})
            for path, argument in paths.items():
                known.setdefault(path, Argument()).merge(argument)
        for wire, counts in other.places.items():
            self.places.setdefault(wire, Counter()).update(counts)
        self.together.update(other.together)
        self.given.update(other.given)
        self.shared.update(other.shared)
        self.values.update(other.values)
        self.givers.update(other.givers)

    def paths(self, tool: str) -> list[str]:
        """The paths of a tool's arguments that were seen, sorted."""
        return sorted(self.arguments.get(tool, {}))

    def names(self) -> dict[str, set[str]]:
        """By tool, the names of the arguments that were sent."""
        return {
            tool: {path.partition(".")[0].partition("[")[0] for path in paths} for tool, paths in self.arguments.items()
        }

    def variety(self, giver: str, path: str) -> float:
        """How many different values of a giver go into arguments of this path, in the runs in which any does."""
        return self.values[giver, path] / max(1, self.givers[giver, path])


class _Near(NamedTuple):
    """A block and those shortly before it in the stretch.

    Parameters:
        tools: the tool of each block of the stretch.
        blocks: the block of each call of the stretch.
        start: the first block that is near.
        end: the block itself.
    """

    tools: Sequence[str]
    blocks: Mapping[int, int]
    start: int
    end: int


class _Places:
    """Where values stand in structured results; each result is walked at most once."""

    def __init__(self, calls: Sequence[CallRecord]) -> None:
        self._calls = calls
        self._walked: dict[int, dict[str, str]] = {}

    def find(self, place: int, text: str) -> str | None:
        """The path of the value in the call's result; None where that is no structure that holds it."""
        walked = self._walked.get(place)
        if walked is None:
            result = self._calls[place].result
            walked = self._walked[place] = dict(_paths(_structure(result)))
            if not walked and isinstance(result, str):
                walked[result.strip()] = WHOLE
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
