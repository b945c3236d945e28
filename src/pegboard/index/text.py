"""Text into words, and words into terms: the analyser that tools and requests share.

Words are split at separators, at camelCase and at borders between scripts; letters are folded (case, width,
diacritics); scripts without spaces become single characters and pairs of them. A term is a stemmed word.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, cast

from pegboard.index.han import simplified
from pegboard.index.languages import ENGLISH
from pegboard.index.remembered import Remembered

_ASCII = re.compile(r"[A-Za-z0-9]+")
_PLAIN = re.compile(r"[a-z]+|[0-9]+")
_LETTERS = re.compile("[a-z]+")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese syllables
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"  # Han, Hangul
)
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINED = 3
"""Of at most so many camelCase parts the joined word is a word too (`GitHub`: git, hub, github)."""


def words(text: str) -> list[str]:
    """The words of a text, folded, in order; a word may be followed by its parts."""
    if not text.isascii():
        return _foreign_words(text)
    found: list[str] = []
    for chunk in _ASCII.findall(text):
        found += _CHUNKS[chunk]
    return found


def parts(chunk: str) -> tuple[str, ...]:
    """The words of a run of ASCII letters and digits."""
    return _CHUNKS[chunk]


def _split(chunk: str) -> tuple[str, ...]:
    """An ASCII chunk into its parts and, of few parts, the joined word."""
    if (chunk.isalpha() and chunk.islower()) or chunk.isdigit():
        return (chunk,)
    if chunk.isupper() or chunk.istitle() or _ACRONYMS.fullmatch(chunk):
        return _alphanumeric(chunk.lower())
    pieces = _CAMEL.sub(_cut, chunk).lower().split()
    if len(pieces) > 1 and len(pieces[0]) == 1:  # OAuth, iPhone
        pieces[:2] = [pieces[0] + pieces[1]]
    parts = [part for piece in pieces for part in _alphanumeric(piece)]
    joined = [chunk.lower()] if 1 < len(pieces) <= _JOINED and chunk.lower() not in parts else []
    return (*parts, *joined)


CACHED = 200_000
"""So many words are remembered with their parts and stems before all are forgotten."""
_CHUNKS = Remembered(_split, CACHED)


def _cut(border: re.Match[str]) -> str:
    return f"{border[0][0]} {border[0][1:]}"


def _alphanumeric(chunk: str) -> tuple[str, ...]:
    """`oauth2`: itself and `oauth`; `k8s`: itself."""
    if chunk.isalpha() and chunk.islower():
        return (chunk,)
    parts = [part for part in _LETTERS.findall(chunk) if len(part) > 1]
    return (chunk, *parts)


def fold(text: str) -> str:
    """Without case, width, diacritics and traditional forms; lone surrogates become spaces."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", _SURROGATES.sub(" ", text).casefold())
    return simplified(unicodedata.normalize("NFC", _MARKS.sub("", plain)).replace("\u0111", "d").replace("\u0142", "l"))


@cache
def _run() -> re.Pattern[str]:
    """Made when the first text is not plain: such patterns take milliseconds."""
    return re.compile(rf"[{_SPACELESS}]+|[a-z]+[0-9][a-z0-9]*|[0-9]+[a-z][a-z0-9]*|[0-9]+|[^\W\d_{_SPACELESS}]+")


@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{_SPACELESS}]")


def _foreign_words(text: str) -> list[str]:
    marked = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    found: list[str] = []
    for run in _run().findall(fold(marked)):
        if _spaceless().match(run):
            found += run
            found += [run[n : n + 2] for n in range(len(run) - 1)]
        elif run.isascii() and not _PLAIN.fullmatch(run):
            found += _alphanumeric(run)
        else:
            found.append(run)
    return found


def is_spaceless(word: str) -> bool:
    """Whether a word comes from a script that is written without spaces."""
    return not word.isascii() and _spaceless().match(word) is not None


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import Stemmer  # the library carries no types

    library = cast("Any", Stemmer)
    return library.Stemmer(language, 0).stemWord


@cache
def stems_of(language: str) -> Mapping[str, str]:
    """The stems of all words in a language (Snowball); words of three letters or fewer stay as they are."""

    def stem(word: str) -> str:
        return word if len(word) <= 3 or is_spaceless(word) else _stemmer(language)(word)

    return Remembered(stem, CACHED)


def stems(words: Iterable[str], language: str = ENGLISH) -> list[str]:
    """Each word's stem in a language."""
    return list(map(stems_of(language).__getitem__, words))
