"""How sure a search is: learned from requests whose right tools were there, and from the same with them taken away.

The function comes from `training/rank.py`; how well it is calibrated stands in `docs/explain/search.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log
from statistics import fmean

import numpy as np

from pegboard.index.candidates import OF_MEANING, OF_WORDS
from pegboard.index.postings import Floats

NAMED = 0.99
"""The confidence in a tool that the request names."""
_OF_BEST = (
    "words",
    "words, share of the request",
    "name covered",
    "name, share of the request",
    "description, share of the request",
    "namespace, share of the request",
    "parameters, share of the request",
    "words / best",
    "words of the best need",
    "words known",
    "terms",
    "needs",
)
_TAKEN = [OF_WORDS.index(name) for name in _OF_BEST]
_OF_BEST_MEANING = [
    OF_MEANING.index(name)
    for name in (
        "meaning",
        "meaning, spread",
        "meaning of the best need",
        "best need / best",
        "namespace's meaning",
        "known to the model",
    )
]
_SHARE = OF_WORDS.index("words, share of the request")
_COMPARED = 8


@dataclass(frozen=True, slots=True)
class Sure:
    """From 0 to 1.

    Parameters:
        any: how likely any tool meets the request.
        each: how likely each shown candidate does.
    """

    any: float
    each: Sequence[float]


def evidence(signals: Floats, values: Floats) -> Floats:
    """What tells whether anything fits: the best candidate, and how it stands out among the next ones."""
    order = np.argsort(-values, kind="stable")[:_COMPARED]
    best = values[order].tolist()
    near = signals[order].tolist()
    top, layers = near[0], _layers(signals)
    columns = signals[:, [_SHARE, *layers]]
    first, *firsts = columns.argmax(axis=0).tolist()
    share, *meanings = map(_leading, columns.T)
    found = [top[n] for n in _TAKEN]
    found += [fmean(row[_SHARE] for row in near), log(len(values))]
    found += [best[0], min(best[0] - best[min(1, len(best) - 1)], 2.0), min(best[0] - fmean(best), 3.0)]
    found += [*share, float(order[0] == first)]
    for start, meaning, nearest in zip(layers, meanings, firsts, strict=True):
        found += [top[start + n] for n in _OF_BEST_MEANING]
        found += [fmean(row[start] for row in near), *meaning, float(order[0] == nearest)]
    return np.array(found, np.float32)


def _leading(column: Floats) -> tuple[float, float, float]:
    """The greatest, and by how much it is greater than the second and the fifth."""
    most = min(len(column), 5)
    ranked = sorted(np.partition(column, -most)[-most:].tolist(), reverse=True)
    return ranked[0], ranked[0] - ranked[min(1, most - 1)], ranked[0] - ranked[-1]


def _layers(signals: Floats) -> range:
    return range(len(OF_WORDS), signals.shape[1], len(OF_MEANING))


def evidence_of_each(any_right: float, signals: Floats, values: Floats, order: Sequence[int]) -> Floats:
    """What tells whether one candidate is right, a row a candidate."""
    layers, most = _layers(signals), float(values.max())
    meaning = layers[-1] if layers else None
    odds = log(any_right / (1 - any_right))
    rows = zip(signals[order].tolist(), values[order].tolist(), strict=True)
    found = [
        (odds, max(value - most, -6.0), row[_SHARE], row[meaning] if meaning is not None else 0.0, 1 / (1 + n))
        for n, (row, value) in enumerate(rows)
    ]
    return np.array(found, np.float32)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression over standardised evidence.

    Parameters:
        means, scales: of the evidence.
        weights: of the evidence; the last is the bias.
        each: of the evidence of one candidate; the last is the bias.
    """

    means: Floats
    scales: Floats
    weights: Floats
    each: Floats

    def anything(self, evidence: Floats) -> float:
        """How likely any tool fits."""
        given = np.clip((evidence - self.means) * self.scales, -4, 4)
        return _chance(float(given @ self.weights[:-1] + self.weights[-1]))


@cache
def _learned(name: str) -> Calibration | None:
    source = files("pegboard.index") / "data" / f"{name}-confidence.npz"
    if not source.is_file():
        return None
    with source.open("rb") as stream, np.load(stream) as data:
        return Calibration(**{part: data[part] for part in ("means", "scales", "weights", "each")})


def of(name: str, signals: Floats, values: Floats, order: Sequence[int], *, named: int = 0) -> Sure:
    """The confidence of one search.

    Parameters:
        name: the kind of engine.
        signals: of the candidates.
        values: their scores.
        order: the places of those that are shown, best first.
        named: how many of them the request names.
    """
    learned = _learned(name)
    if not len(order):
        return Sure(0.0, ())
    if learned is None:
        each = [round(max(0.0, min(NAMED, share)), 4) for share in signals[order, _SHARE].tolist()]
    else:
        anything = learned.anything(evidence(signals, values))
        rows = evidence_of_each(anything, signals, values, order)
        each = [_chance(score) for score in (rows @ learned.each[:-1] + learned.each[-1]).tolist()]
        if not named:
            return Sure(round(anything, 4), [round(chance, 4) for chance in each])
    each[:named] = [NAMED] * min(named, len(each))
    return Sure(each[0], [round(chance, 4) for chance in each])


def _chance(score: float) -> float:
    return min(max(1 / (1 + exp(-min(max(score, -30.0), 30.0))), 0.001), NAMED)
