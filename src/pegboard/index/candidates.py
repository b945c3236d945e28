"""The tools worth ranking for one request, and what is known of each: the signals that the ranking weighs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field
from pegboard.index.postings import Floats, Posting

Ints = npt.NDArray[np.intp]
LEAST = 0.15
"""A cosine below this is chance."""
LEAST_SHOWN = 0.2
"""A tool that is no nearer than this needs words of the request to be shown."""
LEAST_SHARE = 0.08
"""A tool that has a smaller share of the request's words, by rarity, has them by chance."""
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
    """One term of the request among the shown tools.

    Parameters:
        term: its number in the request.
        need: the need that it belongs to.
        rarity: what it counts: its weight times its inverse document frequency.
        posting: the shown tools that hold it.
    """

    term: int
    need: int
    rarity: float
    posting: Posting


def best(scores: Floats, count: int, least: float = 0.0) -> Ints:
    """The slots of the `count` greatest scores above `least`, and of all that tie with the last of them."""
    found = np.flatnonzero(scores > least)
    if len(found) > count:
        values = scores[found]
        found = found[values >= np.partition(values, -count)[-count]]
    return found


def fillers(signals: Floats) -> npt.NDArray[np.bool_]:
    """Which candidates share next to nothing with the request, in words or in meaning; not all of them ever."""
    meanings = signals[:, len(OF_WORDS) :: len(OF_MEANING)]
    near = meanings.max(axis=1) >= LEAST_SHOWN if meanings.size else np.zeros(len(signals), np.bool_)
    found = ~near & (signals[:, 2] < LEAST_SHARE) & (signals[:, 1] < 0.35)
    return found & (not found.all())


class Matches:
    """All that a request's terms hold, as flat arrays: for each holding a tool, a row, its worth and its fields.

    Parameters:
        rows: the terms.
        size: how many slots there are.
    """

    def __init__(self, rows: Sequence[Row], size: int) -> None:
        self.rows = rows
        self._size = size
        sizes = [len(row.posting.slots) for row in rows]
        self.slots = np.concatenate([row.posting.slots for row in rows]) if rows else np.zeros(0, np.int32)
        self._row = np.repeat(np.arange(len(rows)), sizes)
        self.rarity = np.array([row.rarity for row in rows], np.float32)
        impacts = np.concatenate([row.posting.impacts for row in rows]) if rows else np.zeros(0, np.float32)
        self._worth = impacts * self.rarity[self._row]
        self._fields = np.concatenate([row.posting.fields for row in rows]) if rows else np.zeros(0, np.uint8)

    def scores(self, needs: int) -> Floats:
        """The BM25F score of every slot, one row a need."""
        count = max(1, needs)
        place = self.slots
        if count > 1:
            place = place + (np.array([row.need for row in self.rows], np.intp) * self._size)[self._row]
        found = np.bincount(place, self._worth, count * self._size)
        return found.astype(np.float32).reshape(count, self._size)

    def held(self, slots: Ints) -> "Held":
        """What some slots hold."""
        place = np.full(self._size, -1, np.intp)
        place[slots] = np.arange(len(slots))
        at = place[self.slots]
        found = np.flatnonzero(at >= 0)
        return Held(at[found], self._row[found], self._fields[found])


@dataclass(frozen=True, slots=True)
class Held:
    """Which candidates hold which rows, as parallel arrays.

    Parameters:
        places: the candidates, by their places.
        rows: the rows that they hold.
        fields: in which fields, one bit a `Field`.
    """

    places: Ints
    rows: Ints
    fields: npt.NDArray[np.uint8]

    def table(self, rows: int, candidates: int) -> npt.NDArray[np.uint8]:
        """The field bits of each row in each candidate, a row a row."""
        found = np.zeros((rows, candidates), np.uint8)
        found[self.rows, self.places] = self.fields
        return found


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


_TOLD = (Field.NAME, Field.PARAMETERS, Field.DESCRIPTION, Field.NAMESPACE)
_IN_FIELD = np.array([[bits >> field & 1 for bits in range(256)] for field in _TOLD], np.float32)


