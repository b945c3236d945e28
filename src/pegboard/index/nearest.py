"""The tools worth ranking for one request: the best by words and by each layer, of the request and of each need."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from pegboard.index import kernel
from pegboard.index.postings import Floats

Ints = npt.NDArray[np.intp]
LEAST = 0.15
"""A cosine below this is chance."""
NEARBY = 48
"""So many of the best by words, and by each embedder, are ranked."""


def chosen(scores: Floats, parts: Sequence[int], named: Sequence[int]) -> Ints:
    """The slots worth ranking.

    Parameters:
        scores: of words, then of each layer: of the request, then of each of its needs; no tool that may not be shown
            has any above zero.
        parts: how many rows each of them has.
        named: the slots of tools that the request names.
    """
    return nearest(scores, *_wanted(tuple(parts)), named)


def nearest(scores: Floats, counts: tuple[int, ...], least: Floats, named: Sequence[int] = ()) -> Ints:
    """The slots that are among the best of any row: its greatest scores, and all that tie with the last of them.

    Parameters:
        scores: a row a way to score, a column a slot.
        counts: how many of each row are wanted.
        least: of each row, what a score must reach.
        named: slots that are wanted whatever they score.
    """
    size = scores.shape[1]
    found = np.empty(size, np.intp)
    return found[: kernel.nearest(scores, size, counts, least, list(named), found)]


@cache
def _wanted(parts: tuple[int, ...]) -> tuple[tuple[int, ...], Floats]:
    """How many of each row are wanted, and what their scores must reach: the next number that is above the least."""
    counts = tuple(count for rows in parts for count in (NEARBY, *[NEARBY // max(1, rows - 1)] * (rows - 1)))
    least = (0.0,) * parts[0] + (LEAST,) * (len(counts) - parts[0])
    return counts, np.nextafter(np.array(least, np.float32), np.float32(np.inf))
