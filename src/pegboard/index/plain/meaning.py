"""How near tools are to a request in meaning."""

from collections.abc import Sequence
from functools import reduce
from itertools import chain
from operator import add

import numpy as np

from pegboard.index.plain.arrays import Columns, Floats, Ints, Wholes

ABREAST = 16
"""So many tools lie side by side where they are compared."""
LANES = 8
"""Sums of many numbers are those of every eighth, then of the eight."""
SMALL = 250_000
"""So many numbers at once the linear algebra library multiplies on this thread: waking others stalls."""
ONE_BY_ONE = 3
"""So many questions are faster multiplied one by one."""
_ONE, _TINY = np.float32(1), np.float32(1e-30)


def summed(table: Wholes, scales: Floats, parts: Sequence[Sequence[Sequence[int]]], vectors: Floats) -> None:
    """Of each part its words' rows of a table (a tuple a word) added up, each times its scale."""
    for words, vector in zip(parts, vectors, strict=True):
        taken = np.array(list(chain.from_iterable(words)), np.intp)
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
