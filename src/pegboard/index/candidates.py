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

    def table(self, slots: Ints) -> tuple[Floats, npt.NDArray[np.uint8]]:
        """The worth and the field bits of each row in some slots: two arrays, a row a term."""
        place = np.full(self._size, -1, np.int32)
        place[slots] = np.arange(len(slots), dtype=np.int32)
        at = place[self.slots]
        held = np.flatnonzero(at >= 0)
        worth = np.zeros((len(self.rows), len(slots)), np.float32)
        fields = np.zeros((len(self.rows), len(slots)), np.uint8)
        cells = self._row[held], at[held]
        worth[cells] = self._worth[held]
        fields[cells] = self._fields[held]
        return worth, fields


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
_IN_FIELD = np.array([[bits >> field & 1 for field in _TOLD] for bits in range(256)], np.float32)


def of_words(
    matches: Matches,
    worth: Floats,
    bits: npt.NDArray[np.uint8],
    *,
    asked: float,
    terms: int,
    needs: int,
    name_sizes: Floats,
    groups: Ints,
) -> Floats:
    """The signals of words, a row a signal, in the order of `OF_WORDS`.

    Parameters:
        asked: the rarity of all terms, also of those that no tool holds.
        terms: how many terms the request has.
        needs: how many needs it has.
        name_sizes: of each candidate, how many terms its name has.
        groups: of each candidate, the number of its namespace.
    """
    count = len(name_sizes)
    found = np.zeros((len(OF_WORDS), count), np.float32)
    share = np.float32(1 / max(asked, 1e-6))
    words = worth.sum(axis=0)
    found[0] = words / 10
    found[1] = words * np.float32(1 / max(float(words.max()), 1e-6))
    found[2] = words * share
    found[3] = found[1] if needs < 2 else _best_need(matches.rows, worth, needs)
    if matches.rows:
        in_field = _IN_FIELD[bits]
        found[4] = np.minimum(in_field[:, :, 0].sum(axis=0) / name_sizes, 1)
        told = (matches.rarity @ in_field.reshape(len(matches.rows), -1)).reshape(count, len(_TOLD))
        found[5:9] = told.T * share
        found[10] = matches.rarity.sum() * share
    found[9] = best_of_group(found[1], groups)
    found[11] = min(terms, 30) / 10
    found[12] = needs / 4
    return found


def of_meaning(meaning: Meaning, relative_words: Floats, groups: Ints) -> Floats:
    """The signals of one layer, a row a signal, in the order of `OF_MEANING`."""
    found = np.empty((len(OF_MEANING), len(groups)), np.float32)
    found[0] = meaning.whole
    found[1] = close = meaning.whole * np.float32(1 / max(float(meaning.whole.max()), 1e-3))
    found[2] = _spread(meaning.whole)
    found[3] = meaning.need
    found[4] = meaning.need * np.float32(1 / max(float(meaning.need.max()), 1e-3))
    found[5] = best_of_group(close, groups)
    found[6] = relative_words * close
    found[7] = meaning.known
    return found


def _best_need(rows: Sequence[Row], worth: Floats, needs: int) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    belongs = np.zeros((needs, len(rows)), np.float32)
    belongs[[row.need for row in rows], range(len(rows))] = 1
    by_need = belongs @ worth
    return (by_need / np.maximum(by_need.max(axis=1, keepdims=True), 1e-6)).max(axis=0)


def _spread(meaning: Floats) -> Floats:
    centred = meaning - meaning.mean()
    return centred * np.float32(1 / max(float(np.sqrt((centred * centred).mean())), 1e-3))


def best_of_group(scores: Floats, groups: Ints) -> Floats:
    """Of each candidate, the best score of another candidate of its namespace; zero where there is none."""
    order = np.lexsort((-scores, groups))
    ranked, by_group = scores[order], groups[order]
    first = np.append(True, by_group[1:] != by_group[:-1]) if len(order) else np.zeros(0, np.bool_)
    starts = np.flatnonzero(first)
    number = np.cumsum(first) - 1
    top = ranked[starts]
    follows = starts + 1 < np.append(starts[1:], len(order))
    second = np.where(follows, ranked[np.minimum(starts + 1, max(len(order) - 1, 0))], 0) if len(order) else top
    out = np.zeros(len(scores), np.float32)
    out[order] = np.where(first, second[number], top[number])
    return np.where(groups < 0, 0, out).astype(np.float32)
