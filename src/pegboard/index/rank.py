"""From signals to scores."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from pegboard.core import ToolSpec
from pegboard.index.postings import Floats

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


def fused(rows: Floats, spans: Sequence[float]) -> Floats:
    """Words and meaning (each layer from its least to its greatest), and what else tells a little.

    Parameters:
        rows: what is weighed (`Signals.weighed`), a column a candidate: four rows of words; of each layer its
            meaning above the least and that for the best need; of the last of several that of the best other tool of
            the namespace.
        spans: of each layer that counts, how far its meaning goes from the least to the greatest.
    """
    count = len(spans)
    meaning = [part for weight, span in zip(_of_layers(count), spans, strict=True) for part in (weight / span, NEED)]
    weights = np.array([*WEIGHTS, *meaning, *[SERVER] * (count > 1)], np.float32)
    found: Floats = np.add.reduce(rows[: len(weights)] * weights[:, None], axis=0)
    return found.round(4)


def _of_layers(count: int) -> Sequence[float]:
    return MEANING.get(count) or (1.0,) * count
