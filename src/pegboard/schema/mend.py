"""Mend arguments that have exactly one reading, and say so; leave all others as they are."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pegboard.schema.admit import Place, kind_of
from pegboard.schema.types import Json, Schema, pointer
from pegboard.schema.validate import MAX_DEPTH, validator


@dataclass(frozen=True, slots=True)
class Mended:
    """One place that was mended.

    Parameters:
        pointer: the JSON pointer of the place, in the mended value.
        message: what was sent and how it was read.
    """

    pointer: str
    message: str


def mend(schema: Schema, arguments: Json) -> tuple[Json, tuple[Mended, ...]]:
    """Read what was meant, where only one thing can have been meant.

    A text is read as JSON (an object, array, number, boolean or null) where a text is not allowed; a single value
    becomes a list of it where only a list is allowed. The whole of the arguments may itself be such a text.
    What is valid is never touched; if the result would not be valid, the original comes back.

    Parameters:
        schema: the author's schema.
        arguments: what was sent.

    Returns:
        The arguments, mended or as they came, and what was done.
    """
    judge = validator(schema)
    if judge.is_valid(arguments):
        return arguments, ()
    changes: list[Mended] = []
    try:
        mended = _mend(arguments, Place.at_root(schema), (), changes)
    except RecursionError:
        return arguments, ()
    if changes and judge.is_valid(mended):
        return mended, tuple(changes)
    return arguments, ()


_Path = tuple[str | int, ...]


def _mend(value: Json, place: Place, path: _Path, changes: list[Mended]) -> Json:
    if len(path) > MAX_DEPTH:
        return value
    kinds = place.kinds
    if isinstance(value, str) and "string" not in kinds:
        value = _read(value, kinds, path, changes)
    if kinds == frozenset({"array"}) and kind_of(value) not in ("array", "null") and not _is_listing(value, place):
        changes.append(Mended(pointer(*path), f"a single {kind_of(value)} was read as a list of it"))
        value = [value]
    return _mend_members(value, place, path, changes)


def _mend_members(value: Json, place: Place, path: _Path, changes: list[Mended]) -> Json:
    """The same container where nothing in it was mended, else a copy."""
    before = len(changes)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        made = {key: _mend(inner, place.child(value, key), (*path, key), changes) for key, inner in members.items()}
        return made if len(changes) > before else members
    if isinstance(value, list):
        items = cast("list[Any]", value)
        new = [_mend(inner, place.child(value, index), (*path, index), changes) for index, inner in enumerate(items)]
        return new if len(changes) > before else items
    return value


def _read(text: str, kinds: frozenset[str], path: _Path, changes: list[Mended]) -> Json:
    for value in _readings(text):
        if kind_of(value) in kinds:
            changes.append(Mended(pointer(*path), f"a text was read as the JSON {kind_of(value)} that it spells"))
            return value
    return text


def _is_listing(value: Json, place: Place) -> bool:
    """Whether a text may stand for several items (`a, b`): then a list of one is only one of its readings."""
    if not isinstance(value, str):
        return False
    return any(mark in value for mark in ",;\n|\t") or not value.strip()


def _readings(text: str) -> Iterator[Json]:
    """The JSON value that a text spells, if it spells exactly one."""
    try:
        yield json.loads(text, object_pairs_hook=_unambiguous, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("the same key twice has two readings")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is beyond every number")
    return value
