"""The tools worth ranking for one request, and what is known of each: the signals that the ranking weighs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field
from pegboard.index.postings import Floats, Mask, Posting

Ints = npt.NDArray[np.intp]
Groups = npt.NDArray[np.int32]
Bits = npt.NDArray[np.uint8]
LEAST = 0.15
"""A cosine below this is chance."""
NEARLY = 0.6
"""A tool this nearly as near as the nearest, to a sentence encoder, is shown however far both are."""
LEAST_SHOWN = 0.2
"""A tool that is no nearer than this needs words of the request to be shown."""
LEAST_SHARE = 0.08
"""A tool that has a smaller share of the request's words, by rarity, has them by chance."""
LEAST_RELATIVE = 0.35
"""A tool that has a smaller share of what the best has is not among the best by words."""
NEARBY = 48
"""So many of the best by words, and by each embedder, are ranked."""
OF_WORDS = (
    "words",
    "words / best",
    "words, share of the request",
    "words of the best need",
    "name covered",
    "name, share of the request",
    "parameters, share of the request",
    "description, share of the request",
    "namespace, share of the request",
    "namespace's words",
    "words known",
    "terms",
    "needs",
)
OF_MEANING = (
    "meaning",
    "meaning / best",
    "meaning, spread",
    "meaning of the best need",
    "best need / best",
    "namespace's meaning",
    "words and meaning",
    "known to the model",
)
"""The signals of each layer, after those of words."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a term of a request is matched by, among the shown tools.

    Parameters:
        rarity: what it counts: its weight times its inverse document frequency.
        posting: the shown tools that hold it.
    """

    rarity: float
    posting: Posting


BLOCKS = 512
"""The greatest scores of so many blocks tell how great the best scores are at least."""
FEW = 1_500
"""So many scores are sorted as they are: sorting takes no branches, so it is faster than to partition them."""


def nearest(scores: Floats, counts: Sequence[int], least: Sequence[float]) -> Mask:
    """Which slots are among the best of any row: its greatest scores, and all that tie with the last of them.

    Parameters:
        scores: a row a way to score, a column a slot.
        counts: how many of each row are wanted.
        least: of each row, what a score must be above.
    """
    size = scores.shape[1]
    above = np.array([_above(value) for value in least], np.float32)
    if size > FEW:
        floors = [_floor(*row) for row in zip(scores, counts, above, strict=True)]
    elif size > min(counts):
        places = [max(size - count, 0) for count in counts]
        ranked = scores.copy()
        ranked.sort(axis=1)
        floors = np.maximum(ranked[np.arange(len(places)), places], above)
    else:
        floors = above
    return np.logical_or.reduce(scores >= np.array(floors)[:, None], axis=0)


@cache
def _above(value: float) -> float:
    """The next number that 32 bits hold."""
    return float(np.nextafter(np.float32(value), np.float32(np.inf)))


def _floor(scores: Floats, count: int, least: np.float32) -> np.float32:
    """The last of the `count` greatest of very many scores that reach `least`, or `least`."""
    whole = len(scores) - len(scores) % BLOCKS
    tops = np.maximum.reduce(scores[:whole].reshape(-1, BLOCKS), axis=0)
    tops.sort()
    ranked = scores[scores >= max(tops[BLOCKS - count], least)]
    if len(ranked) < count:
        return least
    ranked.sort()
    return ranked[len(ranked) - count]


def fillers(signals: Floats) -> Mask:
    """Which candidates share next to nothing with the request, in words or in meaning; not all of them ever."""
    rows = signals.T
    found = (rows[2] < LEAST_SHARE) & (rows[1] < LEAST_RELATIVE)
    starts = range(len(OF_WORDS), len(rows), len(OF_MEANING))
    for start in starts:
        found &= np.maximum(rows[start], rows[start + _NEED]) < LEAST_SHOWN
    for start in starts[1:]:
        found &= rows[start] < NEARLY * np.maximum.reduce(rows[start], initial=0)
    return found if not found.all() else np.zeros_like(found)


class Matches:
    """All that a request's terms hold, as flat arrays: for each holding a tool, a row, its worth and its fields.

    Parameters:
        rows: what the terms are matched by.
        needs: for each row, the need that it belongs to.
        size: how many slots there are.
    """

    def __init__(self, rows: Sequence[Row], needs: Sequence[int], size: int) -> None:
        self._size = size
        self._needs = needs
        held = [row.posting for row in rows]
        sizes = [len(posting.slots) for posting in held]
        self.rarity = np.array([row.rarity for row in rows], np.float32)
        self._row = np.arange(len(rows)).repeat(sizes)
        self.slots = np.concatenate([posting.slots for posting in held] or [_NO_SLOTS])
        self._fields = np.concatenate([posting.fields for posting in held] or [_NO_FIELDS])
        self._worth = np.concatenate([posting.impacts for posting in held] or [_NO_IMPACTS])
        self._worth *= self.rarity.repeat(sizes)

    def scores(self, needs: int, found: Floats) -> None:
        """Fill in the BM25F score of every slot, and below it those by each need, where there are several."""
        if needs < 2:
            found[0] = np.bincount(self.slots, self._worth, self._size)
            return
        place = self.slots + (np.array(self._needs, np.intp) * self._size).take(self._row)
        found[1:].reshape(-1)[:] = np.bincount(place, self._worth, needs * self._size)
        np.add.reduce(found[1:], axis=0, out=found[0])

    def held(self, slots: Ints) -> Bits:
        """In which fields some slots hold each row's term, one bit a `Field`; a row a row, a column a slot."""
        found = np.zeros((len(self._needs), len(slots)), np.uint8)
        place = np.full(self._size, -1, np.intp)
        place[slots] = np.arange(len(slots))
        at = place.take(self.slots)
        held = (at >= 0).nonzero()[0]
        found[self._row.take(held), at.take(held)] = self._fields.take(held)
        return found


