"""From evidence to findings."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pegboard.insight.batches import batches
from pegboard.insight.bundles import bundles
from pegboard.insight.composites import unproven
from pegboard.insight.context import context
from pegboard.insight.evidence import Evidence
from pegboard.insight.finding import Finding, Kind, Saving, ranked
from pegboard.insight.ladder import ladder_gaps
from pegboard.insight.misses import search_misses
from pegboard.insight.neighbours import fan_outs, merges
from pegboard.insight.offer import Offer
from pegboard.insight.replay import Replayer, plan_of
from pegboard.insight.sequences import count_steps
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
    steps = count_steps(evidence.sequences)
    patterns = [
        *bundles(evidence.sequences, steps, evidence.flows, offer, limits),
        *_listed(batches(evidence.loops, limits), offer),
        *fan_outs(steps, offer, limits),
    ]
    others = [
        *merges(steps, evidence.traffic, offer, limits),
        *ladder_gaps(evidence.traffic, offer, evidence.runs),
        *missing_prerequisites(evidence.trouble, offer, limits),
        *hot_spots(evidence.trouble, evidence.traffic, limits),
        *context(evidence.flows, evidence.traffic, evidence.runs, limits),
        *search_misses(evidence.misses, offer, limits),
        *budget_pressure(evidence.sequences, evidence.traffic, limits),
        *unproven(evidence.sequences, evidence.loops, evidence.traffic, offer, evidence.runs),
        *unused(evidence.traffic, offer, evidence.runs),
        *dead(evidence.traffic, offer, limits),
    ]
    return ranked([*with_savings(patterns, evidence), *others])


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


def with_savings(findings: list[Finding], evidence: Evidence) -> list[Finding]:
    """Findings with what they save when all are applied together, each place counted for one of them.

    Parameters:
        findings: bundles, batches and fan-outs.
        evidence: of all runs.
    """
    replayer = Replayer(plan_of(findings))
    calls: Counter[str] = Counter()
    turns: Counter[str] = Counter()
    dropped: dict[str, Counter[str]] = {finding.id: Counter() for finding in findings}
    for (shape, _), (runs, _) in evidence.sequences.bag.items():
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
