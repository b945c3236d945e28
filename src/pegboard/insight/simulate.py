"""Simulation: what findings of some traces would have saved in others."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from pegboard.insight.evidence import Evidence
from pegboard.insight.replay import Plan, Replayer
from pegboard.insight.thresholds import Thresholds
from pegboard.schema.types import Json


@dataclass(slots=True)
class Simulation:
    """Runs before and after.

    Parameters:
        runs: how many runs.
        calls: all calls, before and after.
        turns: all turns, before and after.
        over: the runs with more calls than the cap, before and after.
        cap: that number.
        by_finding: by finding the runs in which it applied, how often, and the calls and turns that it saved.
    """

    cap: int
    runs: int = 0
    calls: list[int] = field(default_factory=lambda: [0, 0])
    turns: list[int] = field(default_factory=lambda: [0, 0])
    over: list[int] = field(default_factory=lambda: [0, 0])
    by_finding: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    def to_json(self) -> dict[str, Json]:
        """As `pegboard insight simulate --json` prints it."""
        rows = [{"id": name, **{key: counts[key] for key in _COLUMNS}} for name, counts in self.by_finding.items()]
        return {
            "runs": self.runs,
            "calls": self.calls,
            "turns": self.turns,
            f"over_{self.cap}": self.over,
            "by_finding": sorted(rows, key=lambda row: (-int(str(row["calls"])), str(row["id"]))),
        }


_COLUMNS = ("runs", "times", "calls", "turns")


def simulate(evidence: Evidence, plan: Plan, *, known: Iterable[str] = (), cap: int = Thresholds().cap) -> Simulation:
    """Replay a plan on every run that the evidence saw.

    Parameters:
        evidence: of the runs to replay on.
        plan: what to apply.
        known: ids of findings to list even where they never apply.
        cap: the number of calls over which a run would be cut off.
    """
    replayer = Replayer(plan)
    total = Simulation(cap, by_finding={name: Counter() for name in known})
    for shape, support in chain.from_iterable(part.sequences.bag.items() for part in evidence.parts.values()):
        runs, outcome = support.runs, replayer.run(shape)
        total.runs += runs
        for place in (0, 1):
            total.calls[place] += runs * outcome.calls[place]
            total.turns[place] += runs * outcome.turns[place]
            total.over[place] += runs * (outcome.calls[place] > cap)
        for cut in outcome.cuts:
            counts = total.by_finding.setdefault(cut.finding, Counter())
            counts.update(times=runs, calls=runs * cut.calls, turns=runs * cut.turns)
        for name in {cut.finding for cut in outcome.cuts}:
            total.by_finding[name]["runs"] += runs
    return total
