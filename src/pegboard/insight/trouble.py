"""Trouble: which calls fail, on which argument and with which words, and what agents do next.

A failure that is followed by a success of the same tool with other arguments tells which argument was wrong; the share
of an error text's failures that end so tells whether the text helps. A failure that is followed by another tool and
then by success tells of a prerequisite.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self, cast

from pegboard.insight.bottom import BottomK
from pegboard.insight.finding import Finding, Kind, lower_bound, percent, supported
from pegboard.insight.flow import Use
from pegboard.insight.offer import Offer
from pegboard.insight.scalars import result_text
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.traffic import Traffic
from pegboard.insight.view import View
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord

AHEAD = 6
"""A failure is followed by its repair within this many calls, or not at all."""
_TEXTS = 48


@dataclass(slots=True)
class ErrorCount:
    """One error text of one tool.

    Parameters:
        support: the runs and tasks.
        times: how often it came.
        mended: how often the tool's next call in the run, with other arguments, was right.
        again: how often the tool's next call failed too.
        changed: which arguments had changed when it was right.
    """

    support: Support = field(default_factory=Support)
    times: int = 0
    mended: int = 0
    again: int = 0
    changed: Counter[str] = field(default_factory=Counter[str])

    def merge(self, other: Self) -> None:
        """Take in another part's count."""
        self.support.merge(other.support)
        self.times += other.times
        self.mended += other.mended
        self.again += other.again
        self.changed.update(other.changed)


@dataclass(slots=True)
class Trouble:
    """Failures by tool and text, and the tools that stood between a failure and its repair.

    Parameters:
        failing: by tool, the runs and tasks in which a call failed.
        errors: by tool, the counts by error text.
        between: by (failing tool, tool between), the runs in which the second came between failure and success, and
            gave the value that made it a success.
    """

    failing: dict[str, Support] = field(default_factory=dict[str, Support])
    errors: dict[str, BottomK[ErrorCount]] = field(default_factory=dict[str, BottomK[ErrorCount]])
    between: dict[tuple[str, str], Support] = field(default_factory=dict[tuple[str, str], Support])

    def observe(self, view: View) -> None:
        """Count the failures of one run."""
        calls = view.run.calls
        if all([call.ok is not False for call in calls]):
            return
        texts: set[tuple[str, str]] = set()
        pairs: set[tuple[str, str]] = set()
        for place, call in enumerate(calls):
            if call.ok is not False:
                continue
            text = error_text(call)
            repair = _next_of(calls, place)
            self._count(call, text, calls[repair] if repair is not None else None)
            texts.add((call.tool, text))
            if repair is not None and calls[repair].ok:
                pairs.update((call.tool, giver) for giver in _givers(calls, view.uses[repair], place, repair))
        for tool in {tool for tool, _ in texts}:
            self.failing.setdefault(tool, Support()).add(view.ref)
        for tool, text in texts:
            count = self.errors[tool].at(text, ErrorCount)
            if count is not None:
                count.support.add(view.ref)
        for pair in pairs:
            self.between.setdefault(pair, Support()).add(view.ref)

    def _count(self, call: CallRecord, text: str, after: CallRecord | None) -> None:
        count = self.errors.setdefault(call.tool, BottomK(_TEXTS)).at(text, ErrorCount)
        if count is None:
            return
        count.times += 1
        if after is None:
            return
        changed = _changed(call.arguments, after.arguments)
        count.mended += bool(after.ok and changed)
        count.again += after.ok is False
        if after.ok:
            count.changed.update(changed)

    def merge(self, other: Self) -> None:
        """Take in the failures of another part of the traces."""
        for tool, support in other.failing.items():
            self.failing.setdefault(tool, Support()).merge(support)
        for tool, counts in other.errors.items():
            self.errors.setdefault(tool, BottomK(_TEXTS)).merge(counts)
        for pair, support in other.between.items():
            self.between.setdefault(pair, Support()).merge(support)


_QUOTED = re.compile(r"'[^']{1,80}'|\"[^\"]{1,80}\"|`[^`]{1,80}`")
_ID = re.compile(r"\S*\d\S*")


