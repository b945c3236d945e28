"""From signals to scores."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

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


def fused(rows: Floats, layers: int) -> Floats:
    """Words and meaning (each layer from its least to its greatest), and what else tells a little.

    Parameters:
        rows: what is weighed (`Signals.weighed`), a column a candidate: four rows of words; of each layer its
            meaning and that for the best need; of the last of several that of the best other tool of the namespace.
        layers: how many layers count; those after them are left out.
    """
    if not rows.size:
        return rows[0].copy()
    used = len(WEIGHTS) + 2 * layers + (layers > 1)
    given, weights = rows[:used].copy(), _weights(layers).copy()
    for row in range(len(WEIGHTS), len(WEIGHTS) + 2 * layers, 2):
        least, most = np.minimum.reduce(rows[row]), np.maximum.reduce(rows[row])
        given[row] -= least
        weights[row] /= max(float(most) - float(least), 1e-3)
    found: Floats = np.add.reduce(given * weights.astype(np.float32), axis=0)
    return found.round(4)


@cache
def _weights(layers: int) -> npt.NDArray[np.float64]:
    """What each row counts, in a column."""
    meaning = [weight for layer in MEANING.get(layers, (1.0,) * layers) for weight in (layer, NEED)]
    return np.array([[weight] for weight in (*WEIGHTS, *meaning, *[SERVER] * (layers > 1))])
