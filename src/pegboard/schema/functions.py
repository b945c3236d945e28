"""The functions that expressions may call: a closed set, each of them pure, total in size and linear in time."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, cast

from pegboard.schema.find import find, find_all
from pegboard.schema.types import Json, canonical

LARGEST = 1_000_000
"""How many characters or entries a value may have that an expression makes."""


def text_of(value: Json) -> str:
    """A value as it stands inside a longer text: strings bare, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _join(values: Sequence[Json], separator: str = ", ") -> str:
    parts = [text_of(value) for value in values]
    _fits(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def _replace(text: str, old: str, new: str) -> str:
    if not old:
        raise ValueError("replace() needs a text to look for")
    _fits(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def _fits(size: int) -> None:
    if size > LARGEST:
        raise ValueError(f"the result would have more than {LARGEST} characters or entries")


def _unique(values: Sequence[Json]) -> list[Json]:
    found: dict[str, Json] = {}
    for value in values:
        found.setdefault(canonical(value), value)
    return list(found.values())


def _flatten(values: Sequence[Json]) -> list[Json]:
    flat: list[Json] = []
    for value in values:
        if isinstance(value, list):
            flat.extend(cast("list[Json]", value))
        else:
            flat.append(value)
        _fits(len(flat))
    return flat


def _keys(value: Mapping[str, Json]) -> list[Json]:
    return list(value)


def _values(value: Mapping[str, Json]) -> list[Json]:
    return list(value.values())


def _moment(value: Json, form: str | None = None) -> datetime:
    if isinstance(value, bool) or value is None:
        raise ValueError(f"{value!r} is no date")
    if isinstance(value, int | float):
        seconds = value / 1000 if abs(value) > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC)
    text = str(value).strip()
    if form:
        _checked_form(form)
        parsed = datetime.strptime(text, form)  # noqa: DTZ007 - a zone in the form is kept, else UTC is set below
    else:
        parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _checked_form(form: str) -> None:
    # A width such as %999999999d would make the C library build a text of that length.
    if len(form) > 100 or not re.fullmatch(r"(?:[^%]|%[A-Za-z%])*", form):
        raise ValueError("a date form has at most 100 characters and plain directives such as %Y-%m-%d")


def _iso(value: Json, form: str | None = None) -> str:
    """An ISO 8601 moment in UTC, from Unix seconds or milliseconds, ISO text, or a text in the given strptime form."""
    return _moment(value, form).astimezone(UTC).isoformat().replace("+00:00", "Z")


def _day(value: Json, form: str | None = None) -> str:
    return _moment(value, form).date().isoformat()


def _unix(value: Json, form: str | None = None) -> int:
    return int(_moment(value, form).timestamp())


def _date(value: Json, form: str, source: str | None = None) -> str:
    _checked_form(form)
    moment = date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 and not source else None
    return (moment or _moment(value, source)).strftime(form)


def _int(value: Json) -> int:
    return int(value.strip()) if isinstance(value, str) else int(value)


def _bool(value: Json) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "y", "1", "on")
    return bool(value)


def _contains(value: Json, part: Json) -> bool:
    return part in value


def _at(value: Json, key: Json, fallback: Json = None) -> Json:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Json]", value).get(key, fallback)
    if isinstance(value, list) and isinstance(key, int):
        values = cast("list[Json]", value)
        return values[key] if -len(values) <= key < len(values) else fallback
    return fallback


def _pluck(values: Sequence[Json], key: str) -> list[Json]:
    return [_at(value, key) for value in values]


def _lookup(value: Json, table: Mapping[str, Json], fallback: Json = None) -> Json:
    return table.get(text_of(value), fallback)


def _text_only(operation: Callable[[str], Json]) -> Callable[[Json], Json]:
    def checked(text: Json) -> Json:
        if not isinstance(text, str):
            raise TypeError(f"it takes a text, not {type(text).__name__}")
        return operation(text)

    return checked


def _split(text: str, separator: str | None = None) -> list[Json]:
    return list(text.split(separator))


def _first(values: Sequence[Json], fallback: Json = None) -> Json:
    return values[0] if values else fallback


def _last(values: Sequence[Json], fallback: Json = None) -> Json:
    return values[-1] if values else fallback


def _sorted(values: Sequence[Json], key: str | None = None) -> list[Json]:
    return sorted(values, key=lambda value: _at(value, key) if key else value)


def _coalesce(*values: Json) -> Json:
    return next((value for value in values if value is not None), None)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "at": _at,
    "bool": _bool,
    "coalesce": _coalesce,
    "contains": _contains,
    "date": _date,
    "day": _day,
    "endswith": str.endswith,
    "find": find,
    "find_all": find_all,
    "first": _first,
    "flatten": _flatten,
    "float": float,
    "int": _int,
    "iso": _iso,
    "join": _join,
    "json": canonical,
    "keys": _keys,
    "last": _last,
    "len": len,
    "lookup": _lookup,
    "lower": _text_only(str.lower),
    "max": max,
    "min": min,
    "parse_json": _text_only(json.loads),
    "pluck": _pluck,
    "replace": _replace,
    "round": round,
    "sorted": _sorted,
    "split": _split,
    "startswith": str.startswith,
    "str": text_of,
    "sum": sum,
    "title": _text_only(str.title),
    "trim": _text_only(str.strip),
    "unique": _unique,
    "unix": _unix,
    "upper": _text_only(str.upper),
    "values": _values,
}
"""Every function by its name in the language."""
