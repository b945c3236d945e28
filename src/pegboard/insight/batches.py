"""Batch candidates: tools that agents call in a loop over values that they knew before it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from pegboard.insight.finding import Finding, Kind, lower_bound, percent, supported
from pegboard.insight.loops import INPUT, Loop, LoopKind
from pegboard.insight.shape import Block
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.view import View


class LoopKey(NamedTuple):
    """Loops that are counted together: of one tool, and of one kind."""

    tool: str
    kind: LoopKind


@dataclass(slots=True)
class LoopCount:
    """How often a loop occurred, and how.

    Parameters:
        support: the runs and tasks.
        loops: how many loops.
        calls: how many calls they had.
        longest: the most calls of one.
        parallel: how many were made by one model message.
        sources: from which tools' results the values came, by calls.
        over: which arguments varied, by loops.
    """

    support: Support = field(default_factory=Support)
    loops: int = 0
    calls: int = 0
    longest: int = 0
    parallel: int = 0
    sources: Counter[str] = field(default_factory=Counter[str])
    over: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])

    def add(self, block: Block, loop: Loop) -> None:
        """Count a loop."""
        self.loops += 1
        self.calls += block.size
        self.longest = max(self.longest, block.size)
        self.parallel += block.turns == 1
        self.over[loop.over] += 1
        for tool, calls in loop.sources:
            self.sources[tool] += calls

    def merge(self, other: Self) -> None:
        """Take in another part's count."""
        self.support.merge(other.support)
        self.loops += other.loops
        self.calls += other.calls
        self.longest = max(self.longest, other.longest)
        self.parallel += other.parallel
        self.sources.update(other.sources)
        self.over.update(other.over)

    @property
    def varying(self) -> tuple[str, ...]:
        """The arguments that vary most often together; none where there is no loop."""
        return min(self.over, key=lambda over: (-self.over[over], over), default=())


@dataclass(slots=True)
class Loops:
    """Counts of loops, by tool and kind."""

    counts: dict[LoopKey, LoopCount] = field(default_factory=dict[LoopKey, LoopCount])

    def observe(self, view: View) -> None:
        """Count the loops of one run."""
        seen: set[LoopKey] = set()
        for stretch, spans in zip(view.shape, view.spans, strict=True):
            for block, span in zip(stretch, spans, strict=True):
                if block.size > 1:
                    key = LoopKey(block.tool, block.kind)
                    count = self.counts.get(key)
                    if count is None:
                        count = self.counts[key] = LoopCount()
                    count.add(block, span.loop)
                    seen.add(key)
        for key in seen:
            self.counts[key].support.add(view.ref)

    def merge(self, other: Self) -> None:
        """Take in the loops of another part of the traces."""
        for key, count in other.counts.items():
            self.counts.setdefault(key, LoopCount()).merge(count)

    def of(self, tool: str) -> dict[LoopKind, LoopCount]:
        """A tool's loops by kind; only kinds that occur."""
        return {kind: count for kind in LoopKind if (count := self.counts.get(LoopKey(tool, kind))) is not None}

    @property
    def tools(self) -> list[str]:
        """The tools that were called in a loop, sorted."""
        return sorted({key.tool for key in self.counts})


def batches(loops: Loops, limits: Thresholds) -> Iterator[Finding]:
    """The tools whose loops are lists in disguise.

    Parameters:
        loops: the counted loops.
        limits: what counts.
    """
    for tool in loops.tools:
        kinds = loops.of(tool)
        found = kinds.get(LoopKind.LIST)
        if found is not None and _enough(found, sum(count.loops for count in kinds.values()), limits):
            yield _finding(tool, found, kinds)


def _enough(found: LoopCount, all_loops: int, limits: Thresholds) -> bool:
    support = found.support
    enough = support.runs >= limits.runs and support.tasks >= limits.batch_tasks
    guessed = found.sources[INPUT] > found.sources.total() / 2 and found.parallel < found.loops / 2
    if not enough or guessed and support.runs < limits.batch_guessed:
        return False
    return found.loops >= limits.batch_share * all_loops


def _finding(tool: str, found: LoopCount, kinds: dict[LoopKind, LoopCount]) -> Finding:
    over, all_loops = found.varying, sum(count.loops for count in kinds.values())
    sources = sorted(found.sources.items(), key=lambda item: (item[0] == INPUT, -item[1], item[0]))
    others = {kind.value: count.loops for kind, count in kinds.items() if kind is not LoopKind.LIST}
    giver = sources[0][0] if sources else INPUT
    known = "the user or the model named them" if giver == INPUT else f"they came from {giver}"
    return Finding(
        kind=Kind.BATCH,
        tools=(tool,),
        reason=(
            f"{tool} is called in a loop over {' and '.join(over)} in {found.support.runs} runs of "
            f"{found.support.tasks} tasks, up to {found.longest} times; the values were known before the loop "
            f"({known}). {found.parallel} of {found.loops} loops were made in one message, so there a batch form saves "
            f"calls but no turn. {percent(found.loops, all_loops)} of its loops are of this kind."
        ),
        confidence=lower_bound(found.loops, all_loops),
        details={
            "over": over[0] if len(over) == 1 else list(over),
            "from": giver,
            "sources": dict(sources),
            "loops": found.loops,
            "loop_calls": found.calls,
            "longest": found.longest,
            "parallel": found.parallel,
            "serial": found.loops - found.parallel,
            "other_loops": others,
        },
        **supported(found.support),
    )
