"""What the index knows of words: which its tools hold, what else means the same, and what a misspelt one meant."""

from collections.abc import Container, Iterable, Mapping
from functools import cache
from itertools import filterfalse

from pegboard.index.ask import NUMBER, Request, Term
from pegboard.index.languages import ENGLISH
from pegboard.index.postings import Mask, Postings
from pegboard.index.shipped import shipped
from pegboard.index.spelling import Speller

REMEMBERED = 20_000
"""So many words are remembered with what was meant by them."""
MEANT = 3
"""An unknown word stands for so many known ones at most."""
LIKELY = 0.6
"""A known word that is less likely than the likeliest by more than this factor is not considered."""


_NONE: Mapping[str, float] = {}


class _Some(Container[str]):
    """The terms that some tools hold."""

    def __init__(self, postings: Postings, shown: Mask) -> None:
        self._postings = postings
        self._shown = shown

    def __contains__(self, term: object) -> bool:
        place = self._postings.place(str(term))
        if place is None:
            return False
        held, start, stop = place
        return bool(self._shown[held.slots[start:stop]].any())


class Shown:
    """What is known of words among the shown tools: one that only others hold is as unknown as one that none does.

    Parameters:
        postings: of all tools.
        shown: which slots may be shown, or None where all may.
    """

    def __init__(self, postings: Postings, shown: Mask | None) -> None:
        self.terms: Container[str] = postings.terms if shown is None else _Some(postings, shown)
        """Those that the shown tools hold."""
        self.corrected: dict[str, str] = {}
        """What was meant by words that the embedder's table does not know."""


class Vocabulary:
    """The words of the tools, and those of the embedder's table.

    Parameters:
        table: words that are known to be words, whether or not a tool holds them.
    """

    def __init__(self, table: Mapping[str, int]) -> None:
        self._table = table
        self.spelt: dict[str, str] = {}
        self._speller = Speller()
        self._of_table = _speller_of(table)

    def add(self, spelt: Mapping[str, str]) -> None:
        """Add words, each with its term."""
        self._speller.add([word for word in spelt if word not in self.spelt])
        self.spelt.update(spelt)

    def options(self, term: Term, held: Container[str]) -> tuple[dict[str, float], str | None]:
        """By what a request's term may be matched, with weights: itself, its synonyms, or what it was meant to be.

        Parameters:
            held: the terms that the shown tools hold.

        Returns:
            Them, and for a word that neither a tool nor the table knows, the nearest that a tool holds.
        """
        found, nearest = {term.stem: 1.0}, None
        if term.also:
            found |= dict.fromkeys(term.also, 0.9)
        alike = synonyms().get(term.stem)
        if not (term.stem in held or (term.also and any([other in held for other in term.also]))):
            alike = {**everyday().get(term.stem, _NONE), **(alike or _NONE)}
            if term.word not in self._table and (near := self._meant(term.word, held)):
                found |= {self.spelt[word]: likely for word, likely in near}
                nearest = near[0][0]
        if alike:
            found |= {synonym: weight for synonym, weight in alike.items() if synonym in held and synonym not in found}
        return found, nearest

    def _meant(self, word: str, held: Container[str]) -> list[tuple[str, float]]:
        near = [(known, likely) for known, likely in self._speller.near(word) if self.spelt[known] in held]
        return [(known, likely) for known, likely in near if likely >= LIKELY * near[0][1]][:MEANT]

    def corrected(self, words: Iterable[str], held: Shown) -> dict[str, str]:
        """Those words that neither the table nor a tool knows, put right where it is clear what was meant."""
        known = held.corrected
        found: dict[str, str] = {}
        for word in filterfalse(self._table.__contains__, words):
            meant = known.get(word) or self._right(word, held)
            if meant != word:
                found[word] = meant
        return found

    def _right(self, word: str, held: Shown) -> str:
        if len(held.corrected) >= REMEMBERED:
            held.corrected.clear()
        spelt = self.spelt.get(word)
        known = spelt is not None and spelt in held.terms
        near = () if known else self._meant(word, held.terms) or self._of_table.near(word)
        found = held.corrected[word] = near[0][0] if near else word
        return found

    def known_share(self, request: Request, right: Mapping[str, str]) -> float:
        """The share of the request's telling words that an English model knows.

        Parameters:
            right: misspelt words and what was meant by them.
        """
        if not request.terms or request.language != ENGLISH:
            return 0.0
        telling = [term.word for term in request.terms if term.weight != NUMBER]
        meant = [right.get(word, word) for word in telling] if right else telling
        known = sum(map(self._table.__contains__, meant))
        return known / len(telling) if telling else 0.0


_SPELLERS: dict[int, Speller] = {}


def _speller_of(table: Mapping[str, int]) -> Speller:
    found = _SPELLERS.get(id(table))
    if found is None:
        found = Speller()
        found.add(table)
        if table:
            _SPELLERS[id(table)] = found
    return found


@cache
def synonyms() -> Mapping[str, Mapping[str, float]]:
    """Terms that mean nearly the same, with weights; learned from data (`training/synonyms.py`)."""
    return _read("synonyms.tsv")


@cache
def everyday() -> Mapping[str, Mapping[str, float]]:
    """Words of everyday speech and what tools call the same, with weights; for words that no tool holds."""
    return _read("everyday.tsv")


def _read(name: str) -> Mapping[str, Mapping[str, float]]:
    source = shipped(name)
    found: dict[str, dict[str, float]] = {}
    if source.is_file():
        for line in source.read_text(encoding="utf8").splitlines():
            if not line.startswith("#"):
                a, b, weight = line.split("\t")
                found.setdefault(a, {})[b] = float(weight)
    return found
