"""Meaning as vectors: what an embedder is, and the exact, deterministic comparison of its vectors.

Vectors are kept as whole numbers from -127 to 127. Their products and sums stay below 2^24, so 32-bit floats add them
exactly, in any order and on any machine: the same bytes on every run.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.intp]
LEVELS = 127
LEADING = {20_000: 48, sys.maxsize: 32}
"""Up to so many tools are compared by so many leading dimensions first, where an embedder orders them by weight and
says so with `ordered`; the nearest are then compared in all. On the trial sets this finds as much as all 256 do."""


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


def rounded(vectors: Floats) -> Floats:
    """Each row scaled so that its largest number is 127, and rounded; a row of zeros stays one."""
    largest = np.maximum.reduce(np.abs(vectors), axis=-1, keepdims=True)
    return np.rint(vectors * (LEVELS / np.maximum(largest, _TINY)))


def quantised(vectors: Floats) -> Bytes:
    """The same, as whole numbers."""
    return rounded(vectors).astype(np.int8)


_ONE, _TINY = np.float32(1), np.float32(1e-30)


def inverse_lengths(vectors: Floats) -> Floats:
    """What makes the length of each row of whole numbers 1; of a row of zeros 1."""
    return np.reciprocal(np.sqrt(np.maximum(np.add.reduce(vectors * vectors, axis=1), _ONE)))


@dataclass(frozen=True, slots=True)
class Question:
    """Requests as vectors of whole numbers.

    Parameters:
        rows: a row each.
        scales: what makes each one's length 1.
    """

    rows: Floats
    scales: Floats

    @classmethod
    def of(cls, vectors: Floats) -> "Question":
        """The vectors of some requests, made whole."""
        rows = rounded(vectors)
        return cls(rows, inverse_lengths(rows))


class Vectors:
    """The tools' vectors by slot, updated in place."""

    def __init__(self, dim: int, *, ordered: bool) -> None:
        self.dim = dim
        self.ordered = ordered
        self.rows: Bytes = np.zeros((0, dim), np.int8)
        self._scales: Floats = np.zeros(0, np.float32)
        self._leading_scales: Floats = np.zeros(0, np.float32)
        self._compared: Floats = np.zeros((0, self._leading_of(0)), np.float32)
        self._leading = self._leading_of(0)
        self._count = 0

    def append(self, rows: Bytes) -> None:
        """Add rows for the next slots."""
        count = self._count + len(rows)
        if count > len(self.rows):
            self.reserve(max(count, len(self.rows) * 3 // 2 + 16))
        new = slice(self._count, count)
        self.rows[new] = rows
        floats = rows.astype(np.float32)
        self._scales[new] = inverse_lengths(floats)
        self._compared[new] = leading = floats[:, : self._leading]
        self._leading_scales[new] = inverse_lengths(leading)
        self._count = count

    def reserve(self, size: int) -> None:
        """Make room for so many slots."""
        if size <= len(self.rows):
            return
        leading = self._leading_of(size)
        self.rows = _grown(self.rows, size)
        self._scales = np.resize(self._scales, size)
        self._leading_scales = np.resize(self._leading_scales, size)
        if leading != self._leading:
            self._leading = leading
            self._compared = self.rows[:, :leading].astype(np.float32)
            self._leading_scales = inverse_lengths(self._compared)
        else:
            self._compared = _grown(self._compared, size)

    def keep(self, slots: Ints) -> None:
        """Keep these slots alone, in this order."""
        rows = self.rows[slots]
        self.__init__(self.dim, ordered=self.ordered)
        self.append(rows)

    def put(self, slot: int, row: Bytes) -> None:
        """Set the vector of one slot."""
        floats = row.astype(np.float32)
        self.rows[slot] = row
        self._scales[slot] = inverse_lengths(floats[None])[0]
        self._leading_scales[slot] = inverse_lengths(floats[None, : self._leading])[0]
        self._compared[slot] = floats[: self._leading]

    def __len__(self) -> int:
        return self._count

    @property
    def exact(self) -> bool:
        """Whether `compare` compares all dimensions."""
        return self._leading == self.dim

    def _leading_of(self, size: int) -> int:
        """By how many dimensions so many tools are compared."""
        if not self.ordered:
            return self.dim
        return min(self.dim, next(leading for most, leading in LEADING.items() if size <= most))

    def compare(self, asked: Question, found: Floats) -> None:
        """Fill in the cosines of each question (a row) with every tool, by the leading dimensions."""
        rows = self._compared[: self._count]
        within = asked.rows[:, : self._leading]
        _products(rows, within, found)
        found *= self._leading_scales[: self._count]
        found *= inverse_lengths(within)[:, None]

    def cosines(self, asked: Question, slots: Ints) -> Floats:
        """The exact cosines of each question (a row) with some tools."""
        found = (self.rows.take(slots, axis=0).astype(np.float32) @ asked.rows.T).T * self._scales.take(slots)
        found *= asked.scales[:, None]
        return found


SMALL = 250_000
"""So many numbers at once the linear algebra library multiplies on this thread: waking others stalls."""


def _products(rows: Floats, asked: Floats, found: Floats) -> None:
    """Each question times each row; part by part, so that a part is read from memory once."""
    step = max(1, SMALL // asked.size)
    columns = np.ascontiguousarray(asked.T)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        if len(asked) > 1:
            found[:, part] = (rows[part] @ columns).T
        else:
            np.dot(rows[part], asked[0], out=found[0, part])


def _grown(rows: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    grown = np.zeros((size, rows.shape[1]), rows.dtype)
    grown[: len(rows)] = rows
    return grown
