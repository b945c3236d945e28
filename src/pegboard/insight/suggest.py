"""From evidence to findings."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pegboard.insight.batches import batches
from pegboard.insight.bundles import bundles
from pegboard.insight.composites import unproven
from pegboard.insight.context import context
from pegboard.insight.evidence import Evidence, Part
from pegboard.insight.finding import Finding, Kind, Saving, ranked
from pegboard.insight.ladder import ladder_gaps
from pegboard.insight.misses import search_misses
from pegboard.insight.neighbours import fan_outs, merges
from pegboard.insight.offer import Offer
from pegboard.insight.replay import Replayer, plan_of
from pegboard.insight.sequences import count_steps
from pegboard.insight.support import EXAMPLES
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.traffic import budget_pressure, dead, unused
from pegboard.insight.trouble import hot_spots, missing_prerequisites


def suggest(evidence: Evidence, offer: Offer | None = None, *, limits: Thresholds | None = None) -> list[Finding]:
    """The findings that evidence supports, in report order, with what each would have saved.

    Parameters:
        evidence: of all runs, merged.
        offer: the tools that were on offer, where they are known.
        limits: when a pattern counts.
    """
    offer, limits = offer or Offer(), limits or Thresholds()
    whole = evidence.whole()
    steps = count_steps(whole.sequences)
    found = [finding for world in evidence.worlds() for finding in _habits(world, offer, limits)]
    found += [
        *merges(steps, whole.traffic, whole.flows, offer, limits),
        *ladder_gaps(whole.traffic, offer, whole.runs),
        *search_misses(whole.misses, offer, limits),
        *budget_pressure(whole.sequences, whole.traffic, limits),
        *unproven(whole.sequences, whole.loops, whole.traffic, offer, whole.runs),
        *unused(whole.traffic, offer, whole.runs),
        *dead(whole.traffic, offer, limits),
    ]
    return ranked(_one_each(found))


def _habits(world: Part, offer: Offer, limits: Thresholds) -> list[Finding]:
    """What the runs of one world do again and again."""
    steps = count_steps(world.sequences)
    patterns = [
        *bundles(world.sequences, steps, world.flows, offer, limits),
        *_listed(batches(world.loops, limits), offer),
        *fan_outs(steps, offer, limits),
    ]
    return [
        *with_savings(patterns, world),
        *missing_prerequisites(world.trouble, offer, limits),
        *hot_spots(world.trouble, world.traffic, limits),
        *context(world.flows, world.traffic, world.runs, limits),
    ]


def _one_each(found: Iterable[Finding]) -> list[Finding]:
    """Of findings that two worlds share, the one with more runs, with the support and the savings of both."""
    by_id: dict[str, Finding] = {}
    for finding in found:
        other = by_id.get(finding.id)
        by_id[finding.id] = finding if other is None else _both(*sorted((finding, other), key=_by_runs))
    return list(by_id.values())


def _by_runs(finding: Finding) -> tuple[int, str]:
    return -finding.runs, finding.reason


def _both(finding: Finding, other: Finding) -> Finding:
    return replace(
        finding,
        runs=finding.runs + other.runs,
        tasks=finding.tasks + other.tasks,
        examples=tuple(sorted({*finding.examples, *other.examples})[:EXAMPLES]),
        saving=Saving(
            finding.saving.calls + other.saving.calls,
            finding.saving.turns + other.saving.turns,
            finding.saving.tokens + other.saving.tokens,
        ),
    )


def _listed(found: Iterable[Finding], offer: Offer) -> Iterator[Finding]:
    """Batch candidates; of a tool that takes a list already only the hint is missing."""
    for finding in found:
        over = finding.details["over"]
        tool = finding.tools[0]
        named = _declared(tool, over, offer)
        finding = replace(finding, details={**finding.details, "over": named})
        if isinstance(named, str) and offer.takes_list(tool, named):
            yield replace(
                finding,
                kind=Kind.MISSING_HINT,
                reason=f"{tool} takes a list in {named} and is still called in a loop: say so in its description. "
                f"{finding.reason}",
                details={**finding.details, "subject": f"{tool} takes a list", "relation": "list"},
            )
        else:
            yield finding


def _declared(tool: str, over: str | list[str], offer: Offer) -> str | list[str]:
    """The varying argument by its declared name, where a trace gives it by position alone (`arg0`)."""
    names = list(offer.parameters(tool))
    if isinstance(over, str) and over not in names and over.startswith("arg") and over[3:].isdigit():
        return names[int(over[3:])] if int(over[3:]) < len(names) else over
    return over


def with_savings(findings: list[Finding], evidence: Part) -> list[Finding]:
    """Findings with what they save when all are applied together, each place counted for one of them.

    Parameters:
        findings: bundles, batches and fan-outs.
        evidence: of the runs that they were found in.
    """
    replayer = Replayer(plan_of(findings))
    calls: Counter[str] = Counter()
    turns: Counter[str] = Counter()
    dropped: dict[str, Counter[str]] = {finding.id: Counter() for finding in findings}
    for shape, support in evidence.sequences.bag.items():
        runs = support.runs
        for cut in replayer.cuts(shape):
            calls[cut.finding] += runs * cut.calls
            turns[cut.finding] += runs * cut.turns
            for tool, count in cut.dropped:
                dropped[cut.finding][tool] += runs * count
    return [
        replace(
            finding,
            saving=Saving(calls[finding.id], turns[finding.id], evidence.traffic.tokens_saved(dropped[finding.id])),
        )
        for finding in findings
    ]
