"""The tools worth ranking for one request: the best by words and by each layer, of the request and of each need."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from pegboard.index.postings import Floats, Mask

Ints = npt.NDArray[np.intp]
LEAST = 0.15
"""A cosine below this is chance."""
NEARBY = 48
"""So many of the best by words, and by each embedder, are ranked."""
BLOCKS = 512
"""The greatest scores of so many blocks tell how great the best scores are at least."""
FEW = 1_500
"""So many scores are sorted as they are: sorting takes no branches, so it is faster than to partition them."""
_TINY = np.float32(1e-30)


def chosen(scores: Floats, parts: Sequence[int], named: Sequence[int]) -> Ints:
    """The slots worth ranking.

    Parameters:
        scores: of words, then of each layer: of the request, then of each of its needs; no tool that may not be shown
            has any above zero.
        parts: how many rows each of them has.
        named: the slots of tools that the request names.
    """
    found = nearest(scores, *_wanted(tuple(parts)))
    if named:
        found[named] = True
    return found.nonzero()[0]


@cache
def _wanted(parts: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """How many of each row are wanted, and what their scores must be above."""
    counts = tuple(count for rows in parts for count in (NEARBY, *[NEARBY // max(1, rows - 1)] * (rows - 1)))
    return counts, (0.0,) * parts[0] + (LEAST,) * (len(counts) - parts[0])


def nearest(scores: Floats, counts: tuple[int, ...], least: tuple[float, ...]) -> Mask:
    """Which slots are among the best of any row: its greatest scores, and all that tie with the last of them.

    Parameters:
        scores: a row a way to score, a column a slot.
        counts: how many of each row are wanted.
        least: of each row, what a score must be above.
    """
    size = scores.shape[1]
    above = _above(least)
    if size > FEW:
        floors = np.array([_floor(*row) for row in zip(scores, counts, above, strict=True)])
    elif size > min(counts):
        places = [max(size - count, 0) for count in counts]
        ranked = scores.copy()
        ranked.sort(axis=1)
        floors = np.maximum(ranked[np.arange(len(places)), places], above)
    else:
        floors = above
    return np.logical_or.reduce(scores >= floors[:, None], axis=0)


@cache
def _above(values: tuple[float, ...]) -> Floats:
    """The next numbers that 32 bits hold."""
    return np.nextafter(np.array(values, np.float32), np.float32(np.inf))


def _floor(scores: Floats, count: int, least: np.float32) -> np.float32:
    """The last of the `count` greatest of very many scores that reach `least`, or `least`."""
    ranked = scores[scores >= max(reached(scores, count), least)]
    if len(ranked) < count:
        return least
    ranked.sort()
    return ranked[len(ranked) - count]


def reached(scores: Floats, count: int) -> np.float32:
    """A score above zero that at least `count` of very many reach, found without sorting them; of few, any above zero.

    Parameters:
        scores: one a slot.
        count: no more than `BLOCKS`.
    """
    whole = len(scores) - len(scores) % BLOCKS
    tops = np.maximum.reduce(scores[:whole].reshape(-1, BLOCKS), axis=0, initial=_TINY)
    tops.sort()
    return tops[BLOCKS - count]
