"""How sure a search is: learned from requests whose right tools were there, and from the same with them taken away.

The function comes from `training/rank.py`; how well it is calibrated stands in `docs/explain/search.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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
    top = int(order[0])
    best = values[order]
    share = np.sort(signals[:, _SHARE])[::-1]
    found = [*signals[top, _TAKEN].tolist(), signals[order, _SHARE].mean(), np.log(len(values))]
    found += [best[0], min(best[0] - best[min(1, len(best) - 1)], 2.0), min(best[0] - best.mean(), 3.0)]
    found += [share[0], share[0] - share[min(1, len(share) - 1)], share[0] - share[min(4, len(share) - 1)]]
    found += [float(top == signals[:, _SHARE].argmax())]
    for start in _layers(signals):
        column = signals[:, start]
        ranked = np.sort(column)[::-1]
        found += [*signals[top, [start + n for n in _OF_BEST_MEANING]].tolist(), column[order].mean()]
        found += [ranked[0], ranked[0] - ranked[min(1, len(ranked) - 1)], ranked[0] - ranked[min(4, len(ranked) - 1)]]
        found += [float(top == column.argmax())]
    return np.array(found, np.float32)


def _layers(signals: Floats) -> range:
    return range(len(OF_WORDS), signals.shape[1], len(OF_MEANING))


def evidence_of_each(any_right: float, signals: Floats, values: Floats, order: Sequence[int]) -> Floats:
    """What tells whether one candidate is right, a row a candidate."""
    meaning = [signals[order, start] for start in _layers(signals)]
    columns = (
        np.full(len(order), np.log(any_right / (1 - any_right))),
        np.maximum(values[order] - values.max(), -6),
        signals[order, _SHARE],
        meaning[-1] if meaning else np.zeros(len(order)),
        1 / (1 + np.arange(len(order))),
    )
    return np.stack(columns, axis=1).astype(np.float32)


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
    return float(min(max(1 / (1 + np.exp(-min(max(score, -30.0), 30.0))), 0.001), NAMED))