_NO_SLOTS, _NO_FIELDS, _NO_IMPACTS = np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one layer says of the candidates.

    Parameters:
        whole: each one's cosine with the request.
        need: each one's greatest cosine with one need, or with the request.
        known: the share of the request's words that the model may know.
    """

    whole: Floats
    need: Floats
    known: float


_TOLD = (Field.NAME, Field.NAME, Field.PARAMETERS, Field.DESCRIPTION, Field.NAMESPACE)
_IN_FIELD = np.array([[bits >> field & 1 for bits in range(256)] for field in _TOLD], np.float32)


def of_words(
    found: Floats, scores: Floats, matches: Matches, bits: Bits, *, asked: float, terms: int, name_sizes: Floats
) -> None:
    """Fill in the signals of words, a row a signal, in the order of `OF_WORDS`; without what their namespaces tell.

    Parameters:
        found: zeros, a column a candidate.
        scores: the candidates' BM25F scores, and those by each need, where there are several.
        bits: the fields of each row's term in each candidate, a row a row.
        asked: the rarity of all terms, also of those that no tool holds.
        terms: how many terms the request has.
        name_sizes: of each candidate, how many terms its name has.
    """
    words = scores[0]
    share = np.float32(1 / max(asked, 1e-6))
    np.multiply(words, np.float32(0.1), out=found[0])
    np.multiply(words, _part(words), out=found[1])
    np.multiply(words, share, out=found[2])
    found[3] = _of_best(scores[1:]) if len(scores) > 1 else found[1]
    told = _IN_FIELD.take(bits, axis=1)
    found[4] = np.add.reduce(told[0], axis=0)
    found[4] /= name_sizes
    np.minimum(found[4], np.float32(1), out=found[4])
    found[5:9] = (matches.rarity * share) @ told[1:]
    found[10] = np.add.reduce(matches.rarity) * share
    found[11] = min(terms, 30) / 10
    found[12] = (len(scores) - 1) / 4


def _part(values: Floats, least: float = 1e-6) -> np.float32:
    """What makes values shares of the greatest."""
    return np.float32(1 / max(float(np.maximum.reduce(values)), least))


_NEED = OF_MEANING.index("meaning of the best need")
NAMESPACES_WORDS = OF_WORDS.index("namespace's words")
NAMESPACES_MEANING = OF_MEANING.index("namespace's meaning")


def of_meaning(found: Floats, meaning: Meaning, relative_words: Floats) -> None:
    """Fill in the signals of one layer, a row a signal, in the order of `OF_MEANING`, but for its namespaces'."""
    whole, need = meaning.whole, meaning.need
    found[0] = whole
    np.multiply(whole, _part(whole, 1e-3), out=found[1])
    found[2] = _spread(whole)
    found[3] = need
    np.multiply(need, _part(need, 1e-3), out=found[4])
    np.multiply(relative_words, found[1], out=found[6])
    found[7] = meaning.known


def together(found: Floats, groups: Groups) -> Floats:
    """All signals, a row a candidate, with what the other tools of its namespace tell."""
    starts = range(len(OF_WORDS), len(found), len(OF_MEANING))
    told = best_of_group(found.take([1, *[start + 1 for start in starts]], axis=0), groups)
    found[NAMESPACES_WORDS] = told[0]
    for start, row in zip(starts, told[1:], strict=True):
        found[start + NAMESPACES_MEANING] = row
    return found.T


def _of_best(by_need: Floats) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    best = np.maximum(np.maximum.reduce(by_need, axis=1), np.float32(1e-6))
    return np.maximum.reduce(by_need / best[:, None], axis=0)


def _spread(meaning: Floats) -> Floats:
    centred = meaning - np.add.reduce(meaning) / np.float32(len(meaning))
    return centred * np.float32(1 / max(sqrt(float(centred @ centred) / len(centred)), 1e-3))


def best_of_group(scores: Floats, groups: Groups) -> Floats:
    """Of each candidate, the best score of another candidate of its namespace; zero where there is none.

    Parameters:
        scores: a row a kind of score; what is below zero counts as zero.
        groups: of each candidate, the number of its namespace; 0 where it has none.
    """
    count = int(np.maximum.reduce(groups)) + 1
    place = (groups + np.arange(len(scores))[:, None] * count).ravel()
    given = scores.ravel()
    top = np.zeros(count * len(scores), np.float32)
    np.maximum.at(top, place, given)
    best = top.take(place)
    tops = (given == best).nonzero()[0]
    first: Ints = np.zeros(len(top), np.intp)
    first[place.take(tops)] = tops
    winners: Ints = first[place.take(tops)]
    others = given.copy()
    others[winners] = 0
    below = np.zeros_like(top)
    np.maximum.at(below, place, others)
    best[winners] = below.take(place.take(winners))
    found = best.reshape(scores.shape)
    found[:, groups == 0] = 0
    return found
