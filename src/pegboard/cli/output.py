"""What a command prints. Data goes to stdout, and nothing else; everything said about it goes to stderr."""

import json
import re
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from pegboard.schema.types import Json

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_stream: TextIO | None = None


def clean(text: object) -> str:
    """A foreign text without control characters, so that it cannot steer the terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def one_line(text: object) -> str:
    """A foreign text on one line."""
    return " ".join(clean(text).split())


@contextmanager
def guarded() -> Generator[None]:
    """Keep stdout for data: what tools of this process print goes to stderr meanwhile."""
    global _stream
    _stream = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _stream = None


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form."""
    if number == 1:
        return f"{number:,} {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def data(text: str) -> None:
    """Print a line of data."""
    _write(_stream or sys.stdout, text)


def foreign(text: str) -> None:
    """Print a text that a tool has made: unchanged into a pipe or file, without control characters in a terminal."""
    data(clean(text) if (_stream or sys.stdout).isatty() else text)


def piece(text: str) -> None:
    """Print a piece of a text that is still being made, without control characters in a terminal."""
    stream = _stream or sys.stdout
    _write(stream, clean(text) if stream.isatty() else text, end="")


def document(value: Json) -> None:
    """Print one JSON document."""
    data(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def row(value: Json, *, sort_keys: bool = False) -> None:
    """Print one JSON value as a line of JSON Lines: one line for every reader, also those that split at U+2028."""
    text = json.dumps(value, ensure_ascii=False, default=str, sort_keys=sort_keys)
    data(re.sub("[\x85\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text))


def say(text: str) -> None:
    """Tell the person at the terminal something."""
    _write(sys.stderr, text)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: as a table in a terminal, else tab-separated, one line a row, nothing cut."""
    lines = [[one_line("" if cell is None else cell) for cell in row] for row in rows]
    if not (_stream or sys.stdout).isatty():
        for line in lines:
            data("\t".join(line))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown: Any = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for line in lines:
        shown.add_row(*map(Text, line))
    Console(file=_stream or sys.stdout).print(shown)


def _write(stream: TextIO, text: str, end: str = "\n") -> None:
    stream.flush()
    stream.buffer.write((text + end).encode("utf-8", "backslashreplace"))
    stream.flush()
