"""Traffic: how much each tool is called, by whom, how well, and how long runs get."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from pegboard.core import ToolSpec
from pegboard.insight.finding import Finding, Kind, percent, supported
from pegboard.insight.flow import Use
from pegboard.insight.offer import Offer
from pegboard.insight.sequences import Sequences
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.view import View
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord

FRAME = 12
"""Tokens around the arguments of a call: its name, ids and brackets, and those of its result."""


@dataclass(slots=True)
class ToolTraffic:
    """One tool's calls.

    Parameters:
        support: the runs and tasks.
        calls: how many calls.
        failed: how many of them failed.
        judged: of how many it is known whether they failed.
        tokens: of their arguments, estimated (bytes / 4).
        micros: how long those took whose time is known, in microseconds.
        timed: how many those are.
    """

    support: Support = field(default_factory=Support)
    calls: int = 0
    failed: int = 0
    judged: int = 0
    tokens: int = 0
    micros: int = 0
    timed: int = 0

    def add(self, call: CallRecord, tokens: int) -> None:
        """Count a call with the tokens of its arguments."""
        self.calls += 1
        self.tokens += tokens
        if call.ok is not None:
            self.judged += 1
            self.failed += not call.ok
        if call.seconds is not None:
            self.micros += round(call.seconds * 1_000_000)
            self.timed += 1

    def merge(self, other: Self) -> None:
        """Take in another part's count."""
        self.support.merge(other.support)
        self.calls += other.calls
        self.failed += other.failed
        self.judged += other.judged
        self.tokens += other.tokens
        self.micros += other.micros
        self.timed += other.timed


def argument_tokens(uses: Sequence[Use]) -> int:
    """The estimated tokens of a call's arguments: names, values and what stands around them, characters / 4."""
    total = _AROUND * len(uses)
    for use in uses:
        total += len(use[1]) + len(use[2])
    return total // 4


_AROUND = 6


@dataclass(slots=True)
class Traffic:
    """All tools' calls, and how long runs are.

    Parameters:
        tools: by tool.
        lengths: runs by their number of calls; those beyond 1,000 count as 1,000.
        agents: runs by agent.
    """

    tools: dict[str, ToolTraffic] = field(default_factory=dict[str, ToolTraffic])
    lengths: Counter[int] = field(default_factory=Counter[int])
    agents: Counter[str] = field(default_factory=Counter[str])

    def observe(self, view: View) -> None:
        """Count the calls of one run."""
        calls, tools = view.run.calls, self.tools
        for call, uses in zip(calls, view.uses, strict=True):
            found = tools.get(call.tool)
            if found is None:
                found = tools[call.tool] = ToolTraffic()
            found.add(call, argument_tokens(uses) if uses else 0)
        for call in view.inner:
            self.tools.setdefault(call.tool, ToolTraffic()).add(call, 0)
        for tool in {call.tool for call in (*calls, *view.inner)}:
            self.tools[tool].support.add(view.ref)
        self.lengths[min(len(calls), _LONGEST)] += 1
        self.agents[view.run.agent or ""] += 1

    def merge(self, other: Self) -> None:
        """Take in the traffic of another part of the traces."""
        for tool, count in other.tools.items():
            self.tools.setdefault(tool, ToolTraffic()).merge(count)
        self.lengths.update(other.lengths)
        self.agents.update(other.agents)

    def tokens_saved(self, dropped: Mapping[str, int]) -> int:
        """The estimated tokens of calls that fall away: the tool's mean arguments and a frame for each."""
        total = 0
        for tool, calls in dropped.items():
            found = self.tools.get(tool)
            mean = found.tokens / found.calls if found and found.calls else 0
            total += round(calls * (mean + FRAME))
        return total


_LONGEST = 1000


