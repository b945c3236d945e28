"""Evidence as a monoid: observe runs in any number of places, merge in any order, and suggest from the whole."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from pegboard.insight.batches import Loops
from pegboard.insight.misses import Misses
from pegboard.insight.sequences import Sequences
from pegboard.insight.traffic import Traffic
from pegboard.insight.trouble import Trouble
from pegboard.insight.view import View, look_at
from pegboard.insight.wiring import Flows
from pegboard.trace.record import Run


@dataclass(slots=True)
class Part:
    """All that is remembered of the runs of one source: counts and shapes, never the runs themselves.

    Parameters:
        runs: how many runs.
        calls: how many calls.
        sequences: the shapes of the runs.
        loops: the loops.
        flows: how values flow.
        traffic: how much each tool is called.
        trouble: what fails, and what follows.
        misses: searches for tools that did not find them.
    """

    runs: int = 0
    calls: int = 0
    sequences: Sequences = field(default_factory=Sequences)
    loops: Loops = field(default_factory=Loops)
    flows: Flows = field(default_factory=Flows)
    traffic: Traffic = field(default_factory=Traffic)
    trouble: Trouble = field(default_factory=Trouble)
    misses: Misses = field(default_factory=Misses)

    def observe(self, view: View) -> None:
        """Take in one run."""
        self.runs += 1
        self.calls += len(view.run.calls) + len(view.inner)
        self.sequences.observe(view.shape, view.ref)
        for part in (self.loops, self.flows, self.traffic, self.trouble, self.misses):
            part.observe(view)

    def merge(self, other: Self) -> None:
        """Take in the evidence of other runs."""
        self.runs += other.runs
        self.calls += other.calls
        self.sequences.merge(other.sequences)
        self.loops.merge(other.loops)
        self.flows.merge(other.flows)
        self.traffic.merge(other.traffic)
        self.trouble.merge(other.trouble)
        self.misses.merge(other.misses)

    @property
    def tools(self) -> frozenset[str]:
        """The tools that were called."""
        return frozenset(self.traffic.tools)


ALIKE = 0.5
"""Sources of which the smaller shares more than this of its tools with another are traces of one world."""


@dataclass(slots=True)
class Evidence:
    """The evidence of any number of runs, source by source.

    `Evidence()` is the neutral element, and `merge` is associative and, in everything that findings are made from,
    commutative: in whatever parts and order runs are observed, the findings are the same. Sources are kept apart since
    tools of one name need not be one tool: the habits of a shop say nothing of those of an airline.

    Parameters:
        parts: the evidence by source.
    """

    parts: dict[str, Part] = field(default_factory=dict[str, Part])

    @property
    def runs(self) -> int:
        """How many runs."""
        return sum(part.runs for part in self.parts.values())

    @property
    def calls(self) -> int:
        """How many calls."""
        return sum(part.calls for part in self.parts.values())

    def observe(self, run: Run, source: str = "") -> None:
        """Take in one run; `source` is where it comes from if it does not say so itself."""
        name = run.source or source
        part = self.parts.get(name)
        if part is None:
            part = self.parts[name] = Part()
        part.observe(look_at(run))

    def merge(self, other: Self) -> None:
        """Take in the evidence of another part of the traces."""
        for source, part in other.parts.items():
            self.parts.setdefault(source, Part()).merge(part)

    def whole(self) -> Part:
        """All sources together."""
        return _together(self.parts[source] for source in sorted(self.parts))

    def worlds(self) -> list[Part]:
        """Sources that share most of their tools, together; those with most tools first."""
        worlds: list[tuple[set[str], list[Part]]] = []
        for source in sorted(self.parts, key=lambda name: (-len(self.parts[name].tools), name)):
            tools = self.parts[source].tools
            for known, parts in worlds:
                if tools and len(tools & known) > ALIKE * len(tools):
                    known.update(tools)
                    parts.append(self.parts[source])
                    break
            else:
                worlds.append((set(tools), [self.parts[source]]))
        return [_together(parts) for _, parts in worlds]


def _together(parts: Iterable[Part]) -> Part:
    """One part as it is; of several a merged copy."""
    several = list(parts)
    if len(several) == 1:
        return several[0]
    total = Part()
    for part in several:
        total.merge(part)
    return total
