"""BM25F: words, weighed by the field that they stand in and by their rarity (Robertson, Zaragoza and Taylor 2004)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from pegboard.core import ToolSpec
from pegboard.index.fields import Field, texts
from pegboard.index.languages import ENGLISH, STOP_WORDS, language_of
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
_RULES = [WEIGHTS[field] for field in Field]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a tool is found by.

    Parameters:
        terms: its terms, each with its impact (from 0 to 1, before rarity) and the bits of its fields.
        spelt: the words behind the terms.
        name_size: how many terms its name has.
    """

    terms: Mapping[str, tuple[float, int]]
    spelt: Mapping[str, str]
    name_size: int


def entry(spec: ToolSpec) -> Entry:
    """Read one tool."""
    found = [(field, words(text)) for field, text in texts(spec)]
    described = [word for field, read in found if field is Field.DESCRIPTION for word in read]
    language = language_of(described)
    counts: list[dict[str, int]] = [{} for _ in Field]
    spelt: dict[str, str] = {}
    for field, read in found:
        spoken = ENGLISH if field in IN_CODE else language
        if field is not Field.NAME:
            stop = STOP_WORDS[spoken]
            read = [word for word in read if word not in stop]
        row = counts[field]
        for word, term in zip(read, stems(read, spoken), strict=True):
            row[term] = row.get(term, 0) + 1
            spelt[word] = term
    return Entry(_impacts(counts), spelt, max(1, len(counts[Field.NAME])))


IN_CODE = frozenset((Field.NAME, Field.PARAMETERS, Field.NAMESPACE, Field.VALUES))
"""Fields that are written in English whatever language the tool is described in."""


def _impacts(counts: Sequence[Mapping[str, int]]) -> dict[str, tuple[float, int]]:
    sums: dict[str, tuple[float, int]] = {}
    for field, row in enumerate(counts):
        if not row:
            continue
        rule = _RULES[field]
        scale = rule.weight / (1 - rule.b + rule.b * max(1.0, _length(row) / rule.length))
        bit = 1 << field
        for term, count in row.items():
            known = sums.get(term)
            sums[term] = (known[0] + scale * count, known[1] | bit) if known else (scale * count, bit)
    return {term: (weight / (K1 + weight), bits) for term, (weight, bits) in sums.items()}


def _length(row: Mapping[str, int]) -> float:
    """How many words a field has; in a script without spaces one word is about two and a half pairs of characters."""
    if "".join(row).isascii():
        return sum(row.values())
    return sum(count * (1 if not is_spaceless(term) else PAIR * (len(term) > 1)) for term, count in row.items())


def rarity(found: int, shown: int) -> float:
    """The inverse document frequency: of `shown` tools, `found` hold the term."""
    return log(1 + (shown - found + 0.5) / (found + 0.5))
