"""What a report shows: the findings, and the traffic, lengths and flows that they stand on."""

from dataclasses import dataclass

from pegboard.insight.finding import Finding
from pegboard.insight.mine import Mined
from pegboard.insight.offer import Offer
from pegboard.insight.suggest import suggest
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.traffic import totals
from pegboard.insight.wiring import Flows
from pegboard.schema.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """How often values went from one tool's results into another's arguments.

    Parameters:
        giver: the tool whose results held the values.
        taker: the tool that took them.
        paths: the arguments that they went into.
        runs: in how many runs the commonest of them did.
    """

    giver: str
    taker: str
    paths: tuple[str, ...]
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All that a report says.

    Parameters:
        runs: how many runs.
        calls: how many calls.
        tasks: how many distinct tasks.
        findings: the findings, in report order.
        traffic: a row for each tool, those most called first.
        lengths: runs by number of calls, ascending.
        flows: the data flow between tools, the commonest first.
        agents: runs by agent, those with most runs first.
        skipped: what could not be read, the first of it.
        unread: how much that was.
        twice: runs that were there a second time.
        filtered: runs that did not count.
    """

    runs: int
    calls: int
    tasks: int
    findings: tuple[Finding, ...]
    traffic: tuple[dict[str, Json], ...] = ()
    lengths: tuple[tuple[int, int], ...] = ()
    flows: tuple[Flow, ...] = ()
    agents: tuple[tuple[str, int], ...] = ()
    skipped: tuple[str, ...] = ()
    unread: int = 0
    twice: int = 0
    filtered: int = 0

    def to_json(self) -> dict[str, Json]:
        """As `pegboard insight --json` prints it."""
        return {
            "runs": self.runs,
            "calls": self.calls,
            "tasks": self.tasks,
            "findings": [finding.to_json() for finding in self.findings],
            "traffic": list(self.traffic),
            "lengths": [list(row) for row in self.lengths],
            "flows": [
                {"from": flow.giver, "to": flow.taker, "arguments": list(flow.paths), "runs": flow.runs}
                for flow in self.flows
            ],
            "agents": [list(row) for row in self.agents],
            "skipped": list(self.skipped),
            "unread": self.unread,
            "twice": self.twice,
            "filtered": self.filtered,
        }

    @property
    def saving(self) -> dict[str, int]:
        """What all findings together would have saved: calls, turns, tokens."""
        rows = [finding.saving for finding in self.findings]
        return {
            "calls": sum(row.calls for row in rows),
            "turns": sum(row.turns for row in rows),
            "tokens": sum(row.tokens for row in rows),
        }


MOST_FLOWS = 60
_TOLD = 20


def summarise(mined: Mined, offer: Offer | None = None, *, limits: Thresholds | None = None) -> Summary:
    """Everything that a report says of mined traces.

    Parameters:
        mined: the traces' evidence.
        offer: the tools that were on offer, where they are known.
        limits: when a pattern counts.
    """
    evidence = mined.evidence.whole()
    support = Support()
    for each in evidence.sequences.bag.values():
        support.merge(each)
    return Summary(
        runs=evidence.runs,
        calls=evidence.calls,
        tasks=support.tasks,
        findings=tuple(suggest(mined.evidence, offer, limits=limits)),
        traffic=tuple(totals(evidence.traffic)),
        lengths=tuple(sorted(evidence.traffic.lengths.items())),
        flows=tuple(_flows(evidence.flows)),
        agents=tuple(sorted(evidence.traffic.agents.items(), key=lambda row: (-row[1], row[0]))),
        skipped=tuple(str(item) for item in mined.skipped[:_TOLD]),
        unread=mined.unread,
        twice=mined.twice,
        filtered=mined.filtered,
    )


def _flows(flows: Flows) -> list[Flow]:
    by_pair: dict[tuple[str, str], dict[str, int]] = {}
    for (giver, taker, path), support in flows.support.items():
        by_pair.setdefault((giver, taker), {})[path] = support.runs
    found = [
        Flow(giver=giver, taker=taker, paths=tuple(_commonest(paths)), runs=max(paths.values()))
        for (giver, taker), paths in by_pair.items()
    ]
    return sorted(found, key=lambda flow: (-flow.runs, flow.giver, flow.taker))[:MOST_FLOWS]


def _commonest(paths: dict[str, int]) -> list[str]:
    return sorted(paths, key=lambda path: (-paths[path], path))
