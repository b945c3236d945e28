"""How sure a search is: learned from requests whose right tools were there, and from the same with them taken away.

The function comes from `training/rank.py`; how well it is calibrated stands in `docs/explain/search.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from pegboard.index import kernel
from pegboard.index.candidates import OF_MEANING, OF_WORDS
from pegboard.index.plain.sure import CERTAIN, chance, rounded_chance
from pegboard.index.plain.sure import evidence_of_each as evidence_of_each
from pegboard.index.postings import Floats
from pegboard.index.shipped import shipped

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
_OF_BEST_MEANING = (
    "meaning",
    "meaning, spread",
    "meaning of the best need",
    "best need / best",
    "namespace's meaning",
    "known to the model",
)
_OF_WORDS = tuple(map(OF_WORDS.index, _OF_BEST))
_OF_MEANING = tuple(map(OF_MEANING.index, _OF_BEST_MEANING))
_SHARE = OF_WORDS.index("words, share of the request")
TERMS = OF_WORDS.index("terms")
COMPARED = 8
"""So many of the best candidates are compared with each other."""
_FAR = 4.0
LONG = 2.0
"""Requests of more terms than ten times this are no longer told apart by their length."""
STEPS = ((0.165, 0.07), (0.35, 0.25), (0.65, 0.45), (1.0, 0.83))
"""Chances up to the first number of a pair are told as the second: what a few hundred requests can tell apart."""
WITHIN = 0.025
"""Within a step chances keep their order, at most so far from what the step tells."""
FOREIGN = "foreign"
"""Requests in another language than the table's own: told by the function of the table, but for what follows."""
LENIENT = 0.4
"""Added to their odds: fewer of their words are found in the tools, so the same evidence means more."""


class Sure(NamedTuple):
    """From 0 to 1.

    Parameters:
        any: how likely any tool meets the request.
        each: how likely each shown candidate does.
    """

    any: float
    each: Sequence[float]


_FEW, _MEAN, _SPREAD = 20, 0.09, 0.17
"""A small catalog is taken for so many tools more, whose cosines are those of catalogs at large."""


class Background(NamedTuple):
    """The cosines of the request with all shown tools, as they are first compared: does the best one stand out?

    Parameters:
        mean: of the cosines.
        spread: their standard deviation.
        best: the greatest.
    """

    mean: float
    spread: float
    best: float

    @classmethod
    def of(cls, cosines: Floats, count: int) -> "Background":
        """Of a request's cosines, zero for tools that are not shown.

        Parameters:
            cosines: one a slot.
            count: how many tools are shown.
        """
        total, squares, best = kernel.spread(cosines)
        size = count + _FEW
        mean = (total + _FEW * _MEAN) / size
        square = (squares + _FEW * (_MEAN * _MEAN + _SPREAD * _SPREAD)) / size
        return cls(mean, max(square - mean * mean, 0.0) ** 0.5, best)

    @property
    def above(self) -> float:
        """By how many standard deviations the best stands above the mean, to two places."""
        return self.beyond(self.best)

    def beyond(self, cosine: float) -> float:
        """By how many standard deviations a tool of that cosine stands above the mean, to two places."""
        return round((cosine - self.mean) / max(self.spread, 1e-3), 2)


class Seen(NamedTuple):
    """What a search found, as far as it tells how sure it is.

    Parameters:
        signals: of the best candidate, in the order of `OF_WORDS`, and then of `OF_MEANING` for each layer.
        compared: of every candidate, the request's words and each layer's meaning, each with what makes shares of them.
        places, values: of the best candidates, best first, as many as are compared.
        among: how many candidates there are.
    """

    signals: list[float]
    compared: list[tuple[Floats, float]]
    places: list[int]
    values: list[float]
    among: int

    @classmethod
    def of(cls, signals: Floats, values: Floats) -> "Seen":
        """From all signals of all candidates, a row a candidate."""
        order: list[int] = (-values).argsort(kind="stable")[:COMPARED].tolist()
        columns = [_SHARE, *range(len(OF_WORDS), signals.shape[1], len(OF_MEANING))]
        compared = [(row, 1.0) for row in np.ascontiguousarray(signals.T[columns])]
        return cls(signals[order[0]].tolist(), compared, order, values.take(order).tolist(), len(values))


