"""What is worked out for every tool at each request, in numpy: what `native/` does, to the last bit, where that is not
compiled. Every function fills in the arrays that it is given last.
"""

from collections.abc import Sequence
from functools import reduce
from math import exp, log, sqrt
from operator import add

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field

Ints = npt.NDArray[np.intp]
Slots = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Wholes = npt.NDArray[np.int8]
Columns = npt.NDArray[np.int16]
Bytes = npt.NDArray[np.uint8]
Holding = tuple[float, Slots, Floats, Bytes]
"""What a term of a request is matched by: its rarity, and the tools that hold it (as in a `Posting`)."""
ABREAST = 16
"""So many tools lie side by side where they are compared."""
LANES = 8
"""Sums of many numbers are those of every eighth, then of the eight."""
SMALL = 250_000
"""So many numbers at once the linear algebra library multiplies on this thread: waking others stalls."""
ONE_BY_ONE = 3
"""So many questions are faster multiplied one by one."""
BLOCKS = 512
"""The greatest scores of so many blocks tell how great the best scores are at least."""
FEW = 1_500
"""So many scores are sorted as they are: sorting takes no branches, so it is faster than to partition them."""
WORDS = 4
"""So many rows of what is weighed are of words."""
SIGNALS = 13
"""So many signals are of words (`candidates.OF_WORDS`)."""
CERTAIN = 0.99
"""No search is surer than this."""
_LEAST, _MOST = log(0.001 / 0.999), log(CERTAIN / (1 - CERTAIN))
_IN_FIELD = (Field.NAME, Field.PARAMETERS, Field.DESCRIPTION, Field.NAMESPACE)
_NAME = np.uint8(1 << Field.NAME)
_ONE, _TINY = np.float32(1), np.float32(1e-30)


# -- words -----------------------------------------------------------------------------------------------------


def matched(rows: Sequence[Holding], needs: Sequence[int], count: int, size: int, scores: Floats, names: Bytes) -> int:
    """The BM25F score of every slot, and below it those by each need, where there are several.

    Parameters:
        rows: what the terms are matched by.
        needs: for each row, the need that it belongs to.
        count: how many needs there are; less than two for none.
        size: how many slots there are.
        scores: filled in.
        names: filled in: how many rows' terms each tool's name holds.

    Returns:
        How many tools have any score.
    """
    sizes = [len(row[1]) for row in rows]
    slots = np.concatenate([row[1] for row in rows] or [np.zeros(0, np.int32)])
    fields = np.concatenate([row[3] for row in rows] or [np.zeros(0, np.uint8)])
    worth = np.concatenate([row[2] for row in rows] or [np.zeros(0, np.float32)])
    worth = worth * np.array([row[0] for row in rows], np.float32).repeat(sizes)
    names[:] = np.bincount(slots, fields & _NAME, size)
    if count < 2:
        scores[0] = np.bincount(slots, worth, size)
    else:
        first = (np.array(needs, np.intp) * size).repeat(sizes)
        scores[1 : count + 1].reshape(-1)[:] = np.bincount(first + slots, worth, count * size)
        np.add.reduce(scores[1 : count + 1], axis=0, out=scores[0])
    return int(np.count_nonzero(scores[0]))


def held(rows: Sequence[Holding], slot: int) -> list[tuple[int, int]]:
    """The rows whose term the tool in a slot holds, each with its fields, one bit a `Field`."""
    found: list[tuple[int, int]] = []
    for n, (_, slots, _, fields) in enumerate(rows):
        at = int(slots.searchsorted(slot))
        if at < len(slots) and slots[at] == slot:
            found.append((n, int(fields[at])))
    return found


def close(words: list[str], letters: npt.NDArray[np.uint64], word: str, asked: int) -> list[int]:
    """The known words one typing error away: a letter more, less or other, or two neighbours swapped.

    Parameters:
        words: the known ones.
        letters: of each of them, a bit a letter.
        word, asked: the word at hand and its letters.

    Returns:
        Their places, rising.
    """
    apart = np.bitwise_count(letters ^ np.uint64(asked))
    near: list[int] = np.flatnonzero(apart <= 2).tolist()
    return [place for place in near if _one_error(word, words[place])]


