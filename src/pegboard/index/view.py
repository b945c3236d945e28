"""The tools that one filter shows, and what a request's terms stand for among them: worked out once a word."""

from typing import NamedTuple, TypeAlias

from pegboard.index.ask import Request, Term
from pegboard.index.postings import Mask, Place, Posting, Postings, Row
from pegboard.index.vocabulary import Shown, Vocabulary
from pegboard.index.words import rarity

TERMS = 128
"""So many of a request's terms count, the rarest ones."""
REMEMBERED = 20_000
"""So many words are remembered with what they stand for."""
COPIED = 100_000
"""Of a filter, so many tools are remembered by word before all are forgotten."""


Meant: TypeAlias = tuple[list[Row], float, str | None]
"""What one term of a request stands for among the shown tools: each term of theirs that it may be matched by and the
tools that hold it; the rarity of the rarest of them, or of a word that no tool holds; and the known word that was
probably meant, where the word itself is unknown."""


class Read(NamedTuple):
    """A request among the shown tools.

    Parameters:
        terms: for each row, the number of its term in the request.
        rows: what the terms are matched by.
        rarity: of all terms together, also of those that no tool holds.
        unknown: the words that no shown tool holds.
        nearest: the known words that were probably meant by unknown ones.
    """

    terms: list[int]
    rows: list[Row]
    rarity: float
    unknown: tuple[str, ...]
    nearest: tuple[str, ...]


class View:
    """What one filter shows.

    Parameters:
        vocabulary: of all tools.
        postings: of all tools.
        mask: which slots may be shown, or None where all may.
        count: how many tools that are.
    """

    def __init__(self, vocabulary: Vocabulary, postings: Postings, mask: Mask | None, count: int) -> None:
        self.mask = mask
        self.count = count
        self.held = Shown(postings, mask)
        self._vocabulary = vocabulary
        self._postings = postings
        self._meant: dict[Term, Meant] = {}
        self._copied = 0

    def read(self, request: Request) -> Read:
        """What a request's terms stand for."""
        terms: list[int] = []
        rows: list[Row] = []
        unknown: list[str] = []
        nearest: list[str] = []
        asked = 0.0
        known = self._meant
        for number, term in enumerate(request.terms):
            held, worth, likely = known.get(term) or self._look_up(term)
            asked += worth
            if held:
                rows += held
                terms += [number] * len(held)
            elif term.unheld:
                unknown.append(term.word)
            if likely:
                nearest.append(likely)
        found = Read(terms, rows, asked, tuple(unknown), tuple(dict.fromkeys(nearest)))
        return self._rarest(request, found) if len(rows) > TERMS else found

    def _rarest(self, request: Request, found: Read) -> Read:
        """A request of very many terms, with its rarest ones alone."""
        least = sorted((row.rarity for row in found.rows), reverse=True)[TERMS - 1]
        kept = [(n, row) for n, row in zip(found.terms, found.rows, strict=True) if row.rarity >= least][:TERMS]
        held = {n for n, _ in kept}
        rarest = rarity(0, self.count)
        worth = {n: max(row.rarity for m, row in kept if m == n) for n in held}
        asked = sum(worth.get(n, rarest * term.unheld) for n, term in enumerate(request.terms))
        unknown = tuple(term.word for n, term in enumerate(request.terms) if n not in held)
        return Read([n for n, _ in kept], [row for _, row in kept], asked, unknown, found.nearest)

    def _look_up(self, term: Term) -> Meant:
        if len(self._meant) >= REMEMBERED or self._copied > COPIED:
            self._meant.clear()
            self._copied = 0
        options, nearest = self._vocabulary.options(term, self.held.terms)
        postings, mask, count = self._postings, self.mask, self.count
        rows: list[Row] = []
        worth = 0.0
        for option, weight in options.items():
            place = postings.place(option)
            if place is not None and (mask is None or (place := self._shown(place, mask))):
                held, start, stop = place
                rare = rarity(stop - start, count) * term.weight * weight
                rows.append(Row(rare, held, start, stop))
                worth = max(worth, rare)
        if not rows:
            worth = rarity(0, count) * term.unheld
        found = self._meant[term] = (rows, worth, nearest)
        return found

    def _shown(self, place: Place, mask: Mask) -> Place | None:
        held, start, stop = place
        seen = mask[held.slots[start:stop]]
        if not seen.any():
            return None
        found = Posting._make(part[start:stop][seen] for part in held)
        self._copied += len(found.slots)
        return found, 0, len(found.slots)
