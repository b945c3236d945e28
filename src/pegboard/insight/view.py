"""A run, looked at once: its provenance and its shape, which every kind of evidence reads."""

from typing import NamedTuple

from pegboard.insight.flow import Use, provenance
from pegboard.insight.level import agent_level
from pegboard.insight.shape import Shape, Span, shape_of
from pegboard.insight.support import RunRef, reference
from pegboard.trace.record import CallRecord, Run


class View(NamedTuple):
    """What the evidence of one run is taken from.

    Parameters:
        run: the run, with the calls that its agents chose.
        ref: the run as evidence.
        uses: the provenance of each call's arguments.
        shape: its stretches and blocks.
        spans: where each block stands, in the form of `shape`.
        inner: the calls that tools made inside of those.
    """

    run: Run
    ref: RunRef
    uses: list[list[Use]]
    shape: Shape
    spans: list[list[Span]]
    inner: tuple[CallRecord, ...] = ()


def look_at(run: Run) -> View:
    """Take a run's provenance and shape."""
    chosen, inner = agent_level(run)
    uses = provenance(chosen)
    shape, spans = shape_of(chosen, uses)
    return View(chosen, reference(run), uses, shape, spans, inner)
