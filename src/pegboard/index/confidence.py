"""How sure a search is: learned from requests whose right tools were there, and from the same with them taken away.

The function comes from `training/rank.py`; how well it is calibrated stands in `docs/explain/search.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log

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
_FAR = np.float32(4)


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
    order = (-values).argsort(kind="stable")[:_COMPARED]
    best = values.take(order).tolist()
    rows, layers = signals.T, _layers(signals)
    columns = rows.take([_SHARE, *layers], axis=0)
    top: list[float] = rows[:, order[0]].tolist()
    share, *means = (sum(near) / len(near) for near in columns.take(order, axis=1).tolist())
    first, *firsts = (columns.argmax(axis=1) == order[0]).tolist()
    leading, *leadings = map(_leading, np.sort(columns, axis=1)[:, -5:].tolist())
    found = [top[n] for n in _TAKEN]
    found += [share, log(len(values))]
    found += [best[0], min(best[0] - best[min(1, len(best) - 1)], 2.0), min(best[0] - sum(best) / len(best), 3.0)]
    found += [*leading, float(first)]
    for start, mean, lead, nearest in zip(layers, means, leadings, firsts, strict=True):
        found += [top[start + n] for n in _OF_BEST_MEANING]
        found += [mean, *lead, float(nearest)]
    return np.array(found, np.float32)


def _leading(ranked: Sequence[float]) -> tuple[float, float, float]:
    """Of the five greatest, rising: the greatest, and by how much it is greater than the second and the last."""
    return ranked[-1], ranked[-1] - ranked[max(len(ranked) - 2, 0)], ranked[-1] - ranked[0]


def _layers(signals: Floats) -> range:
    return range(len(OF_WORDS), signals.shape[1], len(OF_MEANING))


def evidence_of_each(any_right: float, signals: Floats, values: Floats, order: Sequence[int]) -> Floats:
    """What tells whether one candidate is right, a row a candidate."""
    layers, most = _layers(signals), float(np.maximum.reduce(values))
    columns = signals.T.take([_SHARE, layers[-1] if layers else _SHARE], axis=0).take(order, axis=1)
    odds = log(any_right / (1 - any_right))
    rows = zip(values.take(order).tolist(), *columns.tolist(), strict=True)
    found = [
        (odds, max(value - most, -6.0), share, meaning if layers else 0.0, 1 / (1 + n))
        for n, (value, share, meaning) in enumerate(rows)
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
        given = np.maximum(np.minimum((evidence - self.means) * self.scales, _FAR), -_FAR)
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
