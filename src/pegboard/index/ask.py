"""A request, read: its words, what each may be matched by, and the needs that it names."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import compress
from operator import itemgetter
from typing import NamedTuple

from pegboard.index.clauses import clauses
from pegboard.index.doing import Doing, wanted
from pegboard.index.idioms import idioms
from pegboard.index.kinds import conversion
from pegboard.index.languages import ENGLISH, STOP_WORDS, language_of, tells, unwrapped, written_in
from pegboard.index.remembered import Remembered
from pegboard.index.text import is_spaceless, stems_of

LENGTH = 20_000
"""So many characters of a request are read."""
NEEDS = 8
"""So many needs of one request are told apart."""
REMEMBERED = 20_000
"""So many words of requests are remembered as terms."""
SINGLE = 0.8
"""What a single character of a script without spaces is worth; its pairs carry the meaning."""
UNHELD = 0.2
"""What a pair of characters counts that no tool holds: it is mostly where one word ends and the next begins."""
ADDED = 0.6
"""What a word is worth that stands for an everyday phrase; where no tool holds it, nothing is missing."""
REPLACED = 0.8
"""What a word is worth that such a phrase is made of: a tool may be called like it."""
_NOT = """don dont not never no longer isn aren doesn doesnt haven hasn didn didnt cannot cant"""
NEGATIONS = frozenset(_NOT.split())
"""Words of phrases that say what is not wanted, or not known: what they are made of would mislead."""
NUMBER = 0.5
"""What a number is worth: it is mostly a value, not what a tool does."""


_STEM = itemgetter(1)
_NO_NEEDS: Mapping[str, int] = {}


class Term(NamedTuple):
    """One distinct word of a request. There is one term of a word, which requests share.

    Parameters:
        word: as it was asked.
        stem: what it is matched by.
        also: other terms that it may mean, with their weights (its stem in another language).
        weight: how much it counts.
        unheld: how much it counts where no tool holds it.
        added: whether it was not said, but stands for an everyday phrase.
    """

    word: str
    stem: str
    also: tuple[str, ...] = ()
    weight: float = 1.0
    unheld: float = 1.0
    added: bool = False

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Request(NamedTuple):
    """A request, read.

    Parameters:
        text: as it was asked, cut to what is read.
        words: all its words, in order.
        terms: its distinct telling words, in order.
        needs: the words of each need, where it names several; else empty.
        need_of: by a word of a need, the number of the first that it belongs to.
        language: the one that its words are in, as far as its function words tell.
        spaceless: whether most of it is in a script without spaces.
        wants: to know or to change something; either, where it names several needs.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[Term, ...]
    needs: tuple[tuple[str, ...], ...] = ()
    need_of: Mapping[str, int] = _NO_NEEDS
    language: str = ENGLISH
    spaceless: bool = False
    wants: Doing = Doing.EITHER


def read(text: str) -> Request:
    """Read a request; whatever it holds, this never fails."""
    text = text[:LENGTH]
    bare = unwrapped(text)
    found, parts, kinds = clauses(bare)
    if kinds:
        found += [word for word in kinds if word not in found]
    language = language_of(found)
    said = found
    if language == ENGLISH:
        found = idioms().replaced(said)
        if found is not said and len(parts) > 1:
            parts = [idioms().replaced(part) for part in parts]
        if more := conversion(said):
            found = [*found, *more]
    telling = _telling(language)
    needs = _needs(parts, telling)
    need_of = {word: n for n in reversed(range(len(needs))) for word in needs[n]} if needs else _NO_NEEDS
    if found is not said and (added := set(found).difference(said)):
        beside = _replaced(said, found)
        worth = dict.fromkeys(added, ADDED) | dict.fromkeys(beside, REPLACED)
        found = [*found, *beside]
        known = filter(None, map(telling.__getitem__, found))
        told = [_worth(term, worth[term.word]) if term.word in worth else term for term in known]
    else:
        told = filter(None, map(telling.__getitem__, found))
    terms = _distinct(told) or _distinct(map(_terms(language).__getitem__, found))
    spaceless = not bare.isascii() and 2 * sum(map(is_spaceless, terms)) > len(terms)
    if spaceless:
        language = written_in(bare) or language
    wants = Doing.EITHER if needs else wanted(said)
    return Request(text, tuple(found), tuple(terms.values()), needs, need_of, language, spaceless, wants)


def _distinct(told: Iterable[Term]) -> dict[str, Term]:
    terms = list(told)
    found = dict(zip(map(_STEM, terms), terms, strict=True))
    if len(found) == len(terms):
        return found
    found.clear()
    for term in terms:
        found.setdefault(term.stem, term)
    return found


def _replaced(said: Sequence[str], found: Sequence[str]) -> list[str]:
    """The words that phrases stand instead of; none where they say what is not wanted."""
    return [] if not NEGATIONS.isdisjoint(said) else list(dict.fromkeys(word for word in said if word not in found))


@cache
def _terms(language: str) -> Mapping[str, Term]:
    """The terms of all words of a language."""
    stems, english = stems_of(language), stems_of(ENGLISH)

    def term(word: str) -> Term:
        stem = stems[word]
        also = () if english is stems or english[word] == stem else (english[word],)
        weight = NUMBER if word.isdigit() else 1.0
        if word.isascii() or not is_spaceless(word):
            return Term(word, stem, also, weight, weight)
        return Term(word, stem, also, SINGLE, SINGLE) if len(word) == 1 else Term(word, stem, also, weight, UNHELD)

    return Remembered(term, REMEMBERED)


@cache
def _telling(language: str) -> Mapping[str, Term | None]:
    """The terms of those that tell something by themselves, and none of others."""
    terms, stop = _terms(language), STOP_WORDS[language]

    def telling(word: str) -> Term | None:
        told = word not in stop and (word.isascii() or not is_spaceless(word) or tells(word))
        return terms[word] if told else None

    return Remembered(telling, REMEMBERED)


@lru_cache(REMEMBERED)
def _worth(term: Term, worth: float) -> Term:
    """The term of a word that was not said, or that stands beside what it was read as, is worth so much."""
    return term._replace(weight=worth, unheld=0.0, added=worth == ADDED)


def _needs(clauses: Sequence[Sequence[str]], telling: Mapping[str, Term | None]) -> tuple[tuple[str, ...], ...]:
    """The words of each part of the request; a part of a single telling word belongs to the part before it."""
    if len(clauses) < 2:
        return ()
    parts: list[list[str]] = []
    for clause in clauses:
        found = list(compress(clause, map(telling.__getitem__, clause)))
        if len(found) == 1 and parts:
            parts[-1] += found
        elif found:
            parts.append(found)
    if len(parts) > 1 and len(parts[0]) == 1:
        parts[1] = parts[0] + parts[1]
        del parts[0]
    return tuple(map(tuple, parts[:NEEDS])) if len(parts) > 1 else ()
