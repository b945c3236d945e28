"""A request cut into its words and the clauses that they stand in."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pegboard.index.kinds import AROUND, distinct, kinds_of, named_kinds
from pegboard.index.remembered import Remembered
from pegboard.index.text import words

REMEMBERED = 50_000
"""So many pieces of requests are remembered with their words."""
_JOINING = {
    "and": (("and", "then"), ("and", "also"), ("and",)),
    "then": (("then",),),
    "also": (("also",),),
    "after": (("after", "that"),),
    "as": (("as", "well", "as"),),
    "plus": (("plus",),),
    "additionally": (("additionally",),),
    "finally": (("finally",),),
}
"""What may stand between two clauses, by its first word, the longer first."""
_BREAKS = re.compile(
    r"[.!?;\n]+(?=\s|$)|[。！？；，、]|,?\s+(?=[atpfATPF])(?i:"
    + "|".join(r"\s+".join(joining) for joinings in _JOINING.values() for joining in joinings)
    + r")\s+|,\s+"
)


ENDS, JOINS = 1, 2
"""A piece with which a clause ends; one that may join two clauses."""


def _read(piece: str) -> tuple[Sequence[str], Sequence[str], int]:
    """Of what stands between spaces its words, what it names by form alone, and `ENDS`, `JOINS` or nothing."""
    core = piece.strip(AROUND)
    word = core.lower()
    mark = ENDS if piece[-1] in ".!?;," else JOINS if word in _JOINING and core == piece else 0
    if core.isalpha() and word != "pm" and (core.islower() or core.istitle() or core.isupper()):
        return (word,), (), mark
    return words(piece), kinds_of(piece), mark


_PIECES = Remembered(_read, REMEMBERED)


class Clauses(NamedTuple):
    """A request, cut.

    Parameters:
        words: all its words.
        each: those of each clause, without the words between clauses.
        kinds: what it names by form alone.
    """

    words: list[str]
    each: list[list[str]]
    kinds: list[str]


def clauses(text: str) -> Clauses:
    """A text cut into words and clauses."""
    pieces = text.split()
    if "\n" in text or not text.isascii():
        return Clauses(words(text), [words(piece) for piece in _BREAKS.split(text)], named_kinds(pieces))
    found: list[str] = []
    named: list[Sequence[str]] = []
    cut: list[list[str]] = []
    begun = start = 0
    free = 1
    for at, (said, kinds, mark) in enumerate(map(_PIECES.__getitem__, pieces)):
        if mark == JOINS and at >= free and (length := _joining(pieces, at)):
            cut.append(found[begun:])
            start, free = at + length, at + length + 1
        found += said
        if kinds:
            named.append(kinds)
        if at < start:
            begun = len(found)
        elif mark == ENDS:
            cut.append(found[begun:])
            begun = len(found)
    cut.append(found[begun:])
    return Clauses(found, cut, distinct(named))


def _joining(pieces: Sequence[str], at: int) -> int:
    """Of how many pieces what joins two clauses at a place consists, if anything does: another one follows."""
    left = len(pieces) - at
    for joining in _JOINING[pieces[at].lower()]:
        length = len(joining)
        if length < left and (length == 1 or " ".join(pieces[at : at + length]).lower() == " ".join(joining)):
            return length
    return 0
