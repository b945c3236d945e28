"""The tools worth ranking."""

from collections.abc import Sequence

import numpy as np

from pegboard.index.plain.arrays import Floats, Ints

BLOCKS = 512
"""The greatest scores of so many blocks tell how great the best scores are at least."""
FEW = 1_500
"""So many scores are sorted as they are: sorting takes no branches, so it is faster than to partition them."""


def nearest(
    scores: Floats, size: int, counts: tuple[int, ...], least: Floats, named: Sequence[int], found: Ints
) -> int:
    """The slots that are among the best of any row: its greatest scores, and all that tie with the last of them.

    Parameters:
        scores: a row a way to score, a column a slot.
        size: how many slots there are.
        counts: how many of each row are wanted.
        least: of each row, what a score must reach.
        named: slots that are wanted whatever they score.
        found: filled in, rising.

    Returns:
        How many they are.
    """
    if size > FEW:
        floors = np.array([_floor(*row) for row in zip(scores, counts, least, strict=True)])
    elif size > min(counts):
        ranked = scores.copy()
        ranked.sort(axis=1)
        floors = np.maximum(ranked[np.arange(len(counts)), [max(size - count, 0) for count in counts]], least)
    else:
        floors = least
    marks = np.logical_or.reduce(scores >= floors[:, None], axis=0)
    marks[list(named)] = True
    slots = marks.nonzero()[0]
    found[: len(slots)] = slots
    return len(slots)


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
    even = len(scores) - len(scores) % BLOCKS
    tops = np.maximum.reduce(scores[:even].reshape(-1, BLOCKS), axis=0, initial=np.float32(1e-30))
    tops.sort()
    return tops[BLOCKS - count]
