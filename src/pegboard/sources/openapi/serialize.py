"""How values are written into paths, query strings, headers and forms (OpenAPI "Style Values"; RFC 6570)."""

import json
from collections.abc import Callable, Mapping
from typing import cast
from urllib.parse import quote

from pegboard.schema.types import Json
from pegboard.sources.http.exchange import BadArgument
from pegboard.sources.openapi.operation import Encoding, Parameter

_SEPARATOR = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}
# What `allowReserved` lets through. Not what would end the value or the query (`&`, `#`), what no query may hold (`[`,
# `]`), and `+`, which services read as a blank (OpenAPI 3.1, "Percent-Encoding").
_RESERVED = ":/?@!$'()*,;="


def text_of(value: Json) -> str:
    """A single value as text: strings bare, booleans in lower case, null empty, the rest as JSON."""
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encoded(text: str, *, safe: str = "") -> str:
    """A text, percent-encoded as UTF-8."""
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:
        raise BadArgument("", "It holds a half of a surrogate pair, which no request can carry.") from None


def in_path(parameter: Parameter, name: str, value: Json) -> str:
    """A value as a part of a path.

    Raises:
        BadArgument: the part would be empty, or would climb out of its place.
    """
    text = _expanded(parameter, value, encoded)
    if text in ("", ".", "..", ";", "/"):
        raise BadArgument(name, f"{text_of(value)!r} cannot stand in a path.", "Give the identifier of one thing.")
    return text


def _expanded(parameter: Parameter, value: Json, write: Callable[[str], str]) -> str:
    def encode(part: Json) -> str:
        return write(text_of(part))

    name = encoded(parameter.name)
    if isinstance(value, Mapping):
        pairs = [(encode(key), encode(part)) for key, part in cast("Mapping[str, Json]", value).items()]
        listed = [f"{key}={part}" for key, part in pairs] if parameter.explode else [x for pair in pairs for x in pair]
    elif isinstance(value, list):
        listed = [encode(part) for part in cast("list[Json]", value)]
    else:
        listed = [encode(value)]
    match parameter.style:
        case "label":
            return "." + ("." if parameter.explode else ",").join(listed)
        case "matrix" if isinstance(value, Mapping) and parameter.explode:
            return "".join(f";{part}" for part in listed)
        case "matrix" if isinstance(value, list) and parameter.explode:
            return "".join(f";{name}={part}" for part in listed)
        case "matrix":
            return f";{name}={','.join(listed)}"
        case style:
            return _SEPARATOR.get(style, ",").join(listed)


def in_query(parameter: Parameter, value: Json) -> list[str]:
    """A value as pieces of a query string, encoded."""
    safe = _RESERVED if parameter.reserved else ""
    if parameter.style == "json":
        return [f"{encoded(parameter.name)}={encoded(_json(value), safe=safe)}"]
    if parameter.place == "querystring":
        return fields(value)
    return _pieces(parameter.name, value, parameter.style, parameter.explode, empty=parameter.empty, safe=safe)


def _pieces(name: str, value: Json, style: str, explode: bool, *, empty: bool = False, safe: str = "") -> list[str]:
    key = encoded(name)

    def write(part: Json) -> str:
        return encoded(text_of(part), safe=safe)

    if isinstance(value, Mapping):
        table = cast("Mapping[str, Json]", value)
        if style == "deepObject":
            return _deep(name, table, safe)
        if explode:
            return [f"{encoded(inner)}={write(part)}" for inner, part in table.items()]
        flat = [write(part) for pair in table.items() for part in pair]
        return [f"{key}={_SEPARATOR.get(style, ',').join(flat)}"] if flat or empty else []
    if isinstance(value, list):
        parts = [write(part) for part in cast("list[Json]", value)]
        if explode:
            return [f"{key}={part}" for part in parts] or ([f"{key}="] if empty else [])
        return [f"{key}={_SEPARATOR.get(style, ',').join(parts)}"] if parts or empty else []
    return [f"{key}={write(value)}"]


def _deep(name: str, table: Mapping[str, Json], safe: str) -> list[str]:
    found: list[str] = []
    for inner, part in table.items():
        path = f"{name}[{inner}]"
        if isinstance(part, Mapping):
            found += _deep(path, cast("Mapping[str, Json]", part), safe)
        elif isinstance(part, list):
            found += [f"{encoded(path)}={encoded(text_of(item), safe=safe)}" for item in cast("list[Json]", part)]
        else:
            found.append(f"{encoded(path)}={encoded(text_of(part), safe=safe)}")
    return found


def in_header(parameter: Parameter, name: str, value: Json) -> str:
    """A value as a header line's text.

    Raises:
        BadArgument: it holds a line break or another control character.
    """
    text = _json(value) if parameter.style == "json" else _expanded(parameter, value, str)
    if any(ord(char) < 32 and char != "\t" or ord(char) == 127 for char in text):
        raise BadArgument(name, "A header cannot hold line breaks or control characters.")
    # Header lines are Latin-1 at best (RFC 9110 section 5.5); anything else travels percent-encoded.
    return text if text.isascii() else encoded(text, safe=" !\"#$&'()*+,/:;<=>?@[\\]^`{|}~")


def in_cookie(parameter: Parameter, value: Json) -> list[str]:
    """A value as cookie pairs."""
    if parameter.style == "json":
        return [f"{encoded(parameter.name)}={encoded(_json(value))}"]
    return _pieces(parameter.name, value, "form", parameter.explode)


def fields(value: Json, encodings: Mapping[str, Encoding] | None = None) -> list[str]:
    """An object as the pieces of an `application/x-www-form-urlencoded` text; nested objects travel as JSON."""
    found: list[str] = []
    for name, part in cast("Mapping[str, Json]", value).items():
        encoding = (encodings or {}).get(name, Encoding())
        nested = isinstance(part, Mapping) and encoding.style != "deepObject"
        as_json = encoding.content_type is not None and "json" in encoding.content_type
        if nested or as_json:
            found.append(f"{encoded(name)}={encoded(_json(part))}")
        else:
            found += _pieces(name, part, encoding.style, encoding.explode)
    return found


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