def of_words(
    matches: Matches, held: Held, by_need: Floats, *, asked: float, terms: int, needs: int, name_sizes: Floats
) -> Floats:
    """The signals of words, a row a signal, in the order of `OF_WORDS`; without what their namespaces tell.

    Parameters:
        by_need: the candidates' BM25F scores, a row a need.
        asked: the rarity of all terms, also of those that no tool holds.
        terms: how many terms the request has.
        needs: how many needs it has.
        name_sizes: of each candidate, how many terms its name has.
    """
    count = len(name_sizes)
    found = np.zeros((len(OF_WORDS), count), np.float32)
    share = np.float32(1 / max(asked, 1e-6))
    words = by_need[0] if needs < 2 else by_need.sum(axis=0)
    found[0] = words * np.float32(0.1)
    found[1] = words * np.float32(1 / max(float(words.max()), 1e-6))
    found[2] = words * share
    found[3] = found[1] if needs < 2 else _of_best(by_need)
    if len(held.places):
        told = _IN_FIELD[:, held.fields]
        found[4] = np.minimum(np.bincount(held.places, told[0], count) / name_sizes, 1)
        told *= matches.rarity[held.rows]
        for n, part in enumerate(told):
            found[5 + n] = np.bincount(held.places, part, count)
        found[5:9] *= share
        found[10] = matches.rarity.sum() * share
    found[11] = min(terms, 30) / 10
    found[12] = needs / 4
    return found


NAMESPACES_WORDS = OF_WORDS.index("namespace's words")
NAMESPACES_MEANING = OF_MEANING.index("namespace's meaning")


def of_meaning(meaning: Meaning, relative_words: Floats) -> Floats:
    """The signals of one layer, a row a signal, in the order of `OF_MEANING`; without what their namespaces tell."""
    found = np.zeros((len(OF_MEANING), len(relative_words)), np.float32)
    found[0] = meaning.whole
    found[1] = close = meaning.whole * np.float32(1 / max(float(meaning.whole.max()), 1e-3))
    found[2] = _spread(meaning.whole)
    found[3] = meaning.need
    found[4] = meaning.need * np.float32(1 / max(float(meaning.need.max()), 1e-3))
    found[6] = relative_words * close
    found[7] = meaning.known
    return found


def together(words: Floats, meanings: Sequence[Floats], groups: Ints) -> Floats:
    """All signals, a row a candidate, with what the other tools of its namespace tell."""
    told = best_of_group(np.stack([words[1], *(block[1] for block in meanings)]), groups)
    words[NAMESPACES_WORDS] = told[0]
    for block, row in zip(meanings, told[1:], strict=True):
        block[NAMESPACES_MEANING] = row
    return np.ascontiguousarray(np.concatenate([words, *meanings]).T)


def _of_best(by_need: Floats) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    return (by_need / np.maximum(by_need.max(axis=1, keepdims=True), 1e-6)).max(axis=0)


def _spread(meaning: Floats) -> Floats:
    centred = meaning - meaning.mean()
    return centred * np.float32(1 / max(float(np.sqrt(centred @ centred / max(len(centred), 1))), 1e-3))


def best_of_group(scores: Floats, groups: Ints) -> Floats:
    """Of each candidate, the best score of another candidate of its namespace; zero where there is none.

    Parameters:
        scores: a row a kind of score.
        groups: of each candidate, the number of its namespace; -1 where it has none.
    """
    order = np.argsort(groups, kind="stable")
    by_group, ranked = groups[order], scores[:, order]
    starts = np.flatnonzero(np.append(True, by_group[1:] != by_group[:-1]))
    sizes = np.diff(np.append(starts, len(order)))
    number = np.repeat(np.arange(len(starts)), sizes)
    top = np.maximum.reduceat(ranked, starts, axis=1)
    is_top = ranked == top[:, number]
    below = np.maximum.reduceat(np.where(is_top, np.float32(-np.inf), ranked), starts, axis=1)
    second = np.where(np.add.reduceat(is_top, starts, axis=1, dtype=np.intp) > 1, top, below)
    found = np.where(is_top, second[:, number], top[:, number])
    found[:, (by_group < 0) | (sizes[number] < 2)] = 0
    out = np.empty_like(scores)
    out[:, order] = found
    return out
