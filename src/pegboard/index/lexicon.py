"""Many texts read at once: their words as numbers, and what the words stand for looked up in whole arrays.

Every distinct word is taken apart, stemmed and looked up once; what is left to do for each of its occurrences is a look
into an array.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from pegboard.index.languages import ENGLISH, STOP_WORDS, language_of, may_tell
from pegboard.index.text import parts, stems, words

Ints = npt.NDArray[np.signedinteger[Any]]
Column = npt.NDArray[np.int32]
_BREAK = "\0"
"""Stands between two texts."""
_SPACES = bytes(code if code == 0 or chr(code).isalnum() and code < 128 else 32 for code in range(256))
_NONE = np.zeros(0, np.int32)


class Numbers(dict[str, int]):
    """Texts and their numbers, in the order in which they were met."""

    def __init__(self) -> None:
        self.listed: list[str] = []

    def __missing__(self, text: str) -> int:
        found = self[text] = len(self.listed)
        self.listed.append(text)
        return found

    def of(self, texts: Sequence[str]) -> Ints:
        """The number of each."""
        found = itemgetter(*texts)(self) if len(texts) > 1 else [self[text] for text in texts]
        return np.fromiter(found, np.intp, len(texts))


class Translation:
    """What each of some texts stands for: a few numbers, worked out when it is first asked for.

    Parameters:
        texts: by their numbers.
        make: works out the numbers of each of some texts.
    """

    def __init__(self, texts: Numbers, make: Callable[[Sequence[str]], Iterable[Sequence[int]]]) -> None:
        self._texts = texts
        self._make = make
        self._counts: Column = _NONE
        self._starts: Column = _NONE
        self._found: Column = _NONE

    def counts(self, asked: Ints) -> Ints:
        """How many numbers each stands for."""
        self._counts = _grown(self._counts, len(self._texts))
        self._starts = _grown(self._starts, len(self._texts))
        counts = self._counts.take(asked)
        if counts.min(initial=0) < 0:
            self._learn(np.unique(asked[counts < 0]))
            counts = self._counts.take(asked)
        return counts

    def _learn(self, new: Ints) -> None:
        made = list(self._make(list(map(self._texts.listed.__getitem__, new.tolist()))))
        counts = np.fromiter(map(len, made), np.intp, len(made))
        self._counts[new] = counts
        self._starts[new] = len(self._found) + counts.cumsum() - counts
        self._found = np.append(self._found, np.fromiter(chain.from_iterable(made), np.int32))

    def of(self, asked: Ints) -> tuple[Ints, Ints]:
        """How many numbers each stands for, and all these numbers in a row."""
        counts = self.counts(asked)
        ends = counts.cumsum()
        first = (self._starts.take(asked) - ends + counts).repeat(counts)
        return counts, self._found.take(first + np.arange(len(first)))

    def first(self, asked: Ints) -> Ints:
        """The first number of each, or -1 where it stands for none."""
        counts = self.counts(asked)
        found = np.append(self._found, -1)
        return found.take(np.where(counts > 0, self._starts.take(asked), len(found) - 1))


class Lexicon:
    """The words of many tools, with what has been worked out about each; kept while the tools are read.

    Nothing in it refers back to it, so that its memory is free at once.
    """

    def __init__(self) -> None:
        self.words = Numbers()
        self.terms = Numbers()
        self._chunks = Numbers()
        self._break = self._chunks[_BREAK]
        self._parts = Translation(self._chunks, partial(_apart, self.words))
        self._tellers = Translation(self.words, lambda found: [(1,) if may_tell(word) else () for word in found])
        self.odd = Translation(self.terms, lambda found: [() if term.isascii() else (1,) for term in found])
        """Tells terms that are not plain."""
        self._kept: dict[object, Translation] = {}
        self._numbers: Column = _NONE
        self._spelt: Column = _NONE

    def read(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """The words of some texts as `words` has them, and the place of the text that each stands in."""
        joined = f" {_BREAK} ".join(texts)
        odd: list[int] = []
        if not joined.isascii() or joined.count(_BREAK) >= len(texts):
            odd = [n for n, text in enumerate(texts) if not text.isascii() or _BREAK in text]
            plain = list(texts)
            for n in odd:
                plain[n] = ""
            joined = f" {_BREAK} ".join(plain)
        chunks = self._chunks.of(joined.encode().translate(_SPACES).decode().split())
        counts, found = self._parts.of(chunks)
        place = (chunks == self._break).cumsum().repeat(counts)
        return self._with(found, place, texts, odd) if odd else (found, place)

    def _with(self, found: Ints, place: Ints, texts: Sequence[str], odd: Sequence[int]) -> tuple[Ints, Ints]:
        """The same with the words of texts that are not plain."""
        told = [words(texts[n]) for n in odd]
        found = np.append(found, self.words.of(list(chain.from_iterable(told))))
        place = np.append(place, np.repeat(odd, [len(row) for row in told]))
        order = place.argsort(kind="stable")
        return found[order], place[order]

    def translation(self, name: object, make: Callable[[Sequence[str]], Iterable[Sequence[int]]]) -> Translation:
        """What words stand for, kept by a name."""
        known = self._kept.get(name)
        if known is None:
            known = self._kept[name] = Translation(self.words, make)
        return known

    def stems(self, language: str, *, whole: bool = False) -> Translation:
        """Words to their terms in a language; function words have none, except where `whole`."""
        stop = frozenset[str]() if whole else STOP_WORDS[language]
        return self.translation((language, whole), partial(_stemmed, self.terms, language, stop))

    def numbered(self, terms: Ints, numbers: dict[str, int]) -> Ints:
        """The numbers of terms; new ones are added in the order in which they come."""
        self._numbers = _grown(self._numbers, len(self.terms))
        found = self._numbers.take(terms)
        if found.min(initial=0) < 0:
            listed = self.terms.listed
            new: list[int] = terms[found < 0].tolist()
            for term in dict.fromkeys(new):
                self._numbers[term] = numbers.setdefault(listed[term], len(numbers))
            found = self._numbers.take(terms)
        return found

    def spelt(self, found: Ints, terms: Ints) -> dict[str, str]:
        """The last term of each word that had none or another one until now."""
        self._spelt = _grown(self._spelt, len(self.words))
        before = self._spelt.take(found)
        self._spelt[found] = terms
        changed = dict.fromkeys(found[before != self._spelt.take(found)].tolist())
        words, listed = self.words.listed, self.terms.listed
        return {words[word]: listed[int(self._spelt[word])] for word in changed}

    def languages(self, found: Ints, place: Ints) -> dict[int, str]:
        """The languages of those texts whose words tell another than English.

        Parameters:
            found: their words.
            place: the place of the text that each stands in, in order.
        """
        told: dict[int, str] = {}
        for text in np.unique(place[self._tellers.counts(found) > 0]).tolist():
            start, stop = place.searchsorted([text, text + 1])
            language = language_of(self.listed(found[start:stop]))
            if language != ENGLISH:
                told[text] = language
        return told

    def listed(self, found: Ints) -> list[str]:
        """Words as texts."""
        listed = self.words.listed
        return [listed[n] for n in found.tolist()]


def _apart(numbers: Numbers, chunks: Sequence[str]) -> Iterable[Sequence[int]]:
    return [[numbers[word] for word in parts(chunk)] if chunk != _BREAK else () for chunk in chunks]


def _stemmed(terms: Numbers, language: str, stop: Container[str], found: Sequence[str]) -> Iterable[Sequence[int]]:
    kept = [word for word in found if word not in stop]
    term = dict(zip(kept, terms.of(stems(kept, language)).tolist(), strict=True))
    return [(term[word],) if word in term else () for word in found]


def _grown(column: Column, size: int) -> Column:
    """A number for each of so many, -1 for new ones."""
    return np.append(column, np.full(size - len(column), -1, np.int32)) if size > len(column) else column
