"""Meaning as vectors: what an embedder is, and the exact, deterministic comparison of its vectors.

Vectors are kept as whole numbers from -127 to 127. Their products and sums stay below 2^24, so 32-bit floats add them
exactly, in any order and on any machine: the same bytes on every run.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.intp]
LEVELS = 127
WHOLE = 6_000
"""Up to so many tools are compared in all dimensions; of more, the best by the leading dimensions are."""
LEADING = 64
"""The leading dimensions of a vector; an embedder that orders them by weight says so with `ordered`."""


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


def quantised(vectors: Floats) -> Bytes:
    """Each row scaled so that its largest number is 127, and rounded; a row of zeros stays one."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    return np.rint(vectors * (LEVELS / np.where(largest > 0, largest, 1))).astype(np.int8)


class Vectors:
    """The tools' vectors by slot, updated in place."""

    def __init__(self, dim: int, *, ordered: bool) -> None:
        self.dim = dim
        self.ordered = ordered and dim > LEADING
        self.rows: Bytes = np.zeros((0, dim), np.int8)
        self._scales: Floats = np.zeros(0, np.float32)
        self._compared: Floats = np.zeros((0, dim), np.float32)
        self._whole = True
        self._count = 0

    def append(self, rows: Bytes) -> None:
        """Add rows for the next slots."""
        count = self._count + len(rows)
        if count > len(self.rows):
            size = max(count, len(self.rows) * 3 // 2 + 16)
            whole = size <= WHOLE or not self.ordered
            self.rows = _grown(self.rows, size)
            self._scales = np.resize(self._scales, size)
            if whole != self._whole:
                self._whole = whole
                self._compared = self.rows[:, :LEADING].astype(np.float32)
            else:
                self._compared = _grown(self._compared, size)
        new = slice(self._count, count)
        self.rows[new] = rows
        floats = rows.astype(np.float32)
        lengths = np.sqrt((floats * floats).sum(axis=1))
        self._scales[new] = 1 / np.where(lengths > 0, lengths, 1)
        self._compared[new] = floats if self._whole else floats[:, :LEADING]
        self._count = count

    def keep(self, slots: Ints) -> None:
        """Keep these slots alone, in this order."""
        rows = self.rows[slots]
        self.__init__(self.dim, ordered=self.ordered)
        self.append(rows)

    def put(self, slot: int, row: Bytes) -> None:
        """Set the vector of one slot."""
        floats = row.astype(np.float32)
        length = np.sqrt((floats * floats).sum())
        self.rows[slot] = row
        self._scales[slot] = 1 / length if length else 1
        self._compared[slot] = floats if self._whole else floats[:LEADING]

    def __len__(self) -> int:
        return self._count

    @property
    def exact(self) -> bool:
        """Whether `compare` compares all dimensions."""
        return self._whole

    def compare(self, query: Bytes) -> Floats:
        """The cosine of the query with every tool, by the leading dimensions alone where there are many tools."""
        asked = query.astype(np.float32)
        if not self._whole:
            asked = asked[:LEADING]
        return _products(self._compared[: self._count], asked) * self._scales[: self._count] * _inverse_length(query)

    def cosines(self, query: Bytes, slots: Ints) -> Floats:
        """The exact cosine of the query with some tools."""
        found = self.rows[slots].astype(np.float32) @ query.astype(np.float32)
        return found * self._scales[slots] * _inverse_length(query)


SMALL = 300_000
"""Up to so many numbers the linear algebra library stays on one thread."""


def _products(rows: Floats, vector: Floats) -> Floats:
    """Each row times the vector, on this thread: waking others stalls on a busy machine."""
    return rows @ vector if rows.size <= SMALL else np.einsum("ij,j->i", rows, vector)


def _inverse_length(query: Bytes) -> np.float32:
    floats = query.astype(np.float32)
    length = np.sqrt((floats * floats).sum())
    return np.float32(1 / length) if length else np.float32(0)


def _grown(rows: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    grown = np.zeros((size, rows.shape[1]), rows.dtype)
    grown[: len(rows)] = rows
    return grown
