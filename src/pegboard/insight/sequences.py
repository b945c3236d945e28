"""Sequences that runs share: which tools follow which, how surely, and which chains of them hold together.

A pause for the user is no branch: a stretch that ends is an outcome of its own, so the share of a successor is taken
twice, of all outcomes (P) and of those that go on (Pc). Loops are collapsed before anything is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from pegboard.insight.loops import LoopKind
from pegboard.insight.shape import Shape, Stretch
from pegboard.insight.support import RunRef, Support

LONGEST = 6
"""Longer sequences are found as several."""


@dataclass(slots=True)
class Sequences:
    """The bag of shapes that runs had, each with the runs and tasks that had it."""

    bag: dict[Shape, Support] = field(default_factory=dict[Shape, Support])

    def observe(self, shape: Shape, ref: RunRef) -> None:
        """Count one run."""
        support = self.bag.get(shape)
        if support is None:
            support = self.bag[shape] = Support()
        support.add(ref)

    def merge(self, other: Self) -> None:
        """Take in the shapes of another part of the traces."""
        for shape, support in other.bag.items():
            self.bag.setdefault(shape, Support()).merge(support)


@dataclass(slots=True)
class Pair:
    """How often one tool directly follows another, and how.

    Parameters:
        times: occurrences, loops collapsed.
        fed: of these, with a value that the first gave the second.
        same: of these, with the same arguments.
        failed: of these, with a failure in either.
        ready: of these, with all values of the second known before the first.
        made: of these, with a value of the second that the model made up between them.
        support: the runs and tasks.
    """

    times: int = 0
    fed: int = 0
    same: int = 0
    failed: int = 0
    ready: int = 0
    made: int = 0
    support: Support = field(default_factory=Support)


@dataclass(slots=True)
class Steps:
    """Which tools follow which, over a bag of shapes.

    Parameters:
        times: how often each tool stands in a stretch, loops collapsed.
        last: how often it ends one.
        looped: how often it is a loop over a list there.
        runs: in how many runs it occurs.
        pairs: how often one tool directly follows another.
    """

    times: Counter[str] = field(default_factory=Counter[str])
    last: Counter[str] = field(default_factory=Counter[str])
    looped: Counter[str] = field(default_factory=Counter[str])
    runs: Counter[str] = field(default_factory=Counter[str])
    pairs: dict[tuple[str, str], Pair] = field(default_factory=dict[tuple[str, str], Pair])

    def share(self, first: str, second: str) -> float:
        """P: of all times that `first` occurs, how often `second` is next; the end of a stretch is an outcome."""
        return self.pairs[first, second].times / self.times[first]

    def share_going_on(self, first: str, second: str) -> float:
        """Pc: of the times that anything follows `first`, how often it is `second`."""
        return self.pairs[first, second].times / (self.times[first] - self.last[first])


def count_steps(sequences: Sequences) -> Steps:
    """Count which tools follow which."""
    steps = Steps()
    for shape, support in sequences.bag.items():
        runs = support.runs
        tools: set[str] = set()
        pairs: set[tuple[str, str]] = set()
        for stretch in shape:
            tools.update(block.tool for block in stretch)
            for block in stretch:
                steps.times[block.tool] += runs
                if block.kind is LoopKind.LIST:
                    steps.looped[block.tool] += runs
            steps.last[stretch[-1].tool] += runs
            pairs.update(_count_pairs(steps.pairs, stretch, runs))
        for tool in tools:
            steps.runs[tool] += runs
        for pair in pairs:
            steps.pairs[pair].support.merge(support)
    return steps


def _count_pairs(pairs: dict[tuple[str, str], Pair], stretch: Stretch, runs: int) -> Iterator[tuple[str, str]]:
    for before, block in zip(stretch, stretch[1:], strict=False):
        key = (before.tool, block.tool)
        pair = pairs.get(key)
        if pair is None:
            pair = pairs[key] = Pair()
        pair.times += runs
        pair.fed += runs * (1 in block.fed)
        pair.same += runs * block.same
        pair.failed += runs * (before.failed or block.failed)
        pair.ready += runs * block.ready
        pair.made += runs * block.made
        yield key


@dataclass(frozen=True, slots=True)
class Order:
    """Whether one tool stands before another wherever the other occurs, as a precondition would.

    Parameters:
        preceded: the share of the runs with the second in which the first had run before it.
        reversed: the share of the runs with both in which the second came first.
    """

    preceded: float
    reversed: float


def orders(sequences: Sequences, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Order]:
    """For each pair how its order is over whole runs, user messages or not."""
    wanted = sorted(set(pairs))
    second: Counter[tuple[str, str]] = Counter()
    before: Counter[tuple[str, str]] = Counter()
    after: Counter[tuple[str, str]] = Counter()
    by_second: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in wanted:
        by_second[pair[1]].append(pair)
    for shape, support in sequences.bag.items():
        runs, first = support.runs, _first_places(shape)
        for tool in first.keys() & by_second.keys():
            for pair in by_second[tool]:
                second[pair] += runs
                if pair[0] in first:
                    (before if first[pair[0]] < first[tool] else after)[pair] += runs
    return {
        pair: Order(before[pair] / max(1, second[pair]), after[pair] / max(1, before[pair] + after[pair]))
        for pair in wanted
    }


def _first_places(shape: Shape) -> dict[str, int]:
    first: dict[str, int] = {}
    place = 0
    for stretch in shape:
        for block in stretch:
            first.setdefault(block.tool, place)
            place += 1
    return first


def count_chains(
    sequences: Sequences, links: Mapping[tuple[str, str], object], longest: int = LONGEST
) -> dict[tuple[str, ...], Support]:
    """The support of every sequence of two and more tools whose every step is one of `links`."""
    found: dict[tuple[str, ...], Support] = {}
    for shape, support in sequences.bag.items():
        for chain in {chain for stretch in shape for chain in _chains(stretch, links, longest)}:
            found.setdefault(chain, Support()).merge(support)
    return found


def _chains(stretch: Stretch, links: Mapping[tuple[str, str], object], longest: int) -> Iterator[tuple[str, ...]]:
    tools = [block.tool for block in stretch]
    for start in range(len(tools) - 1):
        end = start + 1
        while end < len(tools) and end - start < longest and (tools[end - 1], tools[end]) in links:
            if tools[end] in tools[start:end]:
                break
            end += 1
            yield tuple(tools[start:end])
