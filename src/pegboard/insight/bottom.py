"""A bounded table of counts that merging keeps exact: of too many keys those with the smallest hashes stay."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

from pegboard.insight.support import stable_hash


class Mergeable(Protocol):
    """A count that takes in another of its kind."""

    def merge(self, other: Self, /) -> None:
        """Take in the other."""
        ...


Count = TypeVar("Count", bound=Mergeable)


@dataclass(slots=True)
class BottomK(Generic[Count]):
    """Counts by text, at most `size` of them.

    A key that is among the smallest hashes of the whole was among the smallest of every part, so that its count is
    exact in whatever order parts were merged (bottom-k sampling: Cohen and Kaplan, 2007).

    Parameters:
        size: how many keys are kept.
        rows: by key, its hash and its count.
    """

    size: int
    rows: dict[str, tuple[int, Count]] = field(default_factory=dict[str, tuple[int, Count]])

    def at(self, key: str, make: Callable[[], Count]) -> Count | None:
        """The count of a key, made anew where there is none; None where the key has no place."""
        found = self.rows.get(key)
        if found is not None:
            return found[1]
        count = make()
        self._place(key, stable_hash(key), count)
        return count if key in self.rows else None

    def merge(self, other: Self) -> None:
        """Take in another part's counts."""
        for key, (order, count) in other.rows.items():
            found = self.rows.get(key)
            if found is not None:
                found[1].merge(count)
            else:
                own = type(count)()
                own.merge(count)
                self._place(key, order, own)

    def items(self) -> Iterator[tuple[str, Count]]:
        """The keys and their counts, by key."""
        for key in sorted(self.rows):
            yield key, self.rows[key][1]

    def _place(self, key: str, order: int, count: Count) -> None:
        self.rows[key] = (order, count)
        if len(self.rows) > self.size:
            del self.rows[max(self.rows, key=lambda name: (self.rows[name][0], name))]
