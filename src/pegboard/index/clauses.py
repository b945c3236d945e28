"""A request cut into its words and the clauses that they stand in."""

import re
from collections.abc import Sequence

from pegboard.index.text import words

REMEMBERED = 50_000
"""So many pieces of requests are remembered with their words."""
_JOINING = (
    ("and", "then"),
    ("and", "also"),
    ("and",),
    ("then",),
    ("also",),
    ("after", "that"),
    ("as", "well", "as"),
    ("plus",),
    ("additionally",),
    ("finally",),
)
"""What may stand between two clauses, the longer before its beginning."""
_JOINS = frozenset([joining[0] for joining in _JOINING])
_BREAKS = re.compile(
    r"[.!?;\n]+(?=\s|$)|[。！？；，、]|,?\s+(?=[atpfATPF])(?i:"
    + "|".join(r"\s+".join(joining) for joining in _JOINING)
    + r")\s+|,\s+"
)


class Pieces(dict[str, tuple[Sequence[str], bool, bool]]):
    """By what stands between spaces: its words, whether a clause ends with it, whether it may join two."""

    def __missing__(self, piece: str) -> tuple[Sequence[str], bool, bool]:
        if len(self) >= REMEMBERED:
            self.clear()
        said = (piece,) if piece.isalpha() and piece.islower() else tuple(words(piece))
        found = self[piece] = (said, piece[-1] in ".!?;,", piece.lower() in _JOINS)
        return found


_KNOWN = Pieces()


def clauses(text: str) -> tuple[list[str], list[list[str]]]:
    """The words of a text, and those of each of its clauses, without the words between clauses."""
    if "\n" in text or not text.isascii():
        return words(text), [words(piece) for piece in _BREAKS.split(text)]
    pieces = text.split()
    found: list[str] = []
    clause: list[str] = []
    cut = [clause]
    start = 0
    for at, (said, ends, joins) in enumerate(map(_KNOWN.__getitem__, pieces)):
        found += said
        if at < start:
            continue
        if joins and at > start and (length := _joining(pieces, at)):
            start = at + length
            cut.append(clause := [])
        else:
            clause += said
            if ends:
                cut.append(clause := [])
    return found, cut


def _joining(pieces: Sequence[str], at: int) -> int:
    """Of how many pieces what joins two clauses at a place consists, if anything does: another one follows."""
    said = tuple([piece.lower() for piece in pieces[at : at + 4]])
    return next((len(joining) for joining in _JOINING if said[: len(joining)] == joining and said[len(joining) :]), 0)
