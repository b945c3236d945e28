"""All that a request's terms hold, as flat arrays: the words' scores of every tool, and the fields they stand in."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field
from pegboard.index.postings import Floats, Posting

Ints = npt.NDArray[np.intp]
Bits = npt.NDArray[np.uint8]
_NAME = np.uint8(1 << Field.NAME)
_NO_SLOTS, _NO_FIELDS, _NO_IMPACTS = np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Row:
    """What a term of a request is matched by, among the shown tools.

    Parameters:
        rarity: what it counts: its weight times its inverse document frequency.
        posting: the shown tools that hold it.
    """

    rarity: float
    posting: Posting


class Matches:
    """Each holding: a tool, a row, its worth and its fields.

    Parameters:
        rows: what the terms are matched by.
        needs: for each row, the need that it belongs to.
        size: how many slots there are.
    """

    def __init__(self, rows: Sequence[Row], needs: Sequence[int], size: int) -> None:
        self._size = size
        self._needs = needs
        held = [row.posting for row in rows]
        sizes = [len(posting.slots) for posting in held]
        self._sizes = np.array(sizes, np.intp)
        self._stops = list(accumulate(sizes))
        self.rarity = [row.rarity for row in rows]
        self._slots = np.concatenate([posting.slots for posting in held] or [_NO_SLOTS])
        self._fields = np.concatenate([posting.fields for posting in held] or [_NO_FIELDS])
        self._worth = np.concatenate([posting.impacts for posting in held] or [_NO_IMPACTS])
        self._worth *= np.array(self.rarity, np.float32).repeat(self._sizes)

    def scores(self, needs: int, found: Floats) -> None:
        """Fill in the BM25F score of every slot, and below it those by each need, where there are several."""
        if needs < 2:
            found[0] = np.bincount(self._slots, self._worth, self._size)
            return
        first = (np.array(self._needs, np.intp) * self._size).repeat(self._sizes)
        found[1:].reshape(-1)[:] = np.bincount(first + self._slots, self._worth, needs * self._size)
        np.add.reduce(found[1:], axis=0, out=found[0])

    def names(self, slots: Ints) -> Floats:
        """How many rows' terms the names of some slots hold."""
        return np.bincount(self._slots, self._fields & _NAME, self._size).take(slots).astype(np.float32)

    def of(self, slot: int) -> list[tuple[int, int]]:
        """The rows whose term the tool in a slot holds, each with its fields, one bit a `Field`."""
        at: list[int] = (self._slots == slot).nonzero()[0].tolist()
        return [(bisect(self._stops, n), int(self._fields[n])) for n in at]

    def held(self, slots: Ints) -> Bits:
        """In which fields some slots hold each row's term, one bit a `Field`; a row a row, a column a slot."""
        found = np.zeros((len(self._needs), len(slots)), np.uint8)
        place = np.full(self._size, -1, np.intp)
        place[slots] = np.arange(len(slots))
        at = place.take(self._slots)
        held = (at >= 0).nonzero()[0]
        row = np.arange(len(self._sizes)).repeat(self._sizes)
        found[row.take(held), at.take(held)] = self._fields.take(held)
        return found
