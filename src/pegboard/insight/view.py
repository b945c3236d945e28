"""A run, looked at once: its provenance and its shape, which every kind of evidence reads."""

from dataclasses import dataclass

from pegboard.insight.flow import Use, provenance
from pegboard.insight.shape import Shape, Span, shape_of
from pegboard.insight.support import RunRef, reference
from pegboard.trace.record import Run


@dataclass(frozen=True, slots=True)
class View:
    """What the evidence of one run is taken from.

    Parameters:
        run: the run.
        ref: the run as evidence.
        uses: the provenance of each call's arguments.
        shape: its stretches and blocks.
        spans: where each block stands, in the form of `shape`.
    """

    run: Run
    ref: RunRef
    uses: list[list[Use]]
    shape: Shape
    spans: list[list[Span]]


def look_at(run: Run) -> View:
    """Take a run's provenance and shape."""
    uses = provenance(run)
    shape, spans = shape_of(run, uses)
    return View(run, reference(run), uses, shape, spans)
