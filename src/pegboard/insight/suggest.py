"""From evidence to findings."""

from pegboard.insight.batches import batches
from pegboard.insight.bundles import bundles
from pegboard.insight.evidence import Evidence
from pegboard.insight.finding import Finding, ranked
from pegboard.insight.thresholds import Thresholds


def suggest(evidence: Evidence, *, limits: Thresholds | None = None) -> list[Finding]:
    """The findings that evidence supports, in report order.

    Parameters:
        evidence: of all runs, merged.
        limits: when a pattern counts.
    """
    limits = limits or Thresholds()
    found = [*bundles(evidence.sequences, evidence.flows, limits), *batches(evidence.loops, limits)]
    return ranked(found)
