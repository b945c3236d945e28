"""The scalars of a JSON value as texts: what data flow is followed by."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

from pegboard.schema.types import Json

SHORT, LONG = 3, 200
"""A text of fewer or of more characters is not followed: it would be found everywhere, or is a text of its own."""

WORD = re.compile(r"\w+")
_SEPARATOR = "\x1f"


def scalar_text(value: Json) -> str | None:
    """A scalar as text; None for null, booleans and anything that holds other values."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or value is None or isinstance(value, dict | list | tuple):
        return None
    return str(value)


def scalars(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Each scalar of a value as (path, text), in order; list positions are `[]`, and keys are joined by dots."""
    stack: list[tuple[str, Json]] = [(path, value)]
    while stack:
        place, inner = stack.pop()
        if isinstance(inner, dict):
            entries = cast("dict[str, Json]", inner).items()
            stack.extend([(f"{place}.{key}" if place else str(key), item) for key, item in reversed(entries)])
        elif isinstance(inner, list | tuple):
            place = f"{place}[]"
            stack.extend([(place, item) for item in reversed(cast("list[Json]", inner))])
        else:
            text = scalar_text(inner)
            if text is not None:
                yield place, text


_ID_LIKE = re.compile(r"[^.\[\]]*\d{3,}[^.\[\]]*|[^.\[\]]{41,}")


@lru_cache(maxsize=65536)
def general(path: str) -> str:
    """A path without keys that are ids themselves: `cards.card_4421.last` becomes `cards.*.last`."""
    return _ID_LIKE.sub("*", path)


def result_text(result: Json) -> str:
    """All that a result says, as one text to search: of objects the keys too, for they are ids now and then."""
    if isinstance(result, str):
        return _unescaped(result) if "\\" in result else result
    if isinstance(result, dict | list):
        return _SEPARATOR.join(_words(cast("Json", result)))
    return "" if result is None else str(result)


def _unescaped(text: str) -> str:
    try:
        return result_text(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _words(value: Json) -> Iterator[str]:
    stack: list[Json] = [value]
    while stack:
        inner = stack.pop()
        if isinstance(inner, dict):
            for key, item in cast("dict[str, Json]", inner).items():
                yield str(key)
                stack.append(item)
        elif isinstance(inner, list):
            stack.extend(cast("list[Json]", inner))
        elif inner is not None:
            yield str(inner)


def stands_in(text: str, whole: str) -> bool:
    """Whether `text` stands in `whole` as a whole word or words: not as a part of a longer one."""
    start = whole.find(text)
    if start < 0:
        return False
    size, last = len(text), len(whole)
    while start >= 0:
        end = start + size
        if not (start and _wordy(whole[start - 1]) and _wordy(text[0])) and not (
            end < last and _wordy(whole[end]) and _wordy(text[-1])
        ):
            return True
        start = whole.find(text, start + 1)
    return False


def _wordy(character: str) -> bool:
    return character.isalnum() or character == "_"