def unused(traffic: Traffic, offer: Offer, runs: int) -> Iterator[Finding]:
    """Tools on offer that no run called.

    Parameters:
        traffic: all calls.
        offer: the tools on offer.
        runs: how many runs there were.
    """
    unused = [spec for spec in offer.specs if not offer.called(spec, traffic.tools) and not offer.composite(spec)]
    names = Counter(str(spec.name) for spec in unused)
    for spec in unused if runs else ():
        rare = "" if offer.reads(spec) else " It may change or delete something, and such tools are rare by nature."
        yield Finding(
            kind=Kind.NO_TRAFFIC,
            tools=(str(spec.name),),
            reason=(
                f"No call of {spec.name} in {runs} runs. A tool that one run in {max(1, runs // 3)} needs would have "
                f"shown itself by now with 95 % certainty; a rarer one need not have.{rare}"
            ),
            runs=0,
            confidence=_absence(runs, offer.reads(spec)),
            details={"runs_seen": runs, **_which(spec, names)},
        )


def _which(spec: ToolSpec, names: Counter[str]) -> dict[str, str]:
    """The group, where several tools have one name."""
    group = str(spec.meta.get("group") or spec.source.name)
    return {"group": group, "subject": f"{group}/{spec.name}"} if names[str(spec.name)] > 1 else {}


def _absence(runs: int, reads: bool) -> float:
    """How sure it is that fewer than one run in fifty needs the tool (rule of three); half of it for rare kinds."""
    sure = 1 - (1 - 0.02) ** runs
    return sure if reads else sure / 2


def dead(traffic: Traffic, offer: Offer, limits: Thresholds) -> Iterator[Finding]:
    """Tools that agents call and that never work: each call failed, or they are not on offer at all.

    Parameters:
        traffic: all calls.
        offer: the tools on offer; empty where they are not known.
        limits: what counts.
    """
    for tool, found in sorted(traffic.tools.items()):
        if found.support.runs < limits.runs or not found.judged:
            continue
        if found.failed == found.judged:
            missing = bool(offer.specs) and offer.find(tool) is None
            why = "it is not on offer, so agents make its name up" if missing else "it never worked"
            yield Finding(
                kind=Kind.DEAD,
                tools=(tool,),
                reason=f"All {found.calls} calls of {tool} in {found.support.runs} runs failed: {why}.",
                confidence=min(1.0, found.calls / 10),
                details={"on_offer": not missing},
                **supported(found.support),
            )


def budget_pressure(sequences: Sequences, traffic: Traffic, limits: Thresholds) -> Iterator[Finding]:
    """Whether runs come to the number of calls that clients commonly allow.

    Parameters:
        sequences: the shapes of all runs.
        traffic: all calls.
        limits: what counts, with the cap.
    """
    support = Support()
    for shape, each in sequences.bag.items():
        if sum(block.size for stretch in shape for block in stretch) > limits.cap:
            support.merge(each)
    runs, longest = traffic.lengths.total(), max(traffic.lengths, default=0)
    if support.runs < limits.runs:
        return
    heavy = sorted(traffic.tools, key=lambda tool: (-traffic.tools[tool].calls, tool))[:3]
    yield Finding(
        kind=Kind.BUDGET_PRESSURE,
        tools=tuple(heavy),
        reason=(
            f"{support.runs} of {runs} runs ({percent(support.runs, runs)}) make more than {limits.cap} calls, the "
            f"longest {'at least ' if longest == _LONGEST else ''}{longest}; most calls go to {', '.join(heavy)}. A "
            f"client that allows {limits.cap} calls would have cut them off."
        ),
        confidence=1.0,
        details={"subject": "budget", "cap": limits.cap, "runs_seen": runs, "longest": longest},
        **supported(support),
    )


def totals(traffic: Traffic) -> list[dict[str, Json]]:
    """A row for each tool, those most called first: for the traffic table of a report."""
    rows: list[dict[str, Json]] = []
    for tool, found in sorted(traffic.tools.items(), key=lambda item: (-item[1].calls, item[0])):
        rows.append(
            {
                "tool": tool,
                "calls": found.calls,
                "runs": found.support.runs,
                "tasks": found.support.tasks,
                "failed": found.failed,
                "mean_seconds": round(found.micros / found.timed / 1e6, 6) if found.timed else None,
                "mean_tokens": round(found.tokens / found.calls, 1),
            }
        )
    return rows
