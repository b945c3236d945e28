"""The index's file: what tools are found by, kept between runs and checked against the tools' texts."""

import json
import marshal
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import prod
from operator import attrgetter
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolSpec

FORMAT = "pegboard-index 5"
PRINT = 16
"""Bytes of a fingerprint."""
VALUES = 2
"""The last version of `marshal` without references: equal values have equal bytes."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a file held: terms, the words behind them, a fingerprint a tool, and arrays by name."""

    terms: Sequence[str]
    spelt: Mapping[str, str]
    prints: Sequence[bytes]
    arrays: Mapping[str, npt.NDArray[Any]]


_TOLD: Callable[[ToolSpec], Any] = attrgetter(
    "name.namespace", "name.name", "name.version", "title", "description", "category", "aliases", "input", "examples"
)


def fingerprint(spec: ToolSpec) -> bytes:
    """Changes whenever anything changes that a tool is found by."""
    told = _TOLD(spec)
    try:
        text = marshal.dumps(told, VALUES)
    except ValueError:  # a mapping of another kind
        text = repr(told).encode(errors="backslashreplace")
    return blake2b(text, digest_size=PRINT).digest()


def write(
    path: Path,
    version: str,
    terms: Sequence[str],
    spelt: Mapping[str, str],
    prints: Sequence[bytes],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> None:
    """Write the file whole or not at all."""
    number = {term: n for n, term in enumerate(terms)}
    known = {word: term for word, term in spelt.items() if term in number}
    texts = {
        "terms": _packed(terms),
        "words": _packed(list(known)),
        "meant": np.array([number[term] for term in known.values()], np.int32),
        "prints": np.frombuffer(b"".join(prints), np.uint8),
    }
    found = {name: np.ascontiguousarray(array) for name, array in (texts | dict(arrays)).items()}
    listed = {name: [array.dtype.str, *array.shape] for name, array in found.items()}
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    with unfinished.open("wb") as stream:
        stream.write(f"{version}\n{json.dumps([_sum(found), listed])}\n".encode())
        for array in found.values():
            array.tofile(stream)
    unfinished.replace(path)


def read(path: Path, version: str) -> Stored | None:
    """What the file holds, or None where it is missing, damaged or of another version."""
    try:
        with path.open("rb") as stream:
            if stream.readline() != f"{version}\n".encode():
                return None
            told, listed = json.loads(stream.readline())
            found: dict[str, npt.NDArray[Any]] = {
                name: np.fromfile(stream, dtype, prod(shape)).reshape(shape) for name, (dtype, *shape) in listed.items()
            }
    except (OSError, ValueError):
        return None
    if _sum(found) != told:
        return None
    terms = _unpacked(found.pop("terms"))
    words = _unpacked(found.pop("words"))
    meant: list[int] = found.pop("meant").tolist()
    spelt = dict(zip(words, map(terms.__getitem__, meant), strict=True))
    prints = found.pop("prints").tobytes()
    return Stored(terms, spelt, [prints[at : at + PRINT] for at in range(0, len(prints), PRINT)], found)


def _sum(arrays: Mapping[str, npt.NDArray[Any]]) -> int:
    found = 0
    for array in arrays.values():
        found = crc32(array.reshape(-1).view(np.uint8).data, found)
    return found


def _packed(texts: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _unpacked(packed: npt.NDArray[np.uint8]) -> list[str]:
    text = packed.tobytes().decode()
    return text.split("\n") if text else []
