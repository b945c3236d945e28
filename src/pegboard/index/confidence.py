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
from pegboard.index.rank import Ranker

NAMED = 0.99
"""The confidence in a tool that the request names."""
_OF_BEST = (
    "words",
    "words, share of the request",
    "name covered",
    "name, share of the request",
    "description, share of the request",
    "words known",
    "terms",
    "needs",
)
_TAKEN = [OF_WORDS.index(name) for name in _OF_BEST]
_OF_BEST_MEANING = [OF_MEANING.index(name) for name in ("meaning", "meaning, spread", "known to the model")]
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
    top = int(values.argmax())
    ranked = np.sort(values)[::-1][:_COMPARED]
    second = ranked[1] if len(ranked) > 1 else ranked[0] - 2
    found = [*signals[top, _TAKEN].tolist(), signals[:, _SHARE].max(), np.log1p(len(values)) / 5]
    found += [ranked[0], min(ranked[0] - second, 2.0), min(ranked[0] - ranked.mean(), 3.0)]
    for start in _layers(signals):
        found += [*signals[top, [start + n for n in _OF_BEST_MEANING]].tolist(), signals[:, start].max()]
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


@cache
def _learned(name: str) -> tuple[Ranker, Floats] | None:
    source = files("pegboard.index") / "data" / f"{name}-confidence.npz"
    if not source.is_file():
        return None
    with source.open("rb") as stream, np.load(stream) as data:
        parts = {part: data[part] for part in ("means", "scales", "hidden", "out", "direct")}
        return Ranker(**parts), data["each"]


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
        anything = _chance(float(learned[0](evidence(signals, values)[None])[0]))
        rows = evidence_of_each(anything, signals, values, order)
        each = [_chance(score) for score in (rows @ learned[1][:-1] + learned[1][-1]).tolist()]
        if not named:
            return Sure(round(anything, 4), [round(chance, 4) for chance in each])
    each[:named] = [NAMED] * min(named, len(each))
    return Sure(each[0], [round(chance, 4) for chance in each])


def _chance(score: float) -> float:
    return float(min(max(1 / (1 + np.exp(-min(max(score, -30.0), 30.0))), 0.001), NAMED))
