"""BM25F: words, weighed by the field that they stand in and by their rarity (Robertson, Zaragoza and Taylor 2004)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from math import log
from operator import itemgetter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolSpec
from pegboard.index.fields import Field, texts
from pegboard.index.languages import ENGLISH, STOP_WORDS, language_of
from pegboard.index.lexicon import Ints, Lexicon
from pegboard.index.postings import Floats, Posting, Weighed
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


IN_CODE = frozenset((Field.NAME, Field.PARAMETERS, Field.NAMESPACE, Field.VALUES))
"""Fields that are written in English whatever language the tool is described in."""
_NAME, _DESCRIPTION = Field.NAME, Field.DESCRIPTION
_SPOKEN = np.array([field not in IN_CODE for field in Field])
_FIELDS, _BITS = len(Field), (len(Field) - 1).bit_length()
_FIELD = itemgetter(0)


@dataclass(frozen=True, slots=True)
class Entries:
    """What some tools are found by.

    Parameters:
        held: what each term is worth in each tool, from 0 to 1, before its rarity.
        spelt: words that were not met before in this reading, or with another term, and their terms.
        name_sizes: of each tool, how many terms its name has.
    """

    held: Weighed
    spelt: Mapping[str, str]
    name_sizes: Floats


def entries(specs: Sequence[ToolSpec], first: int, numbers: dict[str, int], lexicon: Lexicon | None) -> Entries:
    """Read some tools.

    Parameters:
        specs: the tools.
        first: the slot of the first of them.
        numbers: the terms' numbers; new ones are added.
        lexicon: of this reading; without it the words are read one by one, which is faster for a few tools.
    """
    told = [sorted(texts(spec), key=_FIELD) for spec in specs]
    return _of_few(told, first, numbers) if lexicon is None else _of_many(told, first, numbers, lexicon)


Told: TypeAlias = Sequence[Sequence[tuple[Field, str]]]
"""Of each tool its texts, by field."""


def _of_few(told: Told, first: int, numbers: dict[str, int]) -> Entries:
    held: list[int] = []
    rows: list[int] = []
    lengths = np.zeros((len(told), _FIELDS))
    spelt: dict[str, str] = {}
    for n, row in enumerate(told):
        said: list[list[str]] = [[] for _ in Field]
        for field, text in row:
            said[field] += words(text)
        language = language_of(said[_DESCRIPTION])
        for field, found in enumerate(said):
            spoken = ENGLISH if field in IN_CODE else language
            if field != _NAME:
                stop = STOP_WORDS[spoken]
                found = [word for word in found if word not in stop]
            if found:
                terms = stems(found, spoken)
                spelt.update(zip(found, terms, strict=True))
                held += [numbers.setdefault(term, len(numbers)) for term in terms]
                rows += [n << _BITS | field] * len(terms)
                lengths[n, field] = len(terms) if "".join(terms).isascii() else _length(Counter(terms))
    return _weighed(np.array(held, np.intp), np.array(rows, np.intp), lengths, spelt, len(numbers), first)


def _of_many(told: Told, first: int, numbers: dict[str, int], lexicon: Lexicon) -> Entries:
    """The same at once, in whole arrays."""
    said, text = lexicon.read([text for row in told for _, text in row])
    tool = np.arange(len(told)).repeat(list(map(len, told))).take(text)
    field = np.frombuffer(bytes([field for row in told for field, _ in row]), np.uint8).take(text).astype(np.intp)
    terms = _terms(said, tool, field, lexicon)
    kept = (terms >= 0).nonzero()[0]
    said, terms = said.take(kept), terms.take(kept)
    row = (tool << _BITS | field).take(kept)
    lengths = np.bincount(row, minlength=len(told) * _FIELDS).astype(np.float64)
    odd: list[int] = np.unique(row[lexicon.odd.counts(terms) > 0]).tolist()
    for n in odd:
        start, stop = row.searchsorted([n, n + 1])
        lengths[n] = _length(Counter(map(lexicon.terms.listed.__getitem__, terms[start:stop].tolist())))
    held, spelt = lexicon.numbered(terms, numbers), lexicon.spelt(said, terms)
    return _weighed(held, row, lengths.reshape(-1, _FIELDS), spelt, len(numbers), first)


def _weighed(
    held: Ints, row: Ints, lengths: npt.NDArray[np.float64], spelt: Mapping[str, str], count: int, first: int
) -> Entries:
    """What tools are found by.

    Parameters:
        held: the number of each term that occurs in them.
        row: of each the field, after those of the tools before its own.
        lengths: of each tool's fields.
        spelt: the words behind the terms.
        count: how many terms there are.
        first: the slot of the first tool.
    """
    key = ((row >> _BITS) * count + held) << _BITS | row & _FIELDS - 1
    key.sort()
    starts = _starts(key)
    times = np.append(starts[1:], len(key)) - starts
    key = key.take(starts)
    pair, field = key >> _BITS, key & _FIELDS - 1
    tool = pair // max(1, count)
    scale = (_WEIGHT / (1 - _B + _B * np.maximum(1.0, lengths / _LENGTH))).reshape(-1)
    worth = scale.take(tool << _BITS | field) * times
    sizes = np.bincount(tool.compress(field == _NAME), minlength=len(lengths))
    starts = _starts(pair)
    sums = np.add.reduceat(worth, starts)
    bits = np.bitwise_or.reduceat((1 << field).astype(np.uint8), starts)
    slots = tool.take(starts)
    number = (pair.take(starts) - slots * count).astype(np.int32)
    found = Posting((slots + first).astype(np.int32), (sums / (K1 + sums)).astype(np.float32), bits)
    return Entries(Weighed(number, found), spelt, np.maximum(sizes, 1).astype(np.float32))


def _starts(ordered: Ints) -> Ints:
    """Where each distinct value begins."""
    differs = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=differs[1:])
    return differs.nonzero()[0]


def _terms(said: Ints, tool: Ints, field: Ints, lexicon: Lexicon) -> Ints:
    """The term of each word, or -1 for function words outside names."""
    found = lexicon.stems(ENGLISH).first(said)
    named: Ints = (field == _NAME).nonzero()[0]
    found[named] = lexicon.stems(ENGLISH, whole=True).first(said.take(named))
    described: Ints = (field == _DESCRIPTION).nonzero()[0]
    told = lexicon.languages(said.take(described), tool.take(described))
    for language in dict.fromkeys(told.values()):
        tools = [n for n, other in told.items() if other == language]
        spoken: Ints = (np.isin(tool, tools) & _SPOKEN.take(field)).nonzero()[0]
        found[spoken] = lexicon.stems(language).first(said.take(spoken))
    return found


def _length(row: Mapping[str, int]) -> float:
    """How many words a field has; in a script without spaces one word is about two and a half pairs of characters."""
    return sum(count * (1 if not is_spaceless(term) else PAIR * (len(term) > 1)) for term, count in row.items())


def rarity(found: int, shown: int) -> float:
    """The inverse document frequency: of `shown` tools, `found` hold the term."""
    return log(1 + (shown - found + 0.5) / (found + 0.5))