def _one_error(word: str, other: str) -> bool:
    """Whether one word becomes another by one typing error at most."""
    pairs = zip(word, other, strict=False)
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(word), len(other)))
    rest, meant = word[at:], other[at:]
    if len(rest) != len(meant):
        return rest[1:] == meant or rest == meant[1:]
    return rest[1:] == meant[1:] or (rest[:2] == meant[1::-1] and rest[2:] == meant[2:])


# -- meaning ---------------------------------------------------------------------------------------------------


def summed(table: Wholes, scales: Floats, parts: Sequence[Sequence[int]], vectors: Floats) -> None:
    """Of each part its rows of a table added up, each times its scale."""
    for numbers, vector in zip(parts, vectors, strict=True):
        taken = np.array(numbers, np.intp)
        rows = table.take(taken, axis=0).astype(np.float32)
        rows *= scales.take(taken)[:, None]
        np.add.reduce(rows, axis=0, out=vector)


def whole(vectors: Floats, count: int, levels: int, scales: Floats) -> bool:
    """Each of `count` rows so that its largest number is `levels`, and rounded; a row of zeros stays one.

    Parameters:
        vectors: changed in place.
        scales: filled in: what makes the length of each row 1.

    Returns:
        Whether the first row is more than zeros.
    """
    vectors[:] = rounded(vectors, levels)
    scales[:] = inverse_lengths(vectors)
    return bool(vectors[:1].any())


def rounded(vectors: Floats, levels: int) -> Floats:
    """Each row scaled so that its largest number is `levels`, and rounded; a row of zeros stays one."""
    largest = np.maximum.reduce(np.abs(vectors), axis=-1, keepdims=True)
    return np.rint(vectors * (levels / np.maximum(largest, _TINY)))


def inverse_lengths(vectors: Floats) -> Floats:
    """What makes the length of each row of whole numbers 1; of a row of zeros 1."""
    return np.reciprocal(np.sqrt(np.maximum(np.add.reduce(vectors * vectors, axis=1), _ONE)))


