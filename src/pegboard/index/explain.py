"""Why a tool was found: which of the request's words matched it, in which fields, and which did not."""

from collections.abc import Sequence
from itertools import compress

from pegboard.core import ToolSpec
from pegboard.index.fields import Field
from pegboard.index.protocol import Hit

_FIELDS_OF = [tuple(field.label for field in Field if bits >> field & 1) for bits in range(256)]


def hit(
    spec: ToolSpec,
    words: Sequence[str],
    terms: Sequence[int],
    bits: Sequence[int],
    *,
    score: float,
    confidence: float,
) -> Hit:
    """One tool that was found, with its reasons.

    Parameters:
        words: the request's terms, as they were asked.
        terms: for each row, which of them it belongs to.
        bits: for each row, in which fields of the tool its term stands; 0 where in none.
    """
    matched: dict[str, list[str]] = {}
    known: set[int] = set()
    for term, fields in zip(compress(terms, bits), filter(None, bits), strict=True):
        if term not in known:
            known.add(term)
            for field in _FIELDS_OF[fields]:
                if field in matched:
                    matched[field].append(words[term])
                else:
                    matched[field] = [words[term]]
    return Hit(
        name=spec.name,
        spec=spec,
        score=score,
        confidence=confidence,
        matched={field: tuple(found) for field, found in matched.items()},
        unmatched=tuple([word for n, word in enumerate(words) if n not in known]),
    )
