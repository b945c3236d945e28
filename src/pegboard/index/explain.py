"""Why a tool was found: which of the request's words matched it, in which fields, and which did not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from pegboard.index.fields import Field

_FIELDS_OF = [tuple(field.label for field in Field if bits >> field & 1) for bits in range(256)]


@dataclass(frozen=True, slots=True)
class Reasons:
    """What one tool matched, told when it is asked: most searches are read for their names alone.

    Parameters:
        words: the request's terms, as they were asked.
        terms: for each row, which of them it belongs to.
        bits: for each row, in which fields of the tool its term stands; 0 where in none.
    """

    words: Sequence[str] = ()
    terms: Sequence[int] = ()
    bits: Sequence[int] = ()

    @property
    def matched(self) -> dict[str, tuple[str, ...]]:
        """The terms that matched, by field."""
        found: dict[str, list[str]] = {}
        known: set[int] = set()
        for term, fields in zip(compress(self.terms, self.bits), filter(None, self.bits), strict=True):
            if term not in known:
                known.add(term)
                for field in _FIELDS_OF[fields]:
                    found.setdefault(field, []).append(self.words[term])
        return {field: tuple(words) for field, words in found.items()}

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The terms that matched nothing."""
        known = set(compress(self.terms, self.bits))
        return tuple([word for n, word in enumerate(self.words) if n not in known])
