"""What tells how sure a search is."""

from collections.abc import Sequence
from functools import reduce
from math import exp, log, sqrt
from operator import add

import numpy as np

from pegboard.index.fields import Field
from pegboard.index.plain.arrays import Floats, Holding
from pegboard.index.plain.meaning import spread
from pegboard.index.plain.weighed import WORDS
from pegboard.index.plain.words import held

SIGNALS = 13
"""So many signals are of words (`candidates.OF_WORDS`)."""
CERTAIN = 0.99
"""No search is surer than this."""
_LEAST, _MOST = log(0.001 / 0.999), log(CERTAIN / (1 - CERTAIN))
_IN_FIELD = (Field.NAME, Field.PARAMETERS, Field.DESCRIPTION, Field.NAMESPACE)


def told(
    rows: Sequence[Holding],
    slot: int,
    table: Floats,
    count: int,
    wide: int,
    place: int,
    meanings: Sequence[tuple[Floats, float, float]],
    request: tuple[float, float, float],
) -> list[float]:
    """All signals of one candidate, in the order of `candidates.OF_WORDS` and then of `OF_MEANING` for each layer.

    Parameters:
        rows: what the request's terms are matched by.
        slot, place: of the candidate.
        table: as `weighed` fills it in, of `count` candidates; so many rows are weighed as `wide` tells.
        meanings: of each layer the candidates' cosines with the request, the greatest of them, and the share of the
            request's words that the model may know.
        request: the rarity of all its terms, and the signals of how many terms and needs it has.
    """
    asked, terms, needs = request
    column: list[float] = table[:, place].tolist()
    relative, need, covered, others = column[:WORDS]
    words, *of_meaning = column[wide:]
    fields = [0.0] * len(Field)
    for row, bits in held(rows, slot):
        for field in _IN_FIELD:
            fields[field] += rows[row][0] if bits >> field & 1 else 0.0
    shares = [fields[field] / asked for field in _IN_FIELD]
    known = reduce(add, [row[0] for row in rows], 0.0) / asked
    found = [words * 0.1, relative, words / asked, need, covered, *shares, others, known, terms, needs]
    for n, (cosines, most, share) in enumerate(meanings):
        whole, part = cosines.item(place), 1 / max(most, 1e-3)
        of_need, beside = of_meaning[2 * n : 2 * n + 2]
        total, squares, _ = spread(cosines)
        mean = total / count
        above = (whole - mean) / max(sqrt(max(squares / count - mean * mean, 0.0)), 1e-3)
        found += [whole, whole * part, above, of_need, column[WORDS + 1 + 2 * n], beside * part]
        found += [relative * whole * part, share]
    return found


def evidence(
    signals: Sequence[float],
    of_words: Sequence[int],
    of_meaning: Sequence[int],
    compared: Sequence[tuple[Floats, float]],
    places: Sequence[int],
    values: Sequence[float],
    count: int,
) -> list[float]:
    """What tells whether anything fits: the best candidate, and how it stands out among the next ones.

    Parameters:
        signals: of the best candidate.
        of_words, of_meaning: which of them tell, of those of words and of those of each layer, by their places.
        compared: of every candidate the request's words and each layer's meaning, each with what makes shares of them.
        places, values: of the best candidates, best first.
        count: how many candidates there are.
    """
    (share, *leading), *meanings = [standing(row, part, places) for row, part in compared]
    best, second = values[0], values[1 if len(values) > 1 else 0]
    mean = reduce(add, values, 0.0) / len(values)
    found = [*[signals[n] for n in of_words], share, log(count), best, min(best - second, 2.0), min(best - mean, 3.0)]
    found += leading
    each = (len(signals) - SIGNALS) // max(len(meanings), 1)
    for n, stand in enumerate(meanings):
        found += [*[signals[SIGNALS + n * each + m] for m in of_meaning], *stand]
    return found


def standing(row: Floats, part: float, order: Sequence[int]) -> tuple[float, float, float, float, float]:
    """How the best candidates stand among all.

    Parameters:
        row: a number a candidate.
        part: what makes shares of them.
        order: the best candidates' places, best first.

    Returns:
        The mean of theirs; the greatest of all, how far it is above the next and above the fifth, and whether the best
        candidate has it.
    """
    row = row * np.float32(part)
    best: list[float] = np.sort(row)[::-1][:5].tolist()
    mean = reduce(add, row.take(order).tolist()) / len(order)
    second = best[min(1, len(best) - 1)]
    return mean, best[0], best[0] - second, best[0] - best[-1], float(row.argmax() == order[0])


def chances(
    any_right: float, best: float, values: Sequence[float], weights: tuple[float, float, float, float]
) -> list[float]:
    """How likely each candidate is right, to four places: see `evidence_of_each`.

    Parameters:
        any_right, best, values: as there.
        weights: of what tells; the last is the bias.
    """
    odds, near, place, bias = weights
    return [
        rounded_chance(chance(a * odds + b * near + c * place + bias))
        for a, b, c in evidence_of_each(any_right, best, values)
    ]


def evidence_of_each(any_right: float, best: float, values: Sequence[float]) -> list[tuple[float, float, float]]:
    """What tells whether one candidate is right, a row each: whether any is, how near the best it is, its place.

    Parameters:
        any_right: how likely any is.
        best: the greatest score of all candidates.
        values: the scores of those that are shown, best first.
    """
    odds = log(any_right / (1 - any_right))
    return [(odds, max(value - best, -6.0), 1 / (1 + n)) for n, value in enumerate(values)]


def chance(odds: float) -> float:
    """By the logarithm of its odds; none is less than .001 or more than .99."""
    return 0.001 if odds < _LEAST else CERTAIN if odds > _MOST else 1 / (1 + exp(-odds))


def rounded_chance(chance: float) -> float:
    """To four places; `round` would go by way of text."""
    return int(chance * 10_000 + 0.5) / 10_000


def odds(evidence: Sequence[float], means: Floats, scales: Floats, weights: Floats, far: float) -> float:
    """The logarithm of odds, from evidence made standard.

    Parameters:
        means, scales: of the evidence.
        weights: of the evidence; the last is the bias.
        far: evidence further than this from the mean counts as this.
    """
    given = (np.array(evidence, np.float32) - means) * scales
    given = np.maximum(np.minimum(given, np.float32(far)), np.float32(-far)).astype(np.float64)
    return reduce(add, (given * weights[:-1]).tolist(), 0.0) + float(weights[-1])