def error_text(call: CallRecord) -> str:
    """What a failure said, without the values in it, so that equal faults have equal texts."""
    told = call.error or result_text(call.result) or call.failure or ""
    line = next((line.strip() for line in told.splitlines() if line.strip()), "")
    return " ".join(_ID.sub("#", _QUOTED.sub("…", line)).split())[:160]


def _next_of(calls: Sequence[CallRecord], place: int) -> int | None:
    """The tool's next call after a failure, within `AHEAD` calls and by the same caller."""
    failed = calls[place]
    for later in range(place + 1, min(len(calls), place + 1 + AHEAD)):
        if calls[later].tool == failed.tool and calls[later].parent == failed.parent:
            together = failed.group is not None and calls[later].group == failed.group
            return None if together else later
    return None


def _changed(before: Json, after: Json) -> list[str]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        return [] if before == after else [""]
    old, new = cast("dict[str, Json]", before), cast("dict[str, Json]", after)
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _givers(calls: Sequence[CallRecord], uses: Sequence[Use], failed: int, repair: int) -> set[str]:
    """The other tools between failure and repair in whose results a value of the repair first stood."""
    between = {place for place in range(failed + 1, repair) if calls[place].tool != calls[failed].tool}
    return {calls[use.sources[0]].tool for use in uses if use.sources and use.sources[0] in between}


def hot_spots(trouble: Trouble, traffic: Traffic, limits: Thresholds) -> Iterator[Finding]:
    """Tools of which a tenth of the calls fails, with the argument and the words that stand out.

    Parameters:
        trouble: the failures.
        traffic: all calls.
        limits: what counts.
    """
    for tool, support in sorted(trouble.failing.items()):
        found = traffic.tools[tool]
        often = limits.failing * found.judged <= found.failed < found.judged
        if often and support.runs >= limits.runs and support.tasks >= limits.batch_tasks:
            errors = sorted(trouble.errors[tool].items(), key=lambda item: (-item[1].times, item[0]))
            yield _hot_spot(tool, found.failed, found.judged, errors, support)


def _hot_spot(tool: str, failed: int, judged: int, errors: list[tuple[str, ErrorCount]], support: Support) -> Finding:
    changed: Counter[str] = Counter()
    for _, count in errors:
        changed.update(count.changed)
    argument = min(changed, key=lambda name: (-changed[name], name), default=None)
    text, worst = errors[0]
    wrong = f" The argument that agents then change is mostly {argument}." if argument else ""
    return Finding(
        kind=Kind.HOT_SPOT,
        tools=(tool,),
        reason=(
            f"{failed} of {judged} calls of {tool} fail ({percent(failed, judged)}); the commonest error is "
            f'"{text}" ({worst.times} times), after which the next call is right in '
            f"{percent(worst.mended, worst.times)} of cases.{wrong} Fix the description of the argument, or say in the "
            "error what to do."
        ),
        confidence=lower_bound(failed, judged),
        details={
            "failed": failed,
            "calls": judged,
            "argument": argument,
            "arguments": dict(sorted(changed.items(), key=lambda item: (-item[1], item[0]))),
            "errors": [
                {"text": text, "times": count.times, "mended": count.mended, "again": count.again}
                for text, count in errors[:5]
            ],
        },
        **supported(support),
    )


def missing_prerequisites(trouble: Trouble, offer: Offer, limits: Thresholds) -> Iterator[Finding]:
    """Tools that agents learn to call first only by failing, where no hint says so.

    Parameters:
        trouble: the failures.
        offer: the tools on offer, with their hints.
        limits: what counts.
    """
    for (tool, first), support in sorted(trouble.between.items()):
        spec = offer.find(tool)
        bare = first.rpartition(".")[2]
        told = spec is not None and (bare in spec.description or any(bare in hint.tool for hint in spec.hints))
        if support.runs >= limits.runs and support.tasks >= limits.batch_tasks and not told:
            yield Finding(
                kind=Kind.MISSING_HINT,
                tools=(tool, first),
                reason=(
                    f"In {support.runs} runs of {support.tasks} tasks {tool} failed, {first} was called, and with a "
                    f"value from it {tool} succeeded: say in the description of {tool}, and in its error, to call "
                    f"{first} first."
                ),
                confidence=lower_bound(support.runs, support.runs + 1),
                details={"subject": f"{first} before {tool}", "relation": "first"},
                **supported(support),
            )
