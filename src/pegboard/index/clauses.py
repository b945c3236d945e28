"""A request cut into its words and the clauses that they stand in."""

import re
from collections.abc import Sequence

from pegboard.index.text import words

REMEMBERED = 50_000
"""So many pieces of requests are remembered with their words."""
_BREAK = (
    r"[.!?;\n]+(?=\s|$)|[。！？；，、]|,?\s+(?=[atpfATPF])(?i:and(?:\s+(?:then|also))?|then|also|after\s+that|as\s+well\s+as|plus"
    r"|additionally|finally)\s+|,\s+"
)
_BREAKS = re.compile(f"({_BREAK})")
_PIECES = re.compile(rf"[A-Za-z0-9]+|{_BREAK}")
_KNOWN: dict[str, tuple[bool, Sequence[str]]] = {}


def clauses(text: str) -> tuple[list[str], list[list[str]]]:
    """The words of a text, and those of each of its clauses, without the words between clauses."""
    if not text.isascii():
        return words(text), [words(piece) for piece in _BREAKS.split(text)[::2]]
    found: list[str] = []
    clause: list[str] = []
    cut = [clause]
    for piece in _PIECES.findall(text):
        known = _KNOWN.get(piece) or _read(piece)
        found += known[1]
        if known[0]:
            clause += known[1]
        else:
            cut.append(clause := [])
    return found, cut


def _read(piece: str) -> tuple[bool, Sequence[str]]:
    """Whether a piece is a word rather than a break, and the words in it."""
    if len(_KNOWN) >= REMEMBERED:
        _KNOWN.clear()
    found = _KNOWN[piece] = (piece[0].isalnum(), tuple(words(piece)))
    return found
