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
SIGNALS = (
    "words",
    "words / best",
    "words, share of the request",
    "words of the best need",
    "name covered",
    "name, share of the request",
    "parameters, share of the request",
    "description, share of the request",
    "meaning",
    "meaning / best",
    "meaning, spread",
    "meaning of the best need",
    "known to the table",
    "source's words",
    "source's meaning",
    "namespace, share of the request",
    "both",
    "words known",
    "terms",
    "needs",
)


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


def signals(
    rows: Sequence[Row],
    impacts: Floats,
    bits: npt.NDArray[np.uint8],
    *,
    asked: float,
    terms: int,
    needs: int,
    name_sizes: Floats,
    groups: Ints,
    meaning: Floats,
    meaning_of_needs: Floats,
    known: float,
) -> Floats:
    """The signals, a row a candidate, in the order of `SIGNALS`.

    Parameters:
        asked: the rarity of all terms, also of those that no tool holds.
        terms: how many terms the request has.
        needs: how many needs it has.
        name_sizes: of each candidate, how many terms its name has.
        groups: of each candidate, the number of its namespace.
        meaning: its cosine with the request.
        meaning_of_needs: its greatest cosine with one need.
        known: the share of the request's words that the embedder knows.
    """
    count = len(name_sizes)
    found = np.zeros((len(SIGNALS), count), np.float32)
    share = np.float32(1 / max(asked, 1e-6))
    rarity = np.array([row.rarity for row in rows], np.float32)
    words = impacts.sum(axis=0)
    close = meaning * np.float32(1 / max(float(meaning.max()), 1e-3))
    found[0] = words / 10
    found[1] = words * np.float32(1 / max(float(words.max()), 1e-6))
    found[2] = words * share
    found[3] = found[1] if needs < 2 else _best_need(rows, impacts, needs)
    if rows:
        in_name = bits & 1
        found[4] = np.minimum(in_name.sum(axis=0) / name_sizes, 1)
        found[5] = rarity @ in_name * share
        found[6] = rarity @ (bits >> Field.PARAMETERS & 1) * share
        found[7] = rarity @ ((bits >> Field.DESCRIPTION | bits >> Field.TITLE) & 1) * share
        found[15] = rarity @ (bits >> Field.NAMESPACE & 1) * share
    found[8] = meaning
    found[9] = close
    found[10] = _spread(meaning)
    found[11] = meaning_of_needs
    found[12] = known
    found[13] = _best_of_group(found[1], groups)
    found[14] = _best_of_group(close, groups)
    found[16] = found[1] * close
    found[17] = rarity.sum() * share
    found[18] = min(terms, 30) / 10
    found[19] = needs / 4
    return np.ascontiguousarray(found.T)


def _best_need(rows: Sequence[Row], impacts: Floats, needs: int) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    belongs = np.zeros((needs, len(rows)), np.float32)
    belongs[[row.need for row in rows], range(len(rows))] = 1
    by_need = belongs @ impacts
    return (by_need / np.maximum(by_need.max(axis=1, keepdims=True), 1e-6)).max(axis=0)


def _spread(meaning: Floats) -> Floats:
    centred = meaning - meaning.mean()
    return centred * np.float32(1 / max(float(np.sqrt((centred * centred).mean())), 1e-3))


def _best_of_group(scores: Floats, groups: Ints) -> Floats:
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
