"""From signals to scores."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from pegboard.core import ToolSpec
from pegboard.index import kernel
from pegboard.index.doing import OPPOSITE
from pegboard.index.plain.arrays import Ints, Wholes
from pegboard.index.postings import Floats

_NONE = np.zeros(0, np.int8)
Reranker: TypeAlias = Callable[[str, Sequence[ToolSpec], Floats, Floats], Floats]
"""Scores the candidates anew: given the request, the candidates, their signals (a row each, columns `OF_WORDS` and then
`OF_MEANING` for each layer) and the scores that they have; the greatest score comes first."""

WEIGHTS = (1.0, 0.25, 0.15, 0.2)
"""What words count: as a share of the best, of the need that is met best, in the name, in the best other tool of the
namespace; how they were chosen stands in `training/README.md`."""
MEANING = {1: (1.1,), 2: (0.7, 2.0)}
"""What the meaning of each layer counts, by their number: a sentence encoder more than a word table."""
NEED = 0.25
"""What a layer's meaning for the best need counts."""
SERVER = 0.3
"""What the meaning of the best other tool of its namespace counts, in the last of several layers."""


ENOUGH = 0.5
"""Words count fully where the best tool has this share of the request's, by rarity; below it less in proportion."""
LEAST = 0.5
"""So much they count at least."""
WELL = 0.7
"""Of a request of which the table knows a smaller share, words count fully: it may be in another language."""


def trusted(share: float, known: float) -> float:
    """How much words count beside the table: what a request shares a word or two with, it mostly does not mean.

    Parameters:
        share: how much of the request's words the best tool has, by rarity.
        known: the share of the request's words that the table knows.
    """
    least = LEAST if known >= WELL else 1.0
    return min(max(share / ENOUGH, least), 1.0)


def fused(
    rows: Floats, spans: Sequence[float], slots: Ints, doing: Wholes = _NONE, against: int = 0, *, trust: float = 1.0
) -> Floats:
    """Words and meaning (each layer from its least to its greatest), and what else tells a little.

    Parameters:
        rows: what is weighed (`Signals.table`), a column a candidate: four rows of words; of each layer its
            meaning above the least and that for the best need; of the last of several that of the best other tool of
            the namespace.
        spans: of each layer that counts, how far its meaning goes from the least to the greatest.
        slots: which tools the candidates are.
        doing: what each tool does.
        against: the opposite of what the request wants, which costs a tool that does it `doing.OPPOSITE`; 0 for none.
        trust: how much words count.
    """
    whole, need, name, server = WEIGHTS
    weights = [whole * trust, need * trust, name, server]
    for weight, span in zip(_of_layers(len(spans)), spans, strict=True):
        weights += (weight / span, NEED)
    if len(spans) > 1:
        weights.append(SERVER)
    count = rows.shape[1]
    found = np.empty(count, np.float32)
    kernel.fused(rows, count, weights, slots, doing, against, OPPOSITE, found)
    return found


def _of_layers(count: int) -> Sequence[float]:
    return MEANING.get(count) or (1.0,) * count
