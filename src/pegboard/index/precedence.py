"""Which of two tools that meet a request comes first: the bundle before its parts, the new before the old."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolName, ToolSpec
from pegboard.core.spec import OWN_META
from pegboard.index.fields import Field
from pegboard.index.postings import Floats
from pegboard.schema.types import as_list

KINDS = frozenset(("bundle", "chain", "scatter", "agent"))
"""Composed tools that do a whole task; a batch does the same thing more often."""
STEP = 1e-4
"""What the first has over the second: scores are rounded to it."""
_TELLING = sum(1 << field for field in (Field.NAME, Field.TITLE, Field.NAMESPACE, Field.DESCRIPTION, Field.PARAMETERS))


class Precedence:
    """The tools of an index that come before others, updated in place."""

    def __init__(self) -> None:
        self._first: dict[ToolName, ToolSpec] = {}

    def __len__(self) -> int:
        return len(self._first)

    def add(self, spec: ToolSpec) -> None:
        """Add one tool."""
        if spec.successor or spec.meta.get(f"{OWN_META}composite") in KINDS:
            self._first[spec.name] = spec

    def remove(self, name: ToolName) -> None:
        """Remove one tool."""
        self._first.pop(name, None)

    def applied(
        self,
        values: Floats,
        specs: Sequence[ToolSpec],
        terms: Sequence[int],
        rarity: Floats,
        bits: npt.NDArray[np.uint8],
    ) -> Floats:
        """The scores, with each tool that comes before another just above it.

        A composed tool comes before its parts where it tells of as much of the request as they do; a successor
        always comes before the tool that it succeeds.

        Parameters:
            values: the candidates' scores.
            specs: the candidates.
            terms: for each row, the number of its term.
            rarity: of each row.
            bits: the fields of each row's term in each candidate.
        """
        if not len(values):
            return values
        place = {str(spec.name): n for n, spec in enumerate(specs)}
        found = values.copy()
        pairs = list(self._pairs(place, _told(terms, rarity, bits)))
        for _ in pairs:  # a tool that is above another may itself be below a third
            before = found.copy()
            for first, second in pairs:
                found[first] = max(found[first], found[second] + np.float32(STEP))
            if np.array_equal(before, found):
                break
        return found

    def _pairs(self, place: dict[str, int], told: Floats) -> Iterator[tuple[int, int]]:
        for name, spec in self._first.items():
            here = place.get(str(name))
            if here is None:
                continue
            if spec.successor in place:
                yield place[spec.successor], here
                continue
            for part in as_list(spec.meta.get(f"{OWN_META}uses")):
                there = place.get(str(part))
                if there is not None and told[here] > 0 and told[here] >= told[there]:
                    yield here, there


def _told(terms: Sequence[int], rarity: Floats, bits: npt.NDArray[np.uint8]) -> Floats:
    """Of each candidate, the rarity of the request's terms that its telling fields hold."""
    found = np.zeros(bits.shape[1], np.float32)
    holds = (bits & _TELLING) > 0
    for term in dict.fromkeys(terms):
        mine = [n for n, other in enumerate(terms) if other == term]
        found += np.where(holds[mine], rarity[mine][:, None], np.float32(0)).max(axis=0)
    return found
