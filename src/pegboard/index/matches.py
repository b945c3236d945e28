"""All that a request's terms hold: the words' scores of every tool, and the fields they stand in."""

import numpy as np
import numpy.typing as npt

from pegboard.index import kernel
from pegboard.index.postings import Floats, Row

Ints = npt.NDArray[np.intp]
Bits = npt.NDArray[np.uint8]


class Matches:
    """What the terms of one request hold.

    Parameters:
        rows: what the terms are matched by.
        needs: for each row, the need that it belongs to; may be empty where there are none.
        size: how many slots there are.
    """

    def __init__(self, rows: list[Row], needs: list[int], size: int) -> None:
        self.rows = rows
        self._needs = needs
        self._size = size

    @property
    def rarity(self) -> list[float]:
        """Of each row."""
        return [row.rarity for row in self.rows]

    def scores(self, needs: int, found: Floats) -> tuple[int, Bits]:
        """Fill in the BM25F score of every slot, and below it those by each need, where there are several.

        Returns:
            How many tools have any, and how many rows' terms each tool's name holds.
        """
        names = np.empty(self._size, np.uint8)
        return kernel.matched(self.rows, self._needs, needs, self._size, found, names), names

    def of(self, slot: int) -> list[tuple[int, int]]:
        """The rows whose term the tool in a slot holds, each with its fields, one bit a `Field`."""
        return kernel.held(self.rows, slot)

    def held(self, slots: Ints) -> Bits:
        """In which fields some slots hold each row's term, one bit a `Field`; a row a row, a column a slot."""
        found = np.zeros((len(self.rows), len(slots)), np.uint8)
        place = np.full(self._size, -1, np.intp)
        place[slots] = np.arange(len(slots))
        for row, into in zip(self.rows, found, strict=True):
            some = slice(row.start, row.stop)
            at = place.take(row.held.slots[some])
            held = at >= 0
            into[at[held]] = row.held.fields[some][held]
        return found
