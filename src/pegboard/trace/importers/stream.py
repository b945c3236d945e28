"""Files of JSON as a stream of records: JSON Lines, documents, top-level arrays; plain, gzip, bzip2, xz or Zstandard.

Nothing is held longer than one record. A line that is no JSON is set aside alone; a file that ends in the middle of
a compressed block or of a document gives everything before the break.
"""

import bz2
import gzip
import io
import json
import lzma
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, EncodedFile, StreamRecoder
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from pydantic_core import from_json

from pegboard.errors import MissingExtraError, SourceError
from pegboard.schema.types import Json

LINE_LIMIT = 512 * 1024 * 1024
_CHUNK = 1 << 20
_PROBE = 50
_BLANK = b"\xef\xbb\xbf \t\r\n"
_BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, OSError)


class Record(NamedTuple):
    """One JSON value of a file.

    Parameters:
        value: the value; the elements of a top-level array come one by one.
        where: file and line (or element), for messages.
        document: 0 for the file's own lines; elements of one array share another number.
    """

    value: Json
    where: str
    document: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could not be read and was left out; everything else was not.

    Parameters:
        where: file and line.
        message: what is wrong with it.
    """

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def _zstandard(path: Path, _mode: str) -> BinaryIO:
    """A file compressed with Zstandard, which pyarrow reads; Python itself does only from 3.14 on."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError("ray", feature=f"{path.name}, which is compressed with Zstandard,") from error
    arrow = cast("Any", pyarrow)
    return cast("BinaryIO", io.BufferedReader(arrow.input_stream(str(path), compression="zstd")))


def _utf16(path: Path, mode: str) -> StreamRecoder:
    """A file in UTF-16, as Windows shells write it, as UTF-8."""
    return EncodedFile(path.open(mode), "utf-8", "utf-16")


_MAGIC: tuple[tuple[bytes, Callable[[Path, str], object]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x28\xb5\x2f\xfd", _zstandard),
    (BOM_UTF16_LE, _utf16),
    (BOM_UTF16_BE, _utf16),
)


def opened(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed by what its first bytes say, whatever its name.

    Raises:
        SourceError: the file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            head = file.read(8)
        for magic, opener in _MAGIC:
            if head.startswith(magic):
                return cast("BinaryIO", opener(path, "rb"))
        return path.open("rb")
    except OSError as error:
        raise SourceError(f"Cannot read traces: {error.strerror}.", where=str(path)) from error


def records(path: Path) -> Iterator[Record | Skipped]:
    """The JSON values of a file, in order.

    Raises:
        SourceError: the file cannot be opened.
    """
    name = path.name
    with opened(path) as file:
        lines = numbered_lines(file, name)
        head = list(islice(lines, _PROBE))
        if line_head(head):
            for item in chain(head, lines):
                yield from [item] if isinstance(item, Skipped) else parsed(item[1], f"{name}:{item[0]}", item[0])
        else:
            yield from _Documents(chain(head, lines), name)


def numbered_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes] | Skipped]:
    """The lines that are not blank, with their numbers from 1; a line over `LINE_LIMIT` is set aside."""
    number = 0
    try:
        while line := file.readline(LINE_LIMIT):
            number += 1
            if len(line) == LINE_LIMIT and not line.endswith(b"\n"):
                while (rest := file.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
                    pass
                yield Skipped(f"{name}:{number}", f"the line is longer than {LINE_LIMIT} bytes")
            elif not line.isspace():
                yield number, line
    except _BROKEN as error:
        yield Skipped(f"{name}:{number + 1}", f"the file is cut or damaged here ({error})")


def parsed(line: bytes, where: str, number: int) -> Iterator[Record | Skipped]:
    """The value of one line; the elements of an array come one by one."""
    try:
        value = _value(line)
    except ValueError as error:
        yield Skipped(where, f"no JSON: {error}")
        return
    except RecursionError:
        yield Skipped(where, "nested too deeply")
        return
    if isinstance(value, list):
        for element in cast("list[Json]", value):
            yield Record(element, where, number)
    else:
        yield Record(value, where)


def _value(line: bytes) -> Json:
    """What `json.loads` makes of a line; a quicker reader has the first try, which refuses some that it takes."""
    if line.startswith(b'{"'):
        try:
            return from_json(line, cache_strings="keys")
        except ValueError:
            pass
    return json.loads(line)


def line_head(head: list[tuple[int, bytes] | Skipped]) -> bool:
    """Whether lines stand alone: one of the first is a whole value, or none so much as begins one."""
    lines = [item[1].lstrip(_BLANK) for item in head if not isinstance(item, Skipped)]
    return any(_whole(line) for line in lines) or not any(line.startswith((b"{", b"[")) for line in lines)


def _whole(line: bytes) -> bool:
    try:
        return bool(json.loads(line)) and line.startswith((b"{", b"["))
    except (ValueError, RecursionError):
        return False


class _Documents:
    """Values that span lines. The buffer holds one value and at most as much again."""

    def __init__(self, lines: Iterable[tuple[int, bytes] | Skipped], name: str) -> None:
        self._lines = iter(lines)
        self._name = name
        self._buffer: str = ""
        self._inside = False
        self._count = 0
        self._document = 0
        self._skipped: list[Skipped] = []

    def __iter__(self) -> Iterator[Record | Skipped]:
        while self._advance():
            found = self._decoded()
            yield found
            if isinstance(found, Skipped):
                break
        yield from self._skipped

    def _advance(self) -> bool:
        """Move to the start of the next value; False at the end."""
        while True:
            self._buffer = self._buffer.lstrip("\ufeff \t\r\n,")
            if self._buffer[:1] == "[" and not self._inside:
                self._inside, self._document = True, self._document + 1
            elif self._buffer[:1] == "]" and self._inside:
                self._inside = False
            elif self._buffer or not self._more(_CHUNK):
                return bool(self._buffer)
            else:
                continue
            self._buffer = self._buffer[1:]

    def _decoded(self) -> Record | Skipped:
        where = f"{self._name} element {self._count + 1}"
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer)
            except (ValueError, RecursionError) as error:
                if len(self._buffer) > LINE_LIMIT or not self._more(len(self._buffer)):
                    return Skipped(where, f"no JSON, or cut off: {error}")
                continue
            self._buffer, self._count = self._buffer[end:], self._count + 1
            return Record(value, where, self._document if self._inside else -self._count)

    def _more(self, size: int) -> bool:
        """Read at least `size` characters more, unless the file ends; doubling keeps long values linear."""
        pieces: list[str] = []
        read = 0
        for item in self._lines:
            if isinstance(item, Skipped):
                self._skipped.append(item)
                continue
            pieces.append(item[1].decode("utf-8", "replace"))
            read += len(pieces[-1])
            if read >= size:
                break
        self._buffer += "".join(pieces)
        return read > 0


_DECODER = json.JSONDecoder()
