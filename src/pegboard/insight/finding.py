"""What insight has to say: findings, with the evidence behind each, what it would save, and why."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from typing import Any

from pegboard.insight.support import Support
from pegboard.schema.types import Json, canonical


class Kind(StrEnum):
    """The kinds of findings, in the order in which a report shows them."""

    BUNDLE = "bundle"
    BATCH = "batch"
    FAN_OUT = "fan_out"
    MERGE = "merge"
    LADDER_GAP = "ladder_gap"
    MISSING_HINT = "missing_hint"
    HOT_SPOT = "hot_spot"
    CONTEXT = "context"
    SEARCH_MISS = "search_miss"
    BUDGET_PRESSURE = "budget_pressure"
    UNPROVEN = "unproven"
    NO_TRAFFIC = "no_traffic"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Saving:
    """What would have been saved in the traces at hand, had the finding been applied.

    Parameters:
        calls: tool calls that fall away.
        turns: model messages that fall away; none is claimed that was not spent.
        tokens: estimated tokens of the arguments and call frames that fall away (bytes / 4).
    """

    calls: int = 0
    turns: int = 0
    tokens: int = 0

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {"calls": self.calls, "turns": self.turns, "tokens": self.tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that traces (and the catalog) teach.

    Parameters:
        kind: what sort of thing.
        tools: the tools that it is about; of a bundle the steps in order.
        reason: why, in words and figures that a person can check.
        runs: the runs that show it.
        tasks: the distinct tasks among them.
        examples: a few of the runs.
        confidence: between 0 and 1: how sure the pattern is, by a lower bound where it is a share.
        saving: what applying it would have saved in these traces.
        details: what its kind needs more: `wiring`, `replaces`, `over` ...; `subject` where its tools do not name it.
    """

    kind: Kind
    tools: tuple[str, ...]
    reason: str
    runs: int = 0
    tasks: int = 0
    examples: tuple[str, ...] = ()
    confidence: float = 1.0
    saving: Saving = Saving()
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def id(self) -> str:
        """The same for the same finding in other traces: by kind, tools and subject, not by figures."""
        about = [self.kind.value, self.details.get("subject") or list(self.tools)]
        return f"{self.kind.value}-{hashlib.sha256(canonical(about).encode()).hexdigest()[:8]}"

    def to_json(self) -> dict[str, Json]:
        """As plain data; the details stand beside the common fields."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "tools": list(self.tools),
            "reason": self.reason,
            "support_runs": self.runs,
            "support_tasks": self.tasks,
            "confidence": round(self.confidence, 3),
            "saving": self.saving.to_json(),
            **self.details,
            "examples": list(self.examples),
        }


def supported(support: Support) -> dict[str, Any]:
    """The fields of a finding that its support fills."""
    return {"runs": support.runs, "tasks": support.tasks, "examples": tuple(support.example_runs)}


def lower_bound(hits: float, of: float, z: float = 1.645) -> float:
    """The lower end of a share's 90 % interval (Wilson, "Probable inference", 1927), 0 for no cases."""
    if of <= 0:
        return 0.0
    share = min(hits / of, 1.0)
    centre = share + z * z / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (centre - spread) / (1 + z * z / of))


def percent(part: float, whole: float) -> str:
    """A share in words, such as `33 %`; `0 %` of nothing."""
    return f"{round(100 * part / whole) if whole else 0} %"


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """Findings in report order: by kind, then by what they save, then by support; ties by tools."""
    order = {kind: place for place, kind in enumerate(Kind)}
    return sorted(
        findings,
        key=lambda item: (order[item.kind], -item.saving.calls, -item.saving.turns, -item.runs, item.tools, item.id),
    )
