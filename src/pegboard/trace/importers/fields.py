"""Reading foreign JSON without trusting its shape."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

from pegboard.schema.types import Json


def obj(value: Json) -> dict[str, Any]:
    """The object that stands there; an empty one where there is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def arr(value: Json) -> list[Any]:
    """The list that stands there; an empty one where there is none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: Json) -> str | None:
    """The text or number that stands there, as text."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def first(row: dict[str, Any], *names: str) -> Any:
    """The value of the first of these fields that is there and not null."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def read_json(value: Json) -> Json:
    """A text that holds JSON as the value that it holds; anything else as it is."""
    if isinstance(value, str) and value[:1] in _STARTS:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


_STARTS = frozenset('{["-0123456789tfn')


def arguments_of(value: Json) -> Json:
    """Arguments, given as an object or as the JSON text of one; empty text is no arguments."""
    if isinstance(value, str) and not value.strip():
        return {}
    found: Json = read_json(value)
    return cast("Json", found) if isinstance(found, dict) else value


def seconds(value: Json) -> float | None:
    """A point in time as Unix seconds: ISO 8601, or a number in seconds, milliseconds, microseconds or nanoseconds."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        if not value.strip().lstrip("-").replace(".", "", 1).isdigit():
            return _from_iso(value)
        value = float(value)
    if not isinstance(value, int | float):
        return None
    for limit, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if abs(value) >= limit:
            return value / unit
    return float(value)


def _from_iso(value: str) -> float | None:
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def content_text(content: Json) -> str:
    """The text of message content: a text, or the texts of its parts, a line each."""
    if isinstance(content, str):
        return content
    parts = [obj(part) for part in arr(content)]
    found = [text(first(part, "text", "content", "output_text", "input_text")) for part in parts]
    return "\n".join(part for part in found if part)


def result_of(content: Json) -> Json:
    """What a tool answered: the JSON that its only text holds, its text, or the content as it is."""
    if isinstance(content, list) and content and all(obj(part).get("type") in _TEXTS for part in arr(content)):
        return read_json(content_text(cast("Json", content)))
    return read_json(content)


_TEXTS = frozenset({"text", "input_text", "output_text"})
_FAILED = re.compile(r"\s*[\[({\"']*\s*(\w*error|\w*exception|traceback|failed|failure)\b", re.IGNORECASE)


def looks_failed(result: Json) -> bool:
    """Whether a result says that the call failed, where the format has no mark for it."""
    if isinstance(result, str):
        return bool(_FAILED.match(result[:80]))
    found = obj(result)
    if found.get("isError") is True or found.get("is_error") is True:
        return True
    return bool(found.get("error")) and len(found) <= 3


def walk(value: Json) -> Iterator[dict[str, Any]]:
    """Every object in a value, outer ones first."""
    stack: list[Json] = [value]
    while stack:
        inner = stack.pop()
        if isinstance(inner, dict):
            found = cast("dict[str, Any]", inner)
            yield found
            stack.extend(reversed(list(found.values())))
        elif isinstance(inner, list):
            stack.extend(reversed(cast("list[Json]", inner)))
