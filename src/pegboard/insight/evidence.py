"""Evidence as a monoid: observe runs in any number of places, merge in any order, and suggest from the whole."""

from dataclasses import dataclass, field
from typing import Self

from pegboard.insight.batches import Loops
from pegboard.insight.misses import Misses
from pegboard.insight.sequences import Sequences
from pegboard.insight.traffic import Traffic
from pegboard.insight.trouble import Trouble
from pegboard.insight.view import look_at
from pegboard.insight.wiring import Flows
from pegboard.trace.record import Run


@dataclass(slots=True)
class Evidence:
    """All that is remembered of runs: counts and shapes, never the runs themselves.

    `Evidence()` is the neutral element, and `merge` is associative and, in everything that findings are made from,
    commutative: in whatever parts and order runs are observed, the findings are the same.

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

    def observe(self, run: Run) -> None:
        """Take in one run."""
        view = look_at(run)
        self.runs += 1
        self.calls += len(run.calls)
        self.sequences.observe(view.shape, view.ref)
        for part in (self.loops, self.flows, self.traffic, self.trouble, self.misses):
            part.observe(view)

    def merge(self, other: Self) -> None:
        """Take in the evidence of another part of the traces."""
        self.runs += other.runs
        self.calls += other.calls
        self.sequences.merge(other.sequences)
        self.loops.merge(other.loops)
        self.flows.merge(other.flows)
        self.traffic.merge(other.traffic)
        self.trouble.merge(other.trouble)
        self.misses.merge(other.misses)
