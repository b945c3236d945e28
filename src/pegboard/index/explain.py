"""Why a tool was found: which of the request's words matched it, in which fields, and which did not."""

from collections.abc import Sequence

from pegboard.core import ToolSpec
from pegboard.index.ask import Request
from pegboard.index.candidates import Row
from pegboard.index.fields import Field
from pegboard.index.protocol import Hit

_FIELDS_OF = [tuple(field.label for field in Field if bits >> field & 1) for bits in range(256)]


def hit(
    spec: ToolSpec, request: Request, rows: Sequence[Row], bits: Sequence[int], *, score: float, confidence: float
) -> Hit:
    """One tool that was found, with its reasons.

    Parameters:
        bits: for each row, in which fields of the tool its term stands; 0 where in none.
    """
    matched: dict[str, list[str]] = {}
    known: set[int] = set()
    for row, fields in zip(rows, bits, strict=True):
        if fields and row.term not in known:
            known.add(row.term)
            word = request.terms[row.term].word
            for field in _FIELDS_OF[fields]:
                matched.setdefault(field, []).append(word)
    return Hit(
        name=spec.name,
        spec=spec,
        score=score,
        confidence=confidence,
        matched={field: tuple(found) for field, found in matched.items()},
        unmatched=tuple(term.word for n, term in enumerate(request.terms) if n not in known),
    )
