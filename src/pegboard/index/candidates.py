"""The tools worth ranking for one request, and what is known of each: the signals that the ranking weighs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field
from pegboard.index.postings import Floats, Posting

Ints = npt.NDArray[np.intp]
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


def best(scores: Floats, count: int) -> Ints:
    """The slots of the `count` greatest scores above zero, and of all that tie with the last of them."""
    found = np.flatnonzero(scores > 0)
    if len(found) > count:
        values = scores[found]
        found = found[values >= np.partition(values, -count)[-count]]
    return found


def table(rows: Sequence[Row], slots: Ints) -> tuple[Floats, npt.NDArray[np.uint8]]:
    """Impact times rarity, and field bits, of each term in each slot: two arrays, a row a term."""
    impacts = np.zeros((len(rows), len(slots)), np.float32)
    bits = np.zeros((len(rows), len(slots)), np.uint8)
    for n, row in enumerate(rows):
        held = row.posting.slots
        at = np.minimum(np.searchsorted(held, slots), len(held) - 1)
        hit = held[at] == slots
        impacts[n] = np.where(hit, row.posting.impacts[at], 0) * np.float32(row.rarity)
        bits[n] = np.where(hit, row.posting.fields[at], 0)
    return impacts, bits


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


def of_words(
    rows: Sequence[Row],
    impacts: Floats,
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
    found = np.zeros((len(OF_WORDS), len(name_sizes)), np.float32)
    share = np.float32(1 / max(asked, 1e-6))
    words = impacts.sum(axis=0)
    found[0] = words / 10
    found[1] = words * np.float32(1 / max(float(words.max()), 1e-6))
    found[2] = words * share
    found[3] = found[1] if needs < 2 else _best_need(rows, impacts, needs)
    if rows:
        rarity = np.array([row.rarity for row in rows], np.float32)
        in_name = bits & 1
        found[4] = np.minimum(in_name.sum(axis=0) / name_sizes, 1)
        found[5] = rarity @ in_name * share
        found[6] = rarity @ (bits >> Field.PARAMETERS & 1) * share
        found[7] = rarity @ ((bits >> Field.DESCRIPTION | bits >> Field.TITLE) & 1) * share
        found[8] = rarity @ (bits >> Field.NAMESPACE & 1) * share
        found[10] = rarity.sum() * share
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


def _best_need(rows: Sequence[Row], impacts: Floats, needs: int) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    belongs = np.zeros((needs, len(rows)), np.float32)
    belongs[[row.need for row in rows], range(len(rows))] = 1
    by_need = belongs @ impacts
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
