"""Meaning as vectors: what an embedder is, and the exact, deterministic comparison of its vectors.

Vectors are kept as whole numbers from -127 to 127. Their products and sums stay below 2^24, so 32-bit floats add them
exactly, in any order and on any machine: the same bytes on every run.
"""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pegboard.index import kernel
from pegboard.index.plain.meaning import ABREAST, abreast, inverse_lengths, laid, rounded
from pegboard.index.plain.nearest import reached

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.intp]
Columns = npt.NDArray[np.int16]
LEVELS = 127
LEADING = {20_000: 48, sys.maxsize: 32}
"""Up to so many tools are compared by so many leading dimensions first, where an embedder orders them by weight and
says so with `ordered`; the nearest are then compared in all. On the trial sets this finds as much as all 256 do."""
TOGETHER = 1000
"""The lengths of so many vectors are worked out at once."""
NEAREST = 256
"""Where tools are compared along `axes` first, at least so many of the nearest are then compared in all dimensions."""
FINER = 511
"""What is measured along axes is whole up to this: squares of 64 such numbers add up to less than 2^24."""


class Embedder(Protocol):
    """Texts to vectors of one length."""

    @property
    def name(self) -> str:
        """Identifies the model and its version; vectors of different names are never mixed."""
        ...

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether the leading dimensions carry the most, so that they may be compared first."""
        ...

    # An embedder may have `axes` besides: whole numbers of one byte, a column each, first the direction along which its
    # vectors tell most. Columns have one length, and at most 1,000 rows. Few of them stand for all dimensions at first.

    @property
    def english(self) -> bool:
        """Whether the model reads English alone, so that other languages must do without it."""
        ...

    def embed_docs(self, texts: Sequence[str]) -> Floats:
        """One row a text; a row of zeros where a text means nothing to the model."""
        ...

    def embed_query(self, text: str) -> Floats:
        """The vector of one request, or zeros."""
        ...


def quantised(vectors: Floats) -> Bytes:
    """Each row scaled so that its largest number is 127, as whole numbers; a row of zeros stays one."""
    return rounded(vectors, LEVELS).astype(np.int8)


class Question(NamedTuple):
    """Requests as vectors of whole numbers.

    Parameters:
        rows: a row each.
        scales: what makes each one's length 1.
        told: whether the first is more than zeros.
    """

    rows: Floats
    scales: Floats
    told: bool = True

    @classmethod
    def of(cls, vectors: Floats) -> "Question":
        """The vectors of some requests, made whole in place."""
        count = len(vectors)
        scales = np.empty(count, np.float32)
        return cls(vectors, scales, kernel.whole(vectors, count, LEVELS, scales))


class Vectors:
    """The tools' vectors by slot, updated in place; what is compared first lies side by side, so it is fastest.

    Parameters:
        dim: the number of dimensions.
        ordered: whether the leading ones carry the most.
        axes: directions that carry the most, as an `Embedder` may have them.
    """

    def __init__(self, dim: int, *, ordered: bool, axes: Bytes | None = None) -> None:
        self.dim = dim
        self.ordered = ordered
        self._axes = None if axes is None else axes.astype(np.float32)
        self.rows: Bytes = np.zeros((0, dim), np.int8)
        self._scales: Floats = np.zeros(0, np.float32)
        self._count = 0
        self._leading = self._leading_of(0)
        self._compared: Columns = abreast(0, self._leading)
        self._leading_scales: Floats = np.zeros(0, np.float32)

    def append(self, rows: Bytes) -> None:
        """Add rows for the next slots."""
        count = self._count + len(rows)
        if count > len(self.rows):
            self.reserve(max(count, len(self.rows) * 3 // 2 + 16))
        new = slice(self._count, count)
        self.rows[new] = rows
        for start in range(self._count, count, TOGETHER):
            some = slice(start, min(start + TOGETHER, count))
            self._scales[some] = inverse_lengths(self.rows[some].astype(np.float32))
        self._count = count
        self._lead(new)

    def reserve(self, size: int) -> None:
        """Make room for so many slots."""
        if size > len(self.rows):
            self.rows = _grown(self.rows, size)
            self._scales = np.resize(self._scales, size)

    def _lead(self, new: slice) -> None:
        """Set what is compared first of new slots; of all, where so many tools are compared by other dimensions."""
        leading = self._leading_of(self._count)
        if leading != self._leading:
            self._leading, new = leading, slice(0, self._count)
            self._compared = abreast(0, leading)
        if min(len(self._leading_scales), len(self._compared) * ABREAST) < len(self.rows):
            grown = abreast(len(self.rows), leading)
            grown[: len(self._compared)] = self._compared
            self._compared = grown
            self._leading_scales = np.resize(self._leading_scales, len(self.rows))
        leading_rows = self._led(self.rows[new])
        laid(leading_rows, self._compared, new.start)
        self._leading_scales[new] = inverse_lengths(leading_rows)

    def keep(self, slots: Ints) -> None:
        """Keep these slots alone, in this order."""
        rows, axes = self.rows[slots], self._axes
        self.__init__(self.dim, ordered=self.ordered, axes=None if axes is None else axes.astype(np.int8))
        self.append(rows)

    def put(self, slot: int, row: Bytes) -> None:
        """Set the vector of one slot."""
        floats = row.astype(np.float32)[None]
        self.rows[slot] = row
        self._scales[slot] = inverse_lengths(floats)[0]
        leading = self._led(floats)
        laid(leading, self._compared, slot)
        self._leading_scales[slot] = inverse_lengths(leading)[0]

    def __len__(self) -> int:
        return self._count

    def _leading_of(self, size: int) -> int:
        """By how many dimensions so many tools are compared."""
        if self._axes is not None:
            return self._axes.shape[1]
        return (
            min(self.dim, next(count for most, count in LEADING.items() if size <= most)) if self.ordered else self.dim
        )

    def _led(self, rows: Floats | Bytes) -> Floats:
        """What of some rows is compared first, in whole numbers."""
        if self._axes is None:
            return rows[:, : self._leading].astype(np.float32)
        return rounded(rows.astype(np.float32) @ self._axes, FINER)

    def compare(self, asked: Question, found: Floats) -> None:
        """Fill in the cosines of each question (a row) with every tool, by what is compared first."""
        rows = asked.rows if self._axes is None else self._led(asked.rows)
        kernel.compared(rows, len(rows), self._leading, self._compared, self._leading_scales, self._count, found)

    def refine(self, asked: Question, found: Floats) -> None:
        """Where there are `axes`, make the nearest tools' cosines (a row a question) exact; others stay below."""
        if self._axes is None:
            return
        for n, row in enumerate(found):
            slots = (row >= reached(row, NEAREST)).nonzero()[0]
            exact = self.cosines(Question(asked.rows[n : n + 1], asked.scales[n : n + 1]), slots)[0]
            np.minimum(row, np.minimum.reduce(exact, initial=1), out=row)
            row[slots] = exact

    def cosines(self, asked: Question, slots: Ints) -> Floats:
        """The exact cosines of each question (a row) with some tools."""
        found = np.empty((len(asked.rows), len(slots)), np.float32)
        kernel.exact(self.rows, self._scales, slots, asked.rows, len(asked.rows), asked.scales, found)
        return found


def _grown(rows: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    grown = np.zeros((size, rows.shape[1]), rows.dtype)
    grown[: len(rows)] = rows
    return grown
