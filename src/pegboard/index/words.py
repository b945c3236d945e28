"""BM25F: words, weighed by the field that they stand in and by their rarity (Robertson, Zaragoza and Taylor 2004)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from math import log

import numpy as np

from pegboard.core import ToolSpec
from pegboard.index.fields import Field, texts
from pegboard.index.languages import ENGLISH, STOP_WORDS, language_of
from pegboard.index.postings import Posting, Weighed
from pegboard.index.text import is_spaceless, stems, words

K1 = 1.4
PAIR = 0.4
"""What a pair of characters counts to a text's length."""


@dataclass(frozen=True, slots=True)
class Weight:
    """How one field counts.

    Parameters:
        weight: of one occurrence.
        b: how much a long text counts less, from 0 to 1.
        length: the usual number of terms. It is a constant, so that no tool's score depends on another's text.
    """

    weight: float
    b: float
    length: float


WEIGHTS = {
    Field.NAME: Weight(2.0, 0.3, 2.2),
    Field.TITLE: Weight(1.5, 0.3, 3),
    Field.NAMESPACE: Weight(1.2, 0.25, 1.7),
    Field.DESCRIPTION: Weight(1.5, 0.8, 6),
    Field.PARAMETERS: Weight(0.6, 0.8, 7),
    Field.PARAMETER_TEXT: Weight(0.42, 0.65, 25),
    Field.VALUES: Weight(0.5, 0.8, 8.6),
    Field.EXAMPLES: Weight(0.3, 0.75, 8),
}
"""Chosen on the five training sets (`training/README.md`)."""
_WEIGHT, _B, _LENGTH = (np.array(column) for column in zip(*(astuple(WEIGHTS[field]) for field in Field), strict=True))


@dataclass(frozen=True, slots=True)
class Entry:
    """What a tool is found by.

    Parameters:
        counts: how often each of its terms occurs, by field, for each field that has any.
        spelt: the words behind the terms.
        name_size: how many terms its name has.
    """

    counts: Sequence[tuple[Field, Mapping[str, int]]]
    spelt: Mapping[str, str]
    name_size: int


def entry(spec: ToolSpec) -> Entry:
    """Read one tool."""
    read: list[list[str]] = [[] for _ in Field]
    for field, text in texts(spec):
        read[field] += words(text)
    language = language_of(read[Field.DESCRIPTION])
    counts: list[tuple[Field, Mapping[str, int]]] = []
    spelt: dict[str, str] = {}
    for field, found in zip(Field, read, strict=True):
        spoken = ENGLISH if field in IN_CODE else language
        if field is not Field.NAME:
            stop = STOP_WORDS[spoken]
            found = [word for word in found if word not in stop]
        if found:
            terms = stems(found, spoken)
            spelt.update(zip(found, terms, strict=True))
            counts.append((field, Counter(terms)))
    named = next((len(row) for field, row in counts if field is Field.NAME), 1)
    return Entry(counts, spelt, named)


IN_CODE = frozenset((Field.NAME, Field.PARAMETERS, Field.NAMESPACE, Field.VALUES))
"""Fields that are written in English whatever language the tool is described in."""


def weighed(entries: Sequence[Entry], first: int, numbers: dict[str, int]) -> Weighed:
    """What each term is worth in each tool, from 0 to 1, before its rarity.

    Parameters:
        entries: the tools.
        first: the slot of the first of them.
        numbers: the terms' numbers; new ones are added.
    """
    rows = [(first + n, field, row) for n, found in enumerate(entries) for field, row in found.counts]
    held = [numbers.setdefault(term, len(numbers)) for _, _, row in rows for term in row]
    sizes = [len(row) for _, _, row in rows]
    fields = np.array([field for _, field, _ in rows], np.intp)
    lengths = np.array([_length(row) for _, _, row in rows], np.float64)
    slots = np.array([slot for slot, _, _ in rows], np.int64).repeat(sizes)
    scale = _WEIGHT[fields] / (1 - _B[fields] + _B[fields] * np.maximum(1.0, lengths / _LENGTH[fields]))
    worth = scale.repeat(sizes) * np.array([count for _, _, row in rows for count in row.values()], np.float64)
    key = slots * max(1, len(numbers)) + np.array(held, np.int64)
    order = key.argsort(kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else order
    sums = np.add.reduceat(worth[order], starts) if len(key) else worth
    bits = (1 << fields).astype(np.uint8).repeat(sizes)[order]
    bits = np.bitwise_or.reduceat(bits, starts) if len(key) else bits
    slots, held = np.divmod(key[starts], max(1, len(numbers)))
    return Weighed(
        held.astype(np.int32), Posting(slots.astype(np.int32), (sums / (K1 + sums)).astype(np.float32), bits)
    )


def _length(row: Mapping[str, int]) -> float:
    """How many words a field has; in a script without spaces one word is about two and a half pairs of characters."""
    if "".join(row).isascii():
        return sum(row.values())
    return sum(count * (1 if not is_spaceless(term) else PAIR * (len(term) > 1)) for term, count in row.items())


def rarity(found: int, shown: int) -> float:
    """The inverse document frequency: of `shown` tools, `found` hold the term."""
    return log(1 + (shown - found + 0.5) / (found + 0.5))
