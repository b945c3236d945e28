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
SERVER = 0.3
"""What the meaning of the best other tool of its namespace counts, in the last of several layers."""

_ROWS = [OF_WORDS.index(name) for name in WEIGHTS]
_WEIGHTS = np.array([[weight] for weight in WEIGHTS.values()], np.float32)
_NEED = OF_MEANING.index("best need / best")
_SERVER = OF_MEANING.index("namespace's meaning")


def fused(signals: Floats) -> Floats:
    """Words and meaning (each layer from its least to its greatest), and what else tells a little."""
    if not signals.size:
        return np.zeros(len(signals), np.float32)
    rows = signals.T
    found = np.add.reduce(rows.take(_ROWS, axis=0) * _WEIGHTS, axis=0)
    starts = range(len(OF_WORDS), len(rows), len(OF_MEANING))
    weights = MEANING.get(len(starts), (1.0,) * len(starts))
    for start, weight in zip(starts, weights, strict=True):
        meaning = rows[start]
        least, most = np.minimum.reduce(meaning), np.maximum.reduce(meaning)
        found += (meaning - least) * np.float32(weight / max(float(most) - float(least), 1e-3))
        found += rows[start + _NEED] * np.float32(NEED)
    if len(starts) > 1:
        found += rows[starts[-1] + _SERVER] * np.float32(SERVER)
    return found.round(4)
