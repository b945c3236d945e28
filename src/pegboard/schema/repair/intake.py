"""The first step: from any Python value to bounded JSON that UTF-8 can carry.

Cycles, endless nesting and shared structure that would unfold without end are cut; lone surrogates, numbers that
JSON does not have and keys that are no strings are replaced. Each is listed.
"""

import math
from typing import Any, cast

from pegboard.schema.repair.record import SchemaChange
from pegboard.schema.types import Json, pointer

DEEPEST = 128
"""Levels of JSON nesting that are read; a schema level takes one or two."""

LARGEST = 200_000
"""JSON values that are read."""


def utf8(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Intake:
    """Copies one value; `changes` lists what could not be copied as it was."""

    def __init__(self) -> None:
        self.changes: list[SchemaChange] = []
        self._left = LARGEST
        self._open: set[int] = set()

    def copy(self, value: Json, at: str = "", depth: int = 0) -> Json:
        """A clean copy of a value at a pointer."""
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, str):
            return self._text(value, at)
        if isinstance(value, float):
            return value if math.isfinite(value) else self._replaced(at, None, "a number that JSON does not have")
        if isinstance(value, dict | list | tuple):
            return self._container(cast("Any", value), at, depth)
        return self._text(str(value), at)

    def _container(self, value: "dict[Any, Any] | list[Any] | tuple[Any, ...]", at: str, depth: int) -> Json:
        hole: Json = {} if isinstance(value, dict) else []
        if id(value) in self._open:
            return self._replaced(at, hole, "a value that contains itself")
        if depth >= DEEPEST and value:
            return self._replaced(at, hole, f"more than {DEEPEST} levels deep")
        self._left -= len(value) + 1
        if self._left < 0:
            return self._replaced(at, hole, f"more than {LARGEST} values")
        self._open.add(id(value))
        try:
            if isinstance(value, dict):
                return self._table(value, at, depth)
            return [self.copy(item, f"{at}/{index}", depth + 1) for index, item in enumerate(value)]
        finally:
            self._open.discard(id(value))

    def _table(self, value: dict[Any, Any], at: str, depth: int) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for key, item in value.items():
            name = utf8(key) if isinstance(key, str) else str(key)
            if name != key:
                self._replaced(at, None, f"the key {name!r} was no UTF-8 string")
            if name not in copy:
                copy[name] = self.copy(item, at + pointer(name), depth + 1)
        return copy

    def _text(self, text: str, at: str) -> str:
        clean = utf8(text)
        if clean != text:
            self._replaced(at, None, "lone surrogates, now U+FFFD")
        return clean

    def _replaced(self, at: str, by: Json, why: str) -> Json:
        self.changes.append(SchemaChange(at, f"replaced: {why}"))
        return by