def evidence(seen: Seen) -> list[float]:
    """What tells whether anything fits: the best candidate, and how it stands out among the next ones."""
    return kernel.evidence(seen.signals, _OF_WORDS, _OF_MEANING, seen.compared, seen.places, seen.values, seen.among)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression over standardised evidence.

    Parameters:
        means, scales: of the evidence.
        weights: of the evidence; the last is the bias.
        each: of the evidence of one candidate; the last is the bias.
        tempered: of what the odds are weighed by on catalogs of any size (`temper`); None where they stand as they are.
        heard: of those odds and of what the sentence encoder says aside; the last is the bias.
    """

    means: Floats
    scales: Floats
    weights: Floats
    each: tuple[float, float, float, float]
    tempered: Sequence[float] | None = None
    heard: Sequence[float] | None = None

    def odds(self, evidence: list[float]) -> float:
        """The logarithm of the odds that any tool fits, as the requests of the training sets have it."""
        return kernel.odds(evidence, self.means, self.scales, self.weights, _FAR)

    def anything(self, seen: Seen, background: Background | None, aside: float | None = None) -> float:
        """How likely any tool fits."""
        odds = self.odds(evidence(seen))
        if self.tempered is None or background is None:
            return chance(odds)
        odds = sum(map(mul, temper(odds, seen.signals[TERMS], background), self.tempered))
        if self.heard is not None and aside is not None:
            odds = sum(map(mul, (odds, aside, 1.0), self.heard))
        return chance(odds)

    def of_each(self, any_right: float, best: float, values: list[float]) -> list[float]:
        """How likely each of the shown candidates is right; see `evidence_of_each`."""
        return kernel.chances(any_right, best, values, self.each)


def temper(odds: float, terms: float, background: Background) -> list[float]:
    """What the odds are weighed by: longer requests tell more, and so does a best tool that stands out of the catalog.

    Parameters:
        odds: as `Calibration.odds` has them; those beyond .002 and .99 count as these.
        terms: the signal of that name.
        background: of the request.
    """
    told = min(max(odds, -6.2), 4.6)
    return [told, told * min(terms, LONG), background.above, 1.0]


def stepped(chance: float) -> float:
    """A chance as it is told: in steps, within which chances keep their order."""
    least = 0.0
    for most, told in STEPS:
        if chance <= most:
            return told + WITHIN * (2 * (chance - least) / (most - least) - 1)
        least = most
    return chance


_ARRAYS = {"means", "scales", "weights"}


@cache
def _learned(name: str) -> Calibration | None:
    if name == FOREIGN:
        return _lenient(_learned("static"))
    source = shipped(f"{name}-confidence.npz")
    if not source.is_file():
        return None
    with source.open("rb") as stream, np.load(stream) as data:
        arrays: dict[str, Any] = {part: data[part] for part in data.files}
        weights: dict[str, Any] = {part: tuple(arrays[part].tolist()) for part in arrays.keys() - _ARRAYS}
        return Calibration(**(arrays | weights))


def _lenient(learned: Calibration | None) -> Calibration | None:
    if learned is None or learned.tempered is None:
        return learned
    return replace(learned, tempered=[*learned.tempered[:-1], learned.tempered[-1] + LENIENT], heard=None)


def of(
    name: str,
    seen: Seen,
    top: Sequence[int],
    values: list[float],
    *,
    named: int = 0,
    background: Background | None = None,
    aside: float | None = None,
) -> Sure:
    """The confidence of one search.

    Parameters:
        name: the kind of engine.
        seen: what it found.
        top, values: the places and values of those that are shown, best first.
        named: how many of them the request names.
        background: the request's cosines with all shown tools, where there are any.
        aside: how far the best stands out of the catalog to the sentence encoder, where that has a say.
    """
    learned = _learned(name)
    if learned is None:
        words, part = seen.compared[0]
        shares: list[float] = (words.take(top) * np.float32(part)).tolist()
        each = [rounded_chance(max(0.0, min(CERTAIN, share))) for share in shares]
    else:
        anything = learned.anything(seen, background, aside)
        each = learned.of_each(anything, seen.values[0], values)
        if not named:
            told = anything if learned.tempered is None or background is None else stepped(anything)
            return Sure(rounded_chance(told), each)
    each[:named] = [CERTAIN] * min(named, len(each))
    return Sure(each[0], each)
