"""Why a tool was found: which of the request's words matched it, in which fields, and which did not."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pegboard.index.ask import Term
from pegboard.index.fields import Field

_FIELDS_OF = [tuple(field.label for field in Field if bits >> field & 1) for bits in range(256)]


class Held(Protocol):
    """What a request's terms hold."""

    def of(self, slot: int) -> Sequence[tuple[int, int]]:
        """The rows whose term the tool in a slot holds, each with its fields, one bit a `Field`."""
        ...


class Reasons(NamedTuple):
    """What one tool matched, worked out when it is asked: most searches are read for their names alone.

    Parameters:
        asked: the request's terms.
        terms: for each row, which of them it belongs to.
        held: what the rows hold.
        slot: of the tool.
    """

    asked: Sequence[Term] = ()
    terms: Sequence[int] = ()
    held: Held | None = None
    slot: int = 0

    @property
    def matched(self) -> dict[str, tuple[str, ...]]:
        """The terms that matched, by field."""
        found: dict[str, list[str]] = {}
        for term, fields in self._told().items():
            for field in _FIELDS_OF[fields]:
                found.setdefault(field, []).append(self.asked[term].word)
        return {field: tuple(words) for field, words in found.items()}

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The terms that matched nothing."""
        known = self._told()
        return tuple([term.word for n, term in enumerate(self.asked) if n not in known and not term.added])

    def _told(self) -> dict[int, int]:
        """Each term that matched, with the fields of the first of its rows that did."""
        found: dict[int, int] = {}
        for row, fields in self.held.of(self.slot) if self.held else ():
            found.setdefault(self.terms[row], fields)
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reasons) and (self.matched, self.unmatched) == (other.matched, other.unmatched)

    def __hash__(self) -> int:
        return hash(self.unmatched)

    def __repr__(self) -> str:
        return f"Reasons(matched={self.matched}, unmatched={self.unmatched})"
