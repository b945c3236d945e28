"""From signals to scores."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from pegboard.core import ToolSpec
from pegboard.index.candidates import OF_MEANING, OF_WORDS
from pegboard.index.postings import Floats

Reranker: TypeAlias = Callable[[str, Sequence[ToolSpec], Floats, Floats], Floats]
"""Scores the candidates anew: given the request, the candidates, their signals (a row each, columns `OF_WORDS` and then
`OF_MEANING` for each layer) and the scores that they have; the greatest score comes first."""

WEIGHTS = {
    "words / best": 1.0,
    "words of the best need": 0.25,
    "name covered": 0.15,
    "namespace's words": 0.2,
}
"""What the signals of words count; how they were chosen stands in `training/README.md`."""
MEANING = {1: (1.1,), 2: (0.7, 2.0)}
"""What the meaning of each layer counts, by their number: a sentence encoder more than a word table."""
NEED = 0.25
"""What a layer's meaning for the best need counts."""


def fused(signals: Floats) -> Floats:
    """Words and meaning (each layer from its least to its greatest), and what else tells a little."""
    if not signals.size:
        return np.zeros(len(signals), np.float32)
    found = np.zeros(len(signals), np.float32)
    for name, weight in WEIGHTS.items():
        found += np.float32(weight) * np.maximum(signals[:, OF_WORDS.index(name)], 0)
    starts = range(len(OF_WORDS), signals.shape[1], len(OF_MEANING))
    weights = MEANING.get(len(starts), (1.0,) * len(starts))
    for start, weight in zip(starts, weights, strict=True):
        meaning = signals[:, start]
        least, most = float(meaning.min()), float(meaning.max())
        found += (meaning - np.float32(least)) * np.float32(weight / max(most - least, 1e-3))
        found += signals[:, start + OF_MEANING.index("best need / best")] * np.float32(NEED)
    return found.round(4)
