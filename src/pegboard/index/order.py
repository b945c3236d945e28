"""The order of the candidates: by score, those of one score by name, what a request names before all others."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pegboard.index import kernel
from pegboard.index.confidence import COMPARED
from pegboard.index.matches import Ints
from pegboard.index.postings import Floats


class Order(NamedTuple):
    """Candidates in order; see `kernel.ordered`.

    Parameters:
        places, slots, values: of those that are shown, best first.
        alike: whether two of them have the same value.
        best, best_values: the places and values of the first of all.
    """

    places: list[int]
    slots: list[int]
    values: list[float]
    alike: bool
    best: list[int]
    best_values: list[float]

    @classmethod
    def of(cls, values: Floats, slots: Ints, least: list[tuple[Floats, float]], limit: int) -> "Order":
        """By falling value.

        Parameters:
            values, slots: one a place.
            least: numbers, one a place, and what they should reach in any row for the place to be shown.
            limit: so many are wanted, and all whose value is that of the last.
        """
        return cls(*kernel.ordered(values, slots, least, limit, COMPARED))

    def by_name(self, name_of: Callable[[int], str]) -> "Order":
        """The same, those of one value by the names of the tools in their slots."""
        ranks = [(-value, name_of(slot)) for value, slot in zip(self.values, self.slots, strict=True)]
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        return self._replace(
            places=[self.places[n] for n in order],
            slots=[self.slots[n] for n in order],
            values=[self.values[n] for n in order],
        )

    def after_named(
        self,
        named: Sequence[Sequence[int]],
        values: Floats,
        slots: Ints,
        least: list[tuple[Floats, float]],
        name_of: Callable[[int], str],
    ) -> "Order":
        """Of each name its best tool first, then its second best ..., then the others.

        Parameters:
            named: the slots of the tools that the request names, one list a name.
        """
        at = {slot: place for place, slot in enumerate(slots.tolist())}
        shown = frozenset(kernel.ordered(values, slots, least, len(slots), 0)[0])
        ranks = {
            slot: (at[slot] not in shown, -values.item(at[slot]), name_of(slot)) for group in named for slot in group
        }
        groups = [sorted(group, key=ranks.__getitem__) for group in named]
        first = [at[group[n]] for n in range(max(map(len, groups))) for group in groups if n < len(group)]
        places = list(dict.fromkeys([*first, *self.places]))
        return self._replace(places=places, slots=slots.take(places).tolist(), values=values.take(places).tolist())
