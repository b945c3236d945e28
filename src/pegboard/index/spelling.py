"""Words that no tool holds, and the known words that were probably meant: one typing error away."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegboard.index import kernel

SHORTEST = 4
"""Shorter words are never corrected."""
LONGEST = 24
REMEMBERED = 1000
"""So many unknown words are remembered with what was meant by them."""
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_PLACES = {letter: (x + y * 0.5, y) for y, row in enumerate(ROWS) for x, letter in enumerate(row)}


def slip(wrong: str, right: str) -> float:
    """How likely `right` was meant, from 0 to 1: 0 where they are more than one typing error apart.

    An error is two neighbours swapped, a letter dropped, added or replaced (Damerau 1964); the first letter, doubled
    letters and neighbouring keys are what people get wrong least and most.
    """
    if wrong == right:
        return 1.0
    start = 0
    for a, b in zip(wrong, right, strict=False):
        if a != b:
            break
        start += 1
    rest, meant = wrong[start:], right[start:]
    likely = 1.0 if start else 0.5
    if len(rest) == len(meant):
        if rest[1:] == meant[1:]:
            return likely * (0.9 if _are_near(rest[0], meant[0]) else 0.6)
        return likely if rest[:2] == meant[1::-1] and rest[2:] == meant[2:] else 0.0
    if len(rest) + 1 == len(meant) and rest == meant[1:]:
        return likely * 0.95
    if len(rest) == len(meant) + 1 and rest[1:] == meant:
        return likely * (1.0 if start and rest[0] == wrong[start - 1] else 0.8)
    return 0.0


def _are_near(a: str, b: str) -> bool:
    if a not in _PLACES or b not in _PLACES:
        return False
    (x, y), (u, v) = _PLACES[a], _PLACES[b]
    return abs(x - u) <= 1.0 and abs(y - v) <= 1


def _letters(words: Sequence[str]) -> npt.NDArray[np.uint64]:
    """The letters of each of some words, a bit a letter; no word is empty."""
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    sizes = np.array([0, *map(len, words)], np.intp)
    return np.bitwise_or.reduceat(np.uint64(1) << (codes & np.uint64(63)), sizes.cumsum()[:-1])


def _letters_of(word: str) -> int:
    found = 0
    for letter in word:
        found |= 1 << (ord(letter) & 63)
    return found


@dataclass(slots=True)
class Alike:
    """Known words of one length.

    Parameters:
        words: they.
        letters: of each.
    """

    words: list[str]
    letters: npt.NDArray[np.uint64]

    def add(self, new: Sequence[str]) -> None:
        """Add words of that length."""
        self.words += new
        self.letters = np.append(self.letters, _letters(new))


class Speller:
    """Known words by their lengths and the letters that they consist of; words may be added at any time."""

    def __init__(self) -> None:
        self._of_length: dict[int, Alike] = {}
        self._new: list[str] = []
        self._asked: dict[str, list[tuple[str, float]]] = {}

    def add(self, words: Iterable[str]) -> None:
        """Add words that are not known yet; they are indexed when one is first asked for."""
        self._new += words

    def near(self, word: str) -> list[tuple[str, float]]:
        """The known words one typing error away, likeliest first, then by name."""
        if not SHORTEST <= len(word) <= LONGEST or word.isdigit():
            return []
        if self._new:
            self._index()
        found = self._asked.get(word)
        if found is None:
            if len(self._asked) >= REMEMBERED:
                self._asked.clear()
            found = self._asked[word] = self._near(word)
        return found

    def _near(self, word: str) -> list[tuple[str, float]]:
        letters, found = _letters_of(word), dict[str, float]()
        for length in (len(word) - 1, len(word), len(word) + 1):
            if alike := self._of_length.get(length):
                for place in kernel.close(alike.words, alike.letters, word, letters):
                    known = alike.words[place]
                    found[known] = slip(word, known)
        return sorted(found.items(), key=lambda row: (-row[1], row[0]))

    def _index(self) -> None:
        new: dict[int, list[str]] = {}
        for word in self._new:
            if SHORTEST <= len(word) <= LONGEST and word.isalpha():
                new.setdefault(len(word), []).append(word)
        self._new.clear()
        for length, words in new.items():
            self._of_length.setdefault(length, Alike([], np.zeros(0, np.uint64))).add(words)
            self._asked.clear()
