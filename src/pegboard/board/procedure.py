"""The procedure in eight steps: map, bundle, batch, ladder, modes, discovery, prune, verify; each with its findings.

Nothing is changed here: each step says what it found, and the command that would act on it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.core import Effects, Mode, ToolSpec, offers
from pegboard.insight.finding import Finding, Kind
from pegboard.insight.offer import Offer
from pegboard.insight.summary import Summary
from pegboard.schema.types import Json

SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """One thing to do.

    Parameters:
        what: in words.
        command: what does it; None where it is done by hand.
        finding: the finding behind it.
    """

    what: str
    command: str | None = None
    finding: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {"what": self.what, "command": self.command, "finding": self.finding}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of the procedure.

    Parameters:
        number: from 1 to 8.
        title: what it is about.
        found: what it found, in words.
        proposed: what it proposes.
    """

    number: int
    title: str
    found: tuple[str, ...]
    proposed: tuple[Proposed, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "step": self.number,
            "title": self.title,
            "found": list(self.found),
            "proposed": [each.to_json() for each in self.proposed],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the procedure stands on.

    Parameters:
        specs: the tools of the board.
        summary: what the traces say; without runs where there are none.
        searchable: whether models find tools by search.
        applied: what was written for findings, by their ids: the tool, and since when.
        taken: of each applied finding, how many runs since then took its tool, and how many went the old way.
    """

    specs: Sequence[ToolSpec]
    summary: Summary
    searchable: bool
    applied: Mapping[str, Mapping[str, Any]]
    taken: Mapping[str, tuple[int, int]]


def procedure(ground: Ground) -> list[Stage]:
    """The eight steps on a board and its traces."""
    return [
        Stage(number=number, title=title, found=tuple(found), proposed=tuple(proposed))
        for number, (title, (found, proposed)) in enumerate(((title, work(ground)) for title, work in _STAGES), start=1)
    ]


_Told = tuple[Sequence[str], Sequence[Proposed]]


def _map(ground: Ground) -> _Told:
    specs, summary = ground.specs, ground.summary
    kinds = Counter(spec.source.kind or "?" for spec in specs)
    effects = Counter(spec.effects.value for spec in specs)
    composed = Counter(kind for spec in specs if (kind := Offer.composite(spec)))
    found = [
        f"{len(specs)} tools in {len({spec.name.namespace for spec in specs})} namespaces: {_counts(kinds)}.",
        f"By effects: {_counts(effects)}." if effects else "No tools.",
        f"Made of tools: {_counts(composed)}." if composed else "None of them is made of others.",
        f"{summary.runs} runs of {summary.tasks} tasks with {summary.calls} calls stand behind what follows.",
    ]
    if summary.flows:
        flows = ", ".join(f"{flow.giver} to {flow.taker} ({flow.runs} runs)" for flow in summary.flows[:3])
        found.append(f"Values flow most from {flows}.")
    if not summary.runs:
        return found, [Proposed(what="Let agents work on the board, or give traces: pegboard improve FILES.")]
    return found, []


def _of(*kinds: Kind) -> Callable[[Ground], _Told]:
    """A step whose findings insight has made."""

    def stage(ground: Ground) -> _Told:
        rows = [finding for finding in ground.summary.findings if finding.kind in kinds]
        counts = Counter(finding.kind.value.replace("_", " ") for finding in rows)
        named = ", ".join(f"{name} ({number})" for name, number in counts.items())
        return [f"Found: {named}." if rows else "Nothing."], [_proposal(each, ground) for each in rows[:SHOWN]]

    return stage


_WRITTEN = (Kind.BUNDLE, Kind.BATCH, Kind.MERGE, Kind.FAN_OUT, Kind.MISSING_HINT)


def _proposal(finding: Finding, ground: Ground) -> Proposed:
    id, applied = finding.id, ground.applied.get(finding.id)
    if applied is not None:
        return Proposed(what=f"Applied as {applied.get('tool') or 'a hint'}: {finding.reason}", finding=id)
    main = finding.details.get("variant_of")
    if main:
        return Proposed(what=f"Another way into {main}, which takes both: {finding.reason}", finding=id)
    command = f"pegboard insight apply {id}" if finding.kind in _WRITTEN else None
    return Proposed(what=finding.reason, command=command, finding=id)


def _modes(ground: Ground) -> _Told:
    hurtful = [spec for spec in ground.specs if spec.effects is Effects.DESTRUCTIVE or spec.costly]
    bare = [spec for spec in hurtful if not offers(spec, Mode.PREVIEW)]
    unknown = sum(spec.effects is Effects.UNKNOWN for spec in ground.specs)
    found = [f"{len(hurtful)} tools are destructive or costly; {len(bare)} of them have no preview."]
    if unknown:
        found.append(f"Of {unknown} tools nobody says what they change: they are treated as if they might.")
    proposed = [
        Proposed(what=f"{spec.name}: give it a preview (@{spec.name.name}.preview), which becomes its default mode.")
        for spec in bare[:SHOWN]
    ]
    return found, proposed


def _discovery(ground: Ground) -> _Told:
    told, proposed = _of(Kind.MISSING_HINT, Kind.SEARCH_MISS, Kind.CONTEXT, Kind.HOT_SPOT)(ground)
    specs = ground.specs
    plain = [spec for spec in specs if not spec.description.strip()]
    found = [
        "Models find tools by search."
        if ground.searchable
        else f"Models see all {len(specs)} tools; none is searched.",
        f"{sum(bool(spec.hints) for spec in specs)} tools name what to call first, then or instead.",
        *(told if proposed else ()),
    ]
    more: list[Proposed] = []
    if len(specs) >= 20 and not ground.searchable:
        more.append(Proposed(what='Past twenty tools, let models search: search = "auto" in [board].'))
    more += [Proposed(what=f"{spec.name} has no description: nobody can find it.") for spec in plain[:SHOWN]]
    return found, [*proposed, *more]


def _verify(ground: Ground) -> _Told:
    if not ground.applied:
        return ["Nothing was applied yet."], [
            Proposed(what="After a change, test the new tool alone: pegboard test TOOL, then see what agents choose.")
        ]
    found: list[str] = []
    proposed: list[Proposed] = []
    for id, applied in ground.applied.items():
        new, old = ground.taken.get(id, (0, 0))
        tool = applied.get("tool")
        found.append(f"{id}: {tool or 'a hint'}; since then {new} runs took it and {old} went the old way.")
        if tool:
            proposed.append(Proposed(what=f"Run {tool} alone.", command=f"pegboard test {tool}", finding=id))
            proposed.append(
                Proposed(what="See why runs kept the old way.", command=f"pegboard insight verify {id}", finding=id)
            )
    return found, proposed


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number} {name}" for name, number in ordered)


_STAGES: tuple[tuple[str, Callable[[Ground], _Told]], ...] = (
    ("Map the current set: every tool, its type, and what agents run", _map),
    ("Find bundle candidates: sequences repeated without branching", _of(Kind.BUNDLE, Kind.FAN_OUT)),
    ("Find batch candidates: one tool in a loop over a list", _of(Kind.BATCH, Kind.BUDGET_PRESSURE)),
    ("Find ladder gaps: only the raw tool, or only the high one", _of(Kind.LADDER_GAP)),
    ("Modes: a preview on everything that is destructive or costly", _modes),
    ("Discovery: hints, search, and what agents could not find", _discovery),
    (
        "Prune: merge near-duplicates, retire what nobody uses",
        _of(Kind.MERGE, Kind.NO_TRAFFIC, Kind.DEAD, Kind.UNPROVEN),
    ),
    ("Verify: each new tool alone, then what agents choose", _verify),
)
