"""Tool rows in a text: a `tools/list` answer, an array, JSON Lines, or a provider's own groups of tools."""

import json
from collections.abc import Iterator
from typing import Any

from pegboard.schema.types import Json, as_list, as_object

_GROUPS = ("functionDeclarations", "function_declarations")
"""Under which Gemini keeps a tool's functions."""


def each_row(text: str) -> Iterator[tuple[Json, str]]:
    """Each tool row of a text, with an empty text; or None, and why a line is none.

    A line ends where JSON Lines ends it: other separators of lines (U+2028, U+0085) may stand inside of a JSON text.

    Parameters:
        text: what was read; a byte order mark at its front is skipped.
    """
    text = text.removeprefix("\ufeff")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _each_line(text)
    else:
        for value in as_list(whole) if isinstance(whole, list) else [whole]:
            yield from ((row, "") for row in members(value))


def each_value(text: str) -> Iterator[tuple[Json, str]]:
    """Each value of a text that is one JSON value, an array of them or JSON Lines; as `each_row` gives rows."""
    text = text.removeprefix("\ufeff")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _parsed(text)
    else:
        yield from ((value, "") for value in (as_list(whole) if isinstance(whole, list) else [whole]))


def members(value: Json) -> list[Json]:
    """The rows that one value holds: those of a listing, a namespace or a group of functions, else itself alone.

    A row out of a namespace carries its name as `namespace`, unless it names one of its own.
    """
    found = answer(value)
    if found.get("type") != "namespace" and isinstance(found.get("tools"), list):
        return [row for part in as_list(found["tools"]) for row in _of_group(part)]
    return _of_group(value)


def _of_group(value: Json) -> list[Json]:
    found = as_object(value)
    if found.get("type") == "namespace" and isinstance(found.get("tools"), list):
        within = {"namespace": found.get("name")}
        return [{**within, **as_object(row)} if isinstance(row, dict) else row for row in as_list(found["tools"])]
    groups = [key for key in _GROUPS if isinstance(found.get(key), list)]
    return [row for key in groups for row in as_list(found[key])] if groups else [value]


def answer(value: Json) -> dict[str, Any]:
    """The object, or what it carries as a JSON-RPC result."""
    frame = as_object(value)
    inner = frame.get("result", frame)
    return as_object(inner)


def _each_line(text: str) -> Iterator[tuple[Json, str]]:
    for value, fault in _parsed(text):
        yield from ((row, "") for row in members(value)) if not fault else [(None, fault)]


def _parsed(text: str) -> Iterator[tuple[Json, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line), ""
            except (ValueError, RecursionError) as error:
                yield None, f"line {number} is no JSON: {error}"
