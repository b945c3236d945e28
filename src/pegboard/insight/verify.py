"""Before and after a change: do agents take the new tool where they ran the old sequence, and if not, why not."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.insight.canonical import canonical_name, canonical_run
from pegboard.insight.interval import Share, apart
from pegboard.insight.offer import Offer
from pegboard.insight.replay import Replayer, plan_from_json
from pegboard.insight.view import look_at
from pegboard.schema.types import Json
from pegboard.trace.record import Run

MOST_KEPT = 50


@dataclass(slots=True)
class Side:
    """The runs of one side of a change.

    Parameters:
        runs: how many runs.
        chances: those with the new tool or the old sequence: where there was something to choose.
        new: those with the new tool.
        old: those with the old sequence.
        calls: calls of the runs with something to choose.
        turns: likewise, messages with calls.
        failed: calls of the new tool that failed.
        made: calls of the new tool.
    """

    runs: int = 0
    chances: int = 0
    new: int = 0
    old: int = 0
    calls: int = 0
    turns: int = 0
    failed: int = 0
    made: int = 0

    @property
    def taken(self) -> Share:
        """The share of chances in which the new tool was called."""
        return Share(self.new, self.chances)

    @property
    def kept(self) -> Share:
        """The share of chances in which the old sequence was run."""
        return Share(self.old, self.chances)

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "runs": self.runs,
            "chances": self.chances,
            "new": _share(self.taken),
            "old": _share(self.kept),
            "calls_a_run": round(self.calls / self.chances, 2) if self.chances else None,
            "turns_a_run": round(self.turns / self.chances, 2) if self.chances else None,
            "new_failed": [self.failed, self.made],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A run after the change that went the old way.

    Parameters:
        run: the run.
        task: its task, where it is known.
        tools: the old sequence as it was called.
        code: the likely reason in a word: `not_listed`, `not_found`, `rank`, `description`, `failed`.
        reason: the same in words, with what to do.
    """

    run: str
    task: str | None
    tools: tuple[str, ...]
    code: str
    reason: str

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "run": self.run,
            "task": self.task,
            "tools": list(self.tools),
            "code": self.code,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a change came to.

    Parameters:
        finding: the finding that was applied.
        tool: the new tool.
        before: the runs before it.
        after: the runs after it.
        kept: the runs after it that went the old way, the first of them.
    """

    finding: str
    tool: str
    before: Side
    after: Side
    kept: tuple[Kept, ...] = ()

    @property
    def verdict(self) -> str:
        """What can be said: `unseen`, `works`, `partly` or `ignored`."""
        if not self.after.chances:
            return "unseen"
        if not self.after.new:
            return "ignored"
        return "works" if apart(self.after.kept, self.before.kept) and self.after.new >= self.after.old else "partly"

    def to_json(self) -> dict[str, Json]:
        """As `pegboard insight verify --json` prints it."""
        return {
            "finding": self.finding,
            "tool": self.tool,
            "verdict": self.verdict,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "kept": [each.to_json() for each in self.kept],
            "reasons": _counted(each.code for each in self.kept),
        }


@dataclass(frozen=True)
class Watch:
    """What is looked for in runs.

    Parameters:
        row: the finding.
        tool: the new tool's full name.
        offer: the board's tools, under whose names runs are read.
    """

    row: Mapping[str, Any]
    tool: str
    offer: Offer
    replayer: Replayer = field(init=False)
    old: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        named = _under_own_names(self.row, self.offer)
        object.__setattr__(self, "replayer", Replayer(plan_from_json([named])))
        object.__setattr__(self, "old", tuple(named["tools"]))

    def sequence(self, run: Run) -> tuple[str, ...]:
        """The old sequence as a run called it; empty where it did not."""
        if self.row["kind"] in ("merge", "missing_hint", "ladder_gap"):
            return tuple(call.tool for call in run.calls if call.tool in self.old)
        cuts = self.replayer.cuts(look_at(run).shape)
        return tuple(tool for cut in cuts for tool, _ in cut.dropped)


def verify(
    watch: Watch, before: Iterable[Run], after: Iterable[Run], why: Callable[[Run, tuple[str, ...]], tuple[str, str]]
) -> Verification:
    """Compare runs before and after a change.

    Parameters:
        watch: what is looked for.
        before: runs from before it.
        after: runs from after it.
        why: the likely reason why a run went the old way: a word, and a sentence.
    """
    old_side, new_side = Side(), Side()
    for run in before:
        _count(watch, canonical_run(run, watch.offer), old_side)
    kept: list[Kept] = []
    for given in after:
        run = canonical_run(given, watch.offer)
        sequence = _count(watch, run, new_side)
        if sequence and len(kept) < MOST_KEPT and not any(call.tool == watch.tool and call.ok for call in run.calls):
            code, reason = why(run, sequence)
            kept.append(Kept(run=run.id, task=run.task, tools=sequence, code=code, reason=reason))
    return Verification(
        finding=str(watch.row["id"]), tool=watch.tool, before=old_side, after=new_side, kept=tuple(kept)
    )


def _count(watch: Watch, run: Run, side: Side) -> tuple[str, ...]:
    outer = replace(run, calls=tuple(call for call in run.calls if call.parent is None))
    calls = [call for call in outer.calls if call.tool == watch.tool]
    sequence = watch.sequence(outer)
    side.runs += 1
    side.made += len(calls)
    side.failed += sum(call.ok is False for call in calls)
    if calls or sequence:
        side.chances += 1
        side.new += bool(calls)
        side.old += bool(sequence)
        side.calls += len(outer.calls)
        side.turns += len({call.turn for call in outer.calls if call.turn is not None})
    return sequence


def _under_own_names(row: Mapping[str, Any], offer: Offer) -> dict[str, Any]:
    def named(tools: Sequence[str]) -> list[str]:
        return [canonical_name(tool, offer) for tool in tools]

    replaces = [named(chain) for chain in row.get("replaces", ())]
    return {**row, "tools": named(row["tools"]), "replaces": replaces}


def _share(share: Share) -> dict[str, Json]:
    low, high = share.interval
    value = None if share.value is None else round(share.value, 4)
    return {"runs": share.hits, "share": value, "interval": [round(low, 4), round(high, 4)]}


def _counted(codes: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for code in codes:
        found[code] = found.get(code, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
