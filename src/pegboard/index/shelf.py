"""The index's file: what tools are found by, kept between runs and checked against the tools' texts."""

import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolSpec

FORMAT = "pegboard-index 4"
PRINT = 16
"""Bytes of a fingerprint."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a file held: terms, the words behind them, a fingerprint a tool, and arrays by name."""

    terms: Sequence[str]
    spelt: Mapping[str, str]
    prints: Sequence[bytes]
    arrays: Mapping[str, npt.NDArray[Any]]


def fingerprint(spec: ToolSpec) -> bytes:
    """Changes whenever anything changes that a tool is found by."""
    name = spec.name
    found = [name.namespace, name.name, name.version, spec.title, spec.description, spec.category, spec.aliases]
    text = repr([*found, spec.input, spec.examples])
    return blake2b(text.encode(errors="backslashreplace"), digest_size=PRINT).digest()


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
        "version": np.array(version),
        "terms": _packed(terms),
        "words": _packed(list(known)),
        "meant": np.array([number[term] for term in known.values()], np.int32),
        "prints": np.frombuffer(b"".join(prints), np.uint8),
    }
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    with unfinished.open("wb") as stream:
        np.savez(stream, **texts, **arrays)  # pyright: ignore[reportArgumentType]
    unfinished.replace(path)


def read(path: Path, version: str) -> Stored | None:
    """What the file holds, or None where it is missing, damaged or of another version."""
    try:
        with np.load(path) as data:
            if str(data["version"]) != version:
                return None
            found = {key: data[key] for key in data.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    terms = _unpacked(found.pop("terms"))
    words = _unpacked(found.pop("words"))
    meant: list[int] = found.pop("meant").tolist()
    spelt = {word: terms[n] for word, n in zip(words, meant, strict=True)}
    prints = found.pop("prints").tobytes()
    return Stored(terms, spelt, [prints[at : at + PRINT] for at in range(0, len(prints), PRINT)], found)


def _packed(texts: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _unpacked(packed: npt.NDArray[np.uint8]) -> list[str]:
    text = packed.tobytes().decode()
    return text.split("\n") if text else []