def compared(asked: Floats, count: int, leading: int, tools: Columns, scales: Floats, size: int, found: Floats) -> None:
    """The cosines of each of `count` questions with all tools, by the leading numbers of each.

    Parameters:
        asked: whole numbers, a row a question.
        leading: so many of them count.
        tools: those of the tools, see `abreast`.
        scales: what makes the length of each tool's numbers 1.
        size: how many slots there are.
        found: filled in, a row a question.
    """
    within = asked[:, :leading]
    step = max(1, SMALL // (ABREAST * leading))
    for start in range(0, -(-size // ABREAST), step):
        part = slice(start * ABREAST, min((start + step) * ABREAST, size))
        some = tools[start : start + step].transpose(1, 3, 0, 2).reshape(2 * tools.shape[1], -1)
        _products(within, some[:leading, : part.stop - part.start], found[:, part])
    found *= scales[:size]
    found *= inverse_lengths(within)[:, None]


def abreast(size: int, leading: int) -> Columns:
    """Room for what of tools is compared first: of every sixteen the first two numbers of each, then the next two ...

    Parameters:
        size: how many slots are needed at least.
        leading: how many numbers of each.
    """
    return np.zeros((-(-size // ABREAST), -(-leading // 2), ABREAST, 2), np.int16)


def laid(rows: Floats, into: Columns, first: int) -> None:
    """Lay the numbers of some tools, a row each, in the slots from `first` on."""
    slots = np.arange(first, first + len(rows))
    even = np.zeros((len(rows), 2 * into.shape[1]), np.int16)
    even[:, : rows.shape[1]] = rows
    into.transpose(0, 2, 1, 3)[slots // ABREAST, slots % ABREAST] = even.reshape(len(rows), into.shape[1], 2)


def exact(
    rows: Wholes, scales: Floats, slots: Ints, asked: Floats, count: int, asked_scales: Floats, found: Floats
) -> None:
    """The cosines of each of `count` questions with some tools, by all numbers.

    Parameters:
        rows: the tools' whole numbers, a row a slot.
        scales: what makes the length of each row 1.
        slots: which tools.
        asked, asked_scales: the questions, in the same way.
        found: filled in, a row a question.
    """
    _products(asked, rows.take(slots, axis=0).T, found)
    found *= scales.take(slots)
    found *= asked_scales[:, None]


def _products(asked: Floats, columns: Columns | Wholes, found: Floats) -> None:
    """Each question times each column; part by part, so that a part is read from memory once."""
    step = max(1, SMALL // asked.size)
    for start in range(0, columns.shape[1], step):
        part = slice(start, start + step)
        some = columns[:, part].astype(np.float32)
        if len(asked) > ONE_BY_ONE:
            np.matmul(asked, some, out=found[:, part])
        else:
            for row, into in zip(asked, found, strict=True):
                np.dot(row, some, out=into[part])


def spread(row: Floats) -> tuple[float, float, float]:
    """The sum of some numbers, that of their squares, and the greatest of them and zero."""
    numbers = row.astype(np.float64)
    lanes = numbers[: len(row) - len(row) % LANES].reshape(-1, LANES)
    rest = numbers[len(row) - len(row) % LANES :].tolist()
    sums = np.add.reduce(lanes, axis=0).tolist()
    squares = np.add.reduce(lanes * lanes, axis=0).tolist()
    sums[0] = reduce(add, rest, sums[0])
    squares[0] = reduce(add, [number * number for number in rest], squares[0])
    return reduce(add, sums), reduce(add, squares), float(np.maximum.reduce(row, initial=0))


# -- candidates ------------------------------------------------------------------------------------------------


def nearest(
    scores: Floats, size: int, counts: tuple[int, ...], least: Floats, named: Sequence[int], found: Ints
) -> int:
    """The slots that are among the best of any row: its greatest scores, and all that tie with the last of them.

    Parameters:
        scores: a row a way to score, a column a slot.
        size: how many slots there are.
        counts: how many of each row are wanted.
        least: of each row, what a score must reach.
        named: slots that are wanted whatever they score.
        found: filled in, rising.

    Returns:
        How many they are.
    """
    if size > FEW:
        floors = np.array([_floor(*row) for row in zip(scores, counts, least, strict=True)])
    elif size > min(counts):
        ranked = scores.copy()
        ranked.sort(axis=1)
        floors = np.maximum(ranked[np.arange(len(counts)), [max(size - count, 0) for count in counts]], least)
    else:
        floors = least
    marks = np.logical_or.reduce(scores >= floors[:, None], axis=0)
    marks[list(named)] = True
    slots = marks.nonzero()[0]
    found[: len(slots)] = slots
    return len(slots)


def _floor(scores: Floats, count: int, least: np.float32) -> np.float32:
    """The last of the `count` greatest of very many scores that reach `least`, or `least`."""
    ranked = scores[scores >= max(reached(scores, count), least)]
    if len(ranked) < count:
        return least
    ranked.sort()
    return ranked[len(ranked) - count]


def reached(scores: Floats, count: int) -> np.float32:
    """A score above zero that at least `count` of very many reach, found without sorting them; of few, any above zero.

    Parameters:
        scores: one a slot.
        count: no more than `BLOCKS`.
    """
    even = len(scores) - len(scores) % BLOCKS
    tops = np.maximum.reduce(scores[:even].reshape(-1, BLOCKS), axis=0, initial=_TINY)
    tops.sort()
    return tops[BLOCKS - count]


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


# -- how sure --------------------------------------------------------------------------------------------------


def told(
    rows: Sequence[Holding],
    slot: int,
    table: Floats,
    count: int,
    wide: int,
    place: int,
    meanings: Sequence[tuple[Floats, float, float]],
    request: tuple[float, float, float],
) -> list[float]:
    """All signals of one candidate, in the order of `candidates.OF_WORDS` and then of `OF_MEANING` for each layer.

    Parameters:
        rows: what the request's terms are matched by.
        slot, place: of the candidate.
        table: as `weighed` fills it in, of `count` candidates; so many rows are weighed as `wide` tells.
        meanings: of each layer the candidates' cosines with the request, the greatest of them, and the share of the
            request's words that the model may know.
        request: the rarity of all its terms, and the signals of how many terms and needs it has.
    """
    asked, terms, needs = request
    column: list[float] = table[:, place].tolist()
    relative, need, covered, others = column[:WORDS]
    words, *of_meaning = column[wide:]
    fields = [0.0] * len(Field)
    for row, bits in held(rows, slot):
        for field in _IN_FIELD:
            fields[field] += rows[row][0] if bits >> field & 1 else 0.0
    shares = [fields[field] / asked for field in _IN_FIELD]
    known = reduce(add, [row[0] for row in rows], 0.0) / asked
    found = [words * 0.1, relative, words / asked, need, covered, *shares, others, known, terms, needs]
    for n, (cosines, most, share) in enumerate(meanings):
        whole, part = cosines.item(place), 1 / max(most, 1e-3)
        of_need, beside = of_meaning[2 * n : 2 * n + 2]
        total, squares, _ = spread(cosines)
        mean = total / count
        above = (whole - mean) / max(sqrt(max(squares / count - mean * mean, 0.0)), 1e-3)
        found += [whole, whole * part, above, of_need, column[WORDS + 1 + 2 * n], beside * part]
        found += [relative * whole * part, share]
    return found


def evidence(
    signals: Sequence[float],
    of_words: Sequence[int],
    of_meaning: Sequence[int],
    compared: Sequence[tuple[Floats, float]],
    places: Sequence[int],
    values: Sequence[float],
    count: int,
) -> list[float]:
    """What tells whether anything fits: the best candidate, and how it stands out among the next ones.

    Parameters:
        signals: of the best candidate.
        of_words, of_meaning: which of them tell, of those of words and of those of each layer, by their places.
        compared: of every candidate the request's words and each layer's meaning, each with what makes shares of them.
        places, values: of the best candidates, best first.
        count: how many candidates there are.
    """
    (share, *leading), *meanings = [standing(row, part, places) for row, part in compared]
    best, second = values[0], values[1 if len(values) > 1 else 0]
    mean = reduce(add, values, 0.0) / len(values)
    found = [*[signals[n] for n in of_words], share, log(count), best, min(best - second, 2.0), min(best - mean, 3.0)]
    found += leading
    each = (len(signals) - SIGNALS) // max(len(meanings), 1)
    for n, stand in enumerate(meanings):
        found += [*[signals[SIGNALS + n * each + m] for m in of_meaning], *stand]
    return found


def standing(row: Floats, part: float, order: Sequence[int]) -> tuple[float, float, float, float, float]:
    """How the best candidates stand among all.

    Parameters:
        row: a number a candidate.
        part: what makes shares of them.
        order: the best candidates' places, best first.

    Returns:
        The mean of theirs; the greatest of all, how far it is above the next and above the fifth, and whether the best
        candidate has it.
    """
    row = row * np.float32(part)
    best: list[float] = np.sort(row)[::-1][:5].tolist()
    mean = reduce(add, row.take(order).tolist()) / len(order)
    second = best[min(1, len(best) - 1)]
    return mean, best[0], best[0] - second, best[0] - best[-1], float(row.argmax() == order[0])


def chances(
    any_right: float, best: float, values: Sequence[float], weights: tuple[float, float, float, float]
) -> list[float]:
    """How likely each candidate is right, to four places: see `evidence_of_each`.

    Parameters:
        any_right, best, values: as there.
        weights: of what tells; the last is the bias.
    """
    odds, near, place, bias = weights
    return [
        rounded_chance(chance(a * odds + b * near + c * place + bias))
        for a, b, c in evidence_of_each(any_right, best, values)
    ]


def evidence_of_each(any_right: float, best: float, values: Sequence[float]) -> list[tuple[float, float, float]]:
    """What tells whether one candidate is right, a row each: whether any is, how near the best it is, its place.

    Parameters:
        any_right: how likely any is.
        best: the greatest score of all candidates.
        values: the scores of those that are shown, best first.
    """
    odds = log(any_right / (1 - any_right))
    return [(odds, max(value - best, -6.0), 1 / (1 + n)) for n, value in enumerate(values)]


def chance(odds: float) -> float:
    """By the logarithm of its odds; none is less than .001 or more than .99."""
    return 0.001 if odds < _LEAST else CERTAIN if odds > _MOST else 1 / (1 + exp(-odds))


def rounded_chance(chance: float) -> float:
    """To four places; `round` would go by way of text."""
    return int(chance * 10_000 + 0.5) / 10_000


def odds(evidence: Sequence[float], means: Floats, scales: Floats, weights: Floats, far: float) -> float:
    """The logarithm of odds, from evidence made standard.

    Parameters:
        means, scales: of the evidence.
        weights: of the evidence; the last is the bias.
        far: evidence further than this from the mean counts as this.
    """
    given = (np.array(evidence, np.float32) - means) * scales
    given = np.maximum(np.minimum(given, np.float32(far)), np.float32(-far)).astype(np.float64)
    return reduce(add, (given * weights[:-1]).tolist(), 0.0) + float(weights[-1])
