"""The JSON and JSON Schema vocabulary that every other room uses."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list, dict with string keys."""

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object that nobody changes in place."""

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema object node. Boolean schemas are repaired to object nodes on load."""


def canonical(value: Json) -> str:
    """The one text of a JSON value: sorted keys, no white space, UTF-8 (for digests and comparisons).

    Lone surrogates, which UTF-8 cannot carry, are escaped, so that every value has a text.
    """
    text = _encode(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode


def digest(value: Json) -> str:
    """A stable SHA-256 of a JSON value in hexadecimal; the same for any key order."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def pointer(*parts: str | int) -> str:
    """A JSON Pointer (RFC 6901) from its parts; the root is the empty string."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def as_list(value: Json) -> list[Any]:
    """The value where it is a list, else an empty list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_object(value: Json) -> dict[str, Any]:
    """The value where it is an object, else an empty object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
