"""Postings: which tools hold a term, how strongly, in which fields; arrays for the bulk, lists for what came since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
MERGE = 20_000
"""So many recent postings, or a quarter of the bulk, are merged into the bulk."""


class Posting(NamedTuple):
    """The tools that hold one term: parallel arrays.

    Parameters:
        slots: the tools, by slot.
        impacts: what the term is worth in each, from 0 to 1, before its rarity.
        fields: in which fields it occurs, one bit a `Field`.
    """

    slots: Ints
    impacts: Floats
    fields: Bytes


Place: TypeAlias = tuple[Posting, int, int]
"""Where the tools stand that hold one term: among which others, from the first to before the last number."""


class Row(NamedTuple):
    """What a term of a request is matched by, among the shown tools.

    Parameters:
        rarity: what it counts: its weight times its inverse document frequency.
        held: among others, the shown tools that hold it.
        start, stop: where they stand there.
    """

    rarity: float
    held: Posting
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Weighed:
    """The terms of some tools: parallel arrays, by slot and then by term.

    Parameters:
        numbers: the terms.
        held: what each of them holds.
    """

    numbers: Ints
    held: Posting


class Postings:
    """Term to tools, updated in place. A removed tool's postings stay until the next merge; the caller masks them."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self._starts = np.zeros(1, np.int64)
        self._bulk = Posting(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.uint8))
        self._recent: dict[int, tuple[list[int], list[float], list[int]]] = {}
        self._recent_size = 0

    def add(self, new: Weighed) -> None:
        """Add a few tools, in slots above those of all others."""
        recent, held = self._recent, new.held
        rows = zip(new.numbers.tolist(), held.slots.tolist(), held.impacts.tolist(), held.fields.tolist(), strict=True)
        for number, slot, impact, fields in rows:
            row = recent.get(number)
            if row is None:
                row = recent[number] = ([], [], [])
            row[0].append(slot)
            row[1].append(impact)
            row[2].append(fields)
        self._recent_size += len(new.numbers)

    def add_many(self, new: Sequence[Weighed]) -> None:
        """Add many tools at once, in slots above those of all others."""
        self._bulk_up(new)

    @property
    def due(self) -> bool:
        """Whether a merge is due."""
        return self._recent_size > max(MERGE, len(self._bulk.slots) // 4)

    def merge(self, moved: Ints) -> None:
        """Make the bulk anew, without removed tools.

        Parameters:
            moved: each slot's new number, in the same order, or -1 where its tool is gone.
        """
        self._bulk_up((), moved)

    def _bulk_up(self, new: Sequence[Weighed], moved: Ints | None = None) -> None:
        counts = np.diff(self._starts)
        recent = self._recent.items()
        parts = [
            (np.repeat(np.arange(len(counts), dtype=np.int32), counts), *_arrays(self._bulk)),
            *((np.full(len(row[0]), number, np.int32), *_arrays_of(row)) for number, row in recent),
            *((part.numbers, *_arrays(part.held)) for part in new),
        ]
        numbers, slots, impacts, fields = (np.concatenate(part) for part in zip(*parts, strict=True))
        del parts
        if moved is not None:
            slots = moved[slots]
            kept = slots >= 0
            numbers, slots, impacts, fields = numbers[kept], slots[kept], impacts[kept], fields[kept]
        order = numbers.argsort(kind="stable")  # the slots of each term are in order as they are
        numbers = numbers[order]
        first = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])) if len(numbers) else numbers
        names = list(self.terms)
        self.terms = {names[number]: n for n, number in enumerate(numbers[first].tolist())}
        self._starts = np.append(first, len(order)).astype(np.int64)
        self._bulk = Posting(slots[order].astype(np.int32), impacts[order], fields[order])
        self._recent, self._recent_size = {}, 0

    def arrays(self) -> tuple[list[str], dict[str, npt.NDArray[Any]]]:
        """The terms and the bulk, to be kept; merge first."""
        bulk = self._bulk
        found = {"starts": self._starts, "slots": bulk.slots, "impacts": bulk.impacts, "fields": bulk.fields}
        return list(self.terms), found

    @classmethod
    def of(cls, terms: Sequence[str], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Postings from what `arrays` gave."""
        found = cls()
        found.terms = dict(zip(terms, range(len(terms)), strict=True))
        found._starts = arrays["starts"]
        found._bulk = Posting(arrays["slots"], arrays["impacts"], arrays["fields"])
        return found

    def place(self, term: str) -> Place | None:
        """Where the tools stand that hold a term, or None; may name removed ones."""
        number = self.terms.get(term)
        if number is None:
            return None
        known = number + 1 < len(self._starts)
        start, stop = (self._starts.item(number), self._starts.item(number + 1)) if known else (0, 0)
        row = self._recent.get(number)
        if row is None:
            return self._bulk, start, stop
        both = zip(_arrays(self._bulk), _arrays_of(row), strict=True)
        return Posting._make(np.append(held[start:stop], more) for held, more in both), 0, stop - start + len(row[0])


def _arrays(held: Posting) -> tuple[Ints, Floats, Bytes]:
    return held.slots, held.impacts, held.fields


def _arrays_of(row: tuple[list[int], list[float], list[int]]) -> tuple[Ints, Floats, Bytes]:
    return np.array(row[0], np.int32), np.array(row[1], np.float32), np.array(row[2], np.uint8)
