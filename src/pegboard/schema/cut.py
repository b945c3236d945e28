"""Cut a JSON value down to a size: it stays valid JSON, of the same kinds in the same places as far as possible."""

import json
import marshal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pegboard.schema.types import Json, pointer

_MAX_TOLD = 20
_ELLIPSIS = "… [{} of {} bytes]"
_ROOM_FOR_ELLIPSIS = 40
"""What the mark of a cut text takes at most: two numbers of up to ten digits, and the words."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One place that was cut.

    Parameters:
        pointer: the JSON pointer of the place.
        message: what was kept of it.
    """

    pointer: str
    message: str


def json_text(value: Json) -> str:
    """The compact JSON text of a value, in the order of its keys. What UTF-8 cannot carry is escaped.

    A value that has no JSON text, since it is nested too deeply or holds itself, is told as a text that says so.
    """
    try:
        text = _encode(value)
    except (RecursionError, ValueError) as problem:
        return json.dumps(f"[not JSON: {problem}]")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def byte_size(text: str) -> int:
    """How many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "backslashreplace"))


def surely_fits(value: Json, limit: int) -> bool:
    """Whether a value's JSON certainly takes at most so many bytes, told without writing it.

    It is a quick bound: a value near the limit may fit and not be told so.
    """
    try:
        # Marshal's second form writes every member anew, at memory speed: a text in UTF-8, a number or constant in
        # as many bytes as it needs. The JSON of none of them is longer than six times that (`\\u001f`, `false,`).
        return 6 * len(marshal.dumps(value, 2)) <= limit
    except ValueError:
        return False


def cut_text(text: str, limit: int) -> str:
    """The start of a text that takes at most so many bytes of UTF-8; no character is split."""
    if byte_size(text) <= limit:
        return text
    return text.encode("utf-8", "backslashreplace")[: max(limit, 0)].decode("utf-8", "ignore")


def cut_value(value: Json, limit: int) -> tuple[Json, tuple[Cut, ...]]:
    """A value whose JSON takes at most so many bytes, and what was cut.

    Long texts keep their start and get a mark; lists keep their first items; objects keep all keys as long as those
    fit, and share what room there is so that short members stay whole.

    Parameters:
        value: any JSON value.
        limit: bytes of compact UTF-8 JSON; at least 4, the size of `null`.
    """
    try:
        whole = _Sized.of(value)
        cuts: list[Cut] = []
        kept = _fit(whole, limit, (), cuts)
    except RecursionError:
        return None, (Cut("", "nothing was kept: it is nested too deeply"),)
    if byte_size(json_text(kept)) > limit:
        return None, (Cut("", f"nothing was kept of {whole.size} bytes"),)
    if len(cuts) > _MAX_TOLD:
        cuts = [*cuts[:_MAX_TOLD], Cut("", f"{len(cuts) - _MAX_TOLD} more places were cut")]
    return kept, tuple(cuts)


@dataclass(slots=True)
class _Sized:
    """A value with the size of its JSON, and its members sized."""

    value: Json
    size: int
    members: "dict[str, _Sized] | list[_Sized] | None" = None

    @classmethod
    def of(cls, value: Json) -> "_Sized":
        if isinstance(value, Mapping):
            members = {key: cls.of(inner) for key, inner in cast("Mapping[str, Any]", value).items()}
            inside = sum(_key_size(key) + member.size for key, member in members.items())
            return cls(value, 2 + inside + max(len(members) - 1, 0), members)
        if isinstance(value, (list, tuple)):
            items = [cls.of(inner) for inner in cast("list[Any]", value)]
            return cls(value, 2 + sum(item.size for item in items) + max(len(items) - 1, 0), items)
        return cls(value, byte_size(json_text(value)))


def _key_size(key: str) -> int:
    return byte_size(json_text(key)) + 1


_Path = tuple[str | int, ...]


def _fit(sized: _Sized, limit: int, path: _Path, cuts: list[Cut]) -> Json:
    if sized.size <= limit:
        return sized.value
    if isinstance(sized.value, str):
        return _fit_text(sized, limit, path, cuts)
    if isinstance(sized.members, dict):
        return _fit_object(sized.members, limit, path, cuts)
    if isinstance(sized.members, list):
        return _fit_list(sized.members, limit, path, cuts)
    cuts.append(Cut(pointer(*path), f"left out ({sized.size} bytes)"))
    return None


def _fit_text(sized: _Sized, limit: int, path: _Path, cuts: list[Cut]) -> Json:
    text = cast("str", sized.value)
    total = byte_size(text)
    start = cut_text(text, limit - 2 - _ROOM_FOR_ELLIPSIS)
    while start and byte_size(json_text(start)) > limit - _ROOM_FOR_ELLIPSIS:  # escapes take more than they show
        over = byte_size(json_text(start)) - (limit - _ROOM_FOR_ELLIPSIS)
        start = start[: -max(over // 6, 1)]
    cuts.append(Cut(pointer(*path), f"kept {byte_size(start)} of {total} bytes of text"))
    return start + _ELLIPSIS.format(byte_size(start), total) if limit >= _ROOM_FOR_ELLIPSIS + 2 else ""


def _fit_list(items: list[_Sized], limit: int, path: _Path, cuts: list[Cut]) -> Json:
    kept: list[Json] = []
    left = limit - 2
    for index, item in enumerate(items):
        comma = 1 if kept else 0
        if item.size + comma > left:
            if not kept and left > _ROOM_FOR_ELLIPSIS:
                kept.append(_fit(item, left, (*path, index), cuts))
            break
        kept.append(item.value)
        left -= item.size + comma
    cuts.append(Cut(pointer(*path), f"kept {len(kept)} of {len(items)} items"))
    return kept


def _fit_object(members: dict[str, _Sized], limit: int, path: _Path, cuts: list[Cut]) -> Json:
    chosen = _keys_that_fit(members, limit)
    if len(chosen) < len(members):
        cuts.append(Cut(pointer(*path), f"kept {len(chosen)} of {len(members)} keys"))
    left = limit - 2 - sum(_key_size(key) for key in chosen) - max(len(chosen) - 1, 0)
    room: dict[str, int] = {}
    for done, key in enumerate(sorted(chosen, key=lambda key: members[key].size)):
        room[key] = min(members[key].size, left // (len(chosen) - done))
        left -= room[key]
    return {key: _fit(members[key], room[key], (*path, key), cuts) for key in chosen}


def _keys_that_fit(members: dict[str, _Sized], limit: int) -> list[str]:
    """The first keys that fit with the least that each may hold (`null`, or less where the value is less)."""
    chosen: list[str] = []
    left = limit - 2
    for key, member in members.items():
        left -= _key_size(key) + min(member.size, 4) + (1 if chosen else 0)
        if left < 0:
            break
        chosen.append(key)
    return chosen
