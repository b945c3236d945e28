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

    def compare(self, queries: Bytes) -> Floats:
        """The cosines of each query (a row) with every tool; of many tools by the leading dimensions alone."""
        asked = queries.astype(np.float32)
        within = asked if self._whole else asked[:, :LEADING]
        return _scaled(_products(self._compared[: self._count], within), self._scales[: self._count], asked)

    def cosines(self, queries: Bytes, slots: Ints) -> Floats:
        """The exact cosines of each query (a row) with some tools."""
        asked = queries.astype(np.float32)
        return _scaled(_products(self.rows[slots].astype(np.float32), asked), self._scales[slots], asked)


SMALL = 300_000
"""Up to so many numbers the linear algebra library stays on one thread."""


def _products(rows: Floats, asked: Floats) -> Floats:
    """Each query times each row, on this thread: waking others stalls on a busy machine."""
    found = np.empty((len(asked), len(rows)), np.float32)
    step = max(1, SMALL // rows.shape[1])
    for query, out in zip(asked, found, strict=True):
        for start in range(0, len(rows), step):
            np.dot(rows[start : start + step], query, out=out[start : start + step])
    return found


def _scaled(products: Floats, scales: Floats, asked: Floats) -> Floats:
    """Products of whole numbers to cosines."""
    lengths = np.sqrt(np.einsum("ij,ij->i", asked, asked))
    inverse = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)
    products *= scales
    products *= inverse[:, None]
    return products


def _grown(rows: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    grown = np.zeros((size, rows.shape[1]), rows.dtype)
    grown[: len(rows)] = rows
    return grown
