"""How sure a search is: calibrated on requests whose right tools were there, and on the same with them taken away."""

from collections.abc import Sequence
from dataclasses import dataclass

from pegboard.index.candidates import SIGNALS
from pegboard.index.postings import Floats


@dataclass(frozen=True, slots=True)
class Sure:
    """From 0 to 1.

    Parameters:
        any: how likely any tool meets the request.
        each: how likely each candidate does.
    """

    any: float
    each: Sequence[float]


def of(signals: Floats, values: Floats, order: Sequence[int], *, named: bool) -> Sure:
    """The confidence of one search.

    Parameters:
        signals: of the candidates.
        values: their scores.
        order: the places of those that are shown, best first.
        named: whether the request names a tool.
    """
    if not len(order):
        return Sure(0.0, ())
    share = signals[order, SIGNALS.index("words, share of the request")]
    meaning = signals[order, SIGNALS.index("meaning")]
    each = [round(max(0.0, min(0.99, (a + b) / 2)), 4) for a, b in zip(share.tolist(), meaning.tolist(), strict=True)]
    if named:
        each[0] = 0.99
    return Sure(each[0], each)
