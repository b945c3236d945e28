"""Postings: which tools hold a term, how strongly, in which fields; arrays for the bulk, lists for what came since."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
MERGE = 20_000
"""So many recent postings, or a quarter of the bulk, are merged into the bulk."""


@dataclass(frozen=True, slots=True)
class Posting:
    """The tools that hold one term: parallel arrays.

    Parameters:
        slots: the tools, by slot.
        impacts: what the term is worth in each, from 0 to 1, before its rarity.
        fields: in which fields it occurs, one bit a `Field`.
    """

    slots: Ints
    impacts: Floats
    fields: Bytes


class Postings:
    """Term to tools, updated in place. A removed tool's postings stay until the next merge; the caller masks them."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self._starts = np.zeros(1, np.int64)
        self._bulk = Posting(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.uint8))
        self._recent: dict[int, tuple[list[int], list[float], list[int]]] = {}
        self._recent_size = 0

    def add(self, slot: int, entry: Mapping[str, tuple[float, int]]) -> None:
        """Add one tool: the impact and the field bits of each of its terms."""
        terms, recent = self.terms, self._recent
        for term, (impact, fields) in entry.items():
            number = terms.setdefault(term, len(terms))
            row = recent.get(number)
            if row is None:
                row = recent[number] = ([], [], [])
            row[0].append(slot)
            row[1].append(impact)
            row[2].append(fields)
        self._recent_size += len(entry)

    @property
    def due(self) -> bool:
        """Whether a merge is due."""
        return self._recent_size > max(MERGE, len(self._bulk.slots) // 4)

    def merge(self, moved: Ints) -> None:
        """Make the bulk anew, without removed tools.

        Parameters:
            moved: each slot's new number, in the same order, or -1 where its tool is gone.
        """
        counts = np.diff(self._starts)
        numbers = [np.repeat(np.arange(len(counts), dtype=np.int32), counts)]
        numbers += [np.full(len(row[0]), number, np.int32) for number, row in self._recent.items()]
        rows = self._recent.values()
        slots = np.concatenate([self._bulk.slots, *(np.array(row[0], np.int32) for row in rows)])
        impacts = np.concatenate([self._bulk.impacts, *(np.array(row[1], np.float32) for row in rows)])
        fields = np.concatenate([self._bulk.fields, *(np.array(row[2], np.uint8) for row in rows)])
        self._rebuild(np.concatenate(numbers), moved[slots], impacts, fields)

    def _rebuild(self, numbers: Ints, slots: Ints, impacts: Floats, fields: Bytes) -> None:
        kept = slots >= 0
        numbers, slots, impacts, fields = numbers[kept], slots[kept], impacts[kept], fields[kept]
        order = np.lexsort((slots, numbers))
        used = np.unique(numbers)
        names = list(self.terms)
        self.terms = {names[number]: n for n, number in enumerate(used)}
        self._starts = np.append(np.searchsorted(numbers[order], used), len(order)).astype(np.int64)
        self._bulk = Posting(slots[order], impacts[order], fields[order])
        self._recent, self._recent_size = {}, 0

    def get(self, term: str) -> Posting | None:
        """The tools that hold a term, or None; may still name removed ones."""
        number = self.terms.get(term)
        if number is None:
            return None
        row = self._recent.get(number)
        start, stop = (self._starts[number], self._starts[number + 1]) if number + 1 < len(self._starts) else (0, 0)
        bulk = self._bulk
        if row is None:
            return Posting(bulk.slots[start:stop], bulk.impacts[start:stop], bulk.fields[start:stop])
        return Posting(
            np.append(bulk.slots[start:stop], np.array(row[0], np.int32)),
            np.append(bulk.impacts[start:stop], np.array(row[1], np.float32)),
            np.append(bulk.fields[start:stop], np.array(row[2], np.uint8)),
        )
