"""From signals to scores: a small learned function, kept as data with its provenance (`training/rank.py`)."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from pegboard.index.candidates import OF_MEANING, OF_WORDS
from pegboard.index.postings import Floats


@dataclass(frozen=True)
class Ranker:
    """A network of one hidden layer over standardised signals.

    Parameters:
        means: of the signals.
        scales: what the differences from the means are multiplied by.
        hidden: signals to hidden units; its last row is the bias.
        out: hidden units to the score.
        direct: signals to the score, past the hidden units.
    """

    means: Floats
    scales: Floats
    hidden: Floats
    out: Floats
    direct: Floats

    def __call__(self, signals: Floats) -> Floats:
        """A score a candidate; equal signals have equal scores on any machine."""
        given = np.clip((signals - self.means) * self.scales, -4, 4)
        inner = np.maximum(given @ self.hidden[:-1] + self.hidden[-1], 0)
        scores: Floats = inner @ self.out + given @ self.direct
        return scores.round(4)


def plain(signals: Floats) -> Floats:
    """Words and meaning in equal parts, and a little of what the namespace's best has: the fusion without learning."""
    if not signals.size:
        return np.zeros(len(signals), np.float32)
    at = {name: n for n, name in enumerate(OF_WORDS)}
    found = signals[:, at["words / best"]] + np.float32(0.15) * np.maximum(signals[:, at["namespace's words"]], 0)
    layers = (signals.shape[1] - len(OF_WORDS)) // len(OF_MEANING)
    for n in range(layers):
        meaning = signals[:, len(OF_WORDS) + n * len(OF_MEANING)]
        least, most = float(meaning.min()), float(meaning.max())
        found = found + (meaning - np.float32(least)) * np.float32(1 / max(most - least, 1e-3))
    return found.round(4)


@cache
def learned(name: str) -> Ranker | None:
    """The learned function of this package for a kind of engine, if there is one."""
    source = files("pegboard.index") / "data" / f"{name}-rank.npz"
    if not source.is_file():
        return None
    with source.open("rb") as stream, np.load(stream) as data:
        return Ranker(**{part: data[part] for part in ("means", "scales", "hidden", "out", "direct")})
