"""Editing a client's config as text: one member is put in or taken out, and every other byte stays as it is."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pegboard.config.clients.jsonc import plain

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s*")


class Member(NamedTuple):
    """A member of an object: its key, and where it stands in the text."""

    key: str
    start: int
    value: int
    end: int


def placed(text: str, keys: tuple[str, ...], name: str, raw: str) -> str:
    """The text with a member under a path of keys, put in as the first one, or in the place of the one of this name.

    Parameters:
        text: JSON with comments, or nothing.
        keys: the objects on the way; what is missing is made.
        name: the member's key.
        raw: the member's value as it is to stand there.

    Raises:
        ValueError: the text is no JSON object, or something else stands on the way.
    """
    strict = plain(text)
    if not strict.strip():
        return f"{text}{_nested((*keys, name), raw, '', _unit(text), _newline(text))}{_newline(text)}"
    at, left = _descend(strict, keys)
    known = next((member for member in _members(strict, at) if not left and member.key == name), None)
    if known is not None:
        return text[: known.value] + raw + text[known.end :]
    inner = _nested((*left, name), raw, _indent(text, at), _unit(text), _newline(text))
    return _inserted(text, strict, at, inner[1:-1].rstrip())


def found(text: str, keys: tuple[str, ...], name: str) -> str | None:
    """The value of a member as it stands in the text; None if it is not there.

    Raises:
        ValueError: the text is no JSON object, or something else stands on the way.
    """
    member = _find(plain(text), keys, name)
    return None if member is None else text[member.value : member.end]


def removed(text: str, keys: tuple[str, ...], name: str) -> str:
    """The text without a member, and without the comma that it needed.

    Raises:
        ValueError: the text is no JSON object, or something else stands on the way.
    """
    strict = plain(text)
    member = _find(strict, keys, name)
    if member is None:
        return text
    end = _skip(text, member.end)
    after = _skip(strict, member.end)
    start = len(text[: member.start].rstrip())
    if strict[after] == ",":
        return text[:start] + text[member.end : after] + text[after + 1 :]
    if text[end : end + 1] == ",":
        return text[:start] + text[end + 1 :]
    before = len(strict[: member.start].rstrip()) - 1
    if strict[before] == ",":
        return text[:before] + text[before + 1 : start] + text[member.end :]
    return text[:start] + text[member.end :]


def rendered(text: str, keys: tuple[str, ...], value: Any) -> str:
    """A value as it is written into this text, indented as the text is."""
    strict = plain(text)
    outer, left = "", keys
    if strict.strip():
        at, left = _descend(strict, keys)
        outer = _indent(text, at)
    unit = _unit(text)
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return f"{_newline(text)}{outer}{unit * (len(left) + 1)}".join(lines)


def _find(strict: str, keys: tuple[str, ...], name: str) -> Member | None:
    if not strict.strip():
        return None
    at, left = _descend(strict, keys)
    return next((member for member in _members(strict, at) if not left and member.key == name), None)


def _descend(strict: str, keys: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """The innermost object on a path that is there, and the keys that are left."""
    at = _object(strict, _skip(strict, 0), "the file")
    for number, key in enumerate(keys):
        member = next((member for member in _members(strict, at) if member.key == key), None)
        if member is None:
            return at, keys[number:]
        at = _object(strict, member.value, key)
    return at, ()


def _object(strict: str, at: int, what: str) -> int:
    if strict[at : at + 1] != "{":
        raise ValueError(f"{what} is no object")
    _DECODER.raw_decode(strict, at)
    return at


def _members(strict: str, at: int) -> Iterator[Member]:
    at = _skip(strict, at + 1)
    while strict[at] == '"':
        key, colon = _DECODER.raw_decode(strict, at)
        value = _skip(strict, _skip(strict, colon) + 1)
        end = _DECODER.raw_decode(strict, value)[1]
        yield Member(key, at, value, end)
        at = _skip(strict, end)
        at = _skip(strict, at + 1) if strict[at] == "," else at


def _inserted(text: str, strict: str, at: int, inner: str) -> str:
    """The text with a first member in the object at `at`; a comment behind its brace stays there."""
    first = next(_members(strict, at), None)
    closing = _skip(strict, at + 1)
    where = at + 1
    line = re.compile(r"[^\r\n]*").match(text, where)
    rest = line[0] if line else ""
    if not strict[where : where + len(rest)].strip() and rest.count("/*") == rest.count("*/"):
        where += len(rest)
    if first is not None:
        gap = "" if text[where : where + 1].isspace() else " "
        return f"{text[:where]}{inner},{gap}{text[where:]}"
    tail = "" if re.search(r"[\r\n]", text[where:closing]) else _newline(text) + _indent(text, at)
    return f"{text[:where]}{inner}{tail}{text[where:]}"


def _nested(keys: tuple[str, ...], raw: str, outer: str, unit: str, newline: str) -> str:
    """Objects in objects, around a value."""
    if not keys:
        return raw
    inner = _nested(keys[1:], raw, outer + unit, unit, newline)
    return f"{{{newline}{outer}{unit}{json.dumps(keys[0])}: {inner}{newline}{outer}}}"


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _indent(text: str, at: int) -> str:
    """The white space at the start of the line of a position."""
    line = text[: at + 1].rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of the text's indentation."""
    step = re.search(r"^(\t|  +)\S", text, re.MULTILINE)
    return step[1] if step else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
