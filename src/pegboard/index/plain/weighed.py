"""What the ranking weighs, and the order that it gives."""

from collections.abc import Sequence

import numpy as np

from pegboard.index.plain.arrays import Bytes, Floats, Ints, Slots, Wholes

WORDS = 4
"""So many rows of what is weighed are of words."""
_ONE = np.float32(1)


def weighed(
    slots: Ints,
    count: int,
    scores: Floats,
    size: int,
    needs: int,
    names: Bytes,
    sizes: Floats,
    groups: Slots,
    meanings: Sequence[Floats],
    table: Floats,
) -> tuple[float, list[tuple[float, float]]]:
    """The signals of `count` candidates that the ranking weighs.

    Parameters:
        slots: which tools.
        scores: those of all `size` slots by words, and below them those by each of `needs` needs.
        names: how many terms' worth of each tool's name the request holds.
        sizes: how many terms the name of each tool has.
        groups: the numbers of the tools' namespaces.
        meanings: of each layer the candidates' cosines, with the request and with each of its needs.
        table: filled in, a column a candidate: four rows of words (`candidates.WEIGHED`); of each layer how far its
            cosine with the request is above the least, and the best cosine with a need as a share of the greatest;
            of the last of several layers the best cosine of another tool of the namespace, as a share of the
            greatest. Then the scores by words, and of each layer the best cosine with a need, and that of another tool
            of the namespace.

    Returns:
        The greatest score by words; of each layer the least and the greatest cosine with the request.
    """
    wide = WORDS + 2 * len(meanings) + (len(meanings) > 1)
    near = scores[: needs + 1].take(slots, axis=1)
    words, group = near[0], groups.take(slots)
    table[wide] = words
    best = float(np.maximum.reduce(words))
    np.multiply(words, _part(best), out=table[0])
    table[1] = _of_best(near[1:]) if needs else table[0]
    np.minimum(names.take(slots) / sizes.take(slots), _ONE, out=table[2])
    table[3] = beside(table[0], group)
    ends: list[tuple[float, float]] = []
    for n, cosines in enumerate(meanings):
        asked, need = cosines[0], table[wide + 1 + 2 * n]
        np.maximum.reduce(cosines, axis=0, out=need)
        least, most = np.minimum.reduce(asked), np.maximum.reduce(asked)
        np.subtract(asked, least, out=table[WORDS + 2 * n])
        np.multiply(need, _part(float(np.maximum.reduce(need)), 1e-3), out=table[WORDS + 1 + 2 * n])
        table[wide + 2 + 2 * n] = beside(asked, group)
        ends.append((float(least), float(most)))
    if len(meanings) > 1:
        table[wide - 1] = beside(meanings[-1][0] * _part(ends[-1][1], 1e-3), group)
    return best, ends


def _part(greatest: float, least: float = 1e-6) -> np.float32:
    """What makes values shares of the greatest."""
    return np.float32(1 / max(greatest, least))


def _of_best(by_need: Floats) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    best = np.maximum(np.maximum.reduce(by_need, axis=1), np.float32(1e-6))
    return np.maximum.reduce(by_need / best[:, None], axis=0)


def beside(values: Floats, groups: Slots) -> Floats:
    """Of each candidate, the best value above zero of another candidate of its group."""
    order = np.lexsort((values, groups))
    ranked, group = np.maximum(values.take(order), 0), groups.take(order)
    last = np.append(group[1:] != group[:-1], True).nonzero()[0]
    first = np.append(0, last[:-1] + 1)
    best = ranked.take(last)
    second = np.where(last > first, ranked.take(np.maximum(last - 1, 0)), np.float32(0))
    number = np.empty(len(values), np.intp)
    number[order] = np.arange(len(last)).repeat(last - first + 1)
    return np.where(values >= best.take(number), second.take(number), best.take(number))


def fused(
    table: Floats,
    count: int,
    weights: Sequence[float],
    slots: Ints,
    doing: Wholes,
    against: int,
    cost: float,
    values: Floats,
) -> None:
    """The leading rows of a table added up, each times its weight, to four places.

    Parameters:
        count: how many columns there are, each a candidate.
        slots: which tools they are.
        doing: what each tool does (`doing.Doing`).
        against, cost: what a tool loses that does this; none does where it is 0.
        values: filled in.
    """
    rows = table[: len(weights)] * np.array(weights, np.float32)[:, None]
    np.add.reduce(rows, axis=0, out=values)
    np.round(values, 4, out=values)
    if against:
        values -= np.float32(cost) * (doing.take(slots) == against)


def ordered(
    values: Floats, slots: Ints, rows: Sequence[tuple[Floats, float]], limit: int, first: int
) -> tuple[list[int], list[int], list[float], bool, list[int], list[float]]:
    """Places by falling value, equal ones as they are.

    Parameters:
        values, slots: one a place.
        rows: numbers, one a place, and what they should reach: where a place does in any row, only such are shown.
        limit: so many are shown at least, where there are so many, and all whose value is that of the last of them.
        first: so many of all are told besides.

    Returns:
        Those that are shown: their places, slots and values, and whether two of them have the same value; and of all
        the places and values of the first.
    """
    order = (-values).argsort(kind="stable")
    best, shown = order[:first], order
    if rows:
        low = np.logical_and.reduce([row < np.float32(least) for row, least in rows], axis=0)[order]
        shown = order if low.all() else order[~low]
    found: list[float] = values.take(shown).tolist()
    stop = next((n for n in range(limit, len(found)) if found[n] != found[n - 1]), len(found)) if limit else 0
    alike = len(set(found[:stop])) < stop
    places = shown[:stop]
    return places.tolist(), slots.take(places).tolist(), found[:stop], alike, best.tolist(), values.take(best).tolist()
