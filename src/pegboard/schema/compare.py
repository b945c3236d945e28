"""Where two JSON values differ."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import cast

from pegboard.schema.types import Json, pointer

ABSENT = "(absent)"
"""Stands for a member that one of the values does not have."""


def differences(before: Json, after: Json, *, limit: int = 50) -> list[tuple[str, Json, Json]]:
    """The places where two values differ, as JSON Pointer, old and new; at most `limit` of them, in order."""
    return list(islice(_differences(before, after, ()), limit))


def _differences(before: Json, after: Json, path: tuple[str | int, ...]) -> Iterator[tuple[str, Json, Json]]:
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        old, new = cast("Mapping[str, Json]", before), cast("Mapping[str, Json]", after)
        for key in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        left, right = cast("list[Json]", before), cast("list[Json]", after)
        for at in range(max(len(left), len(right))):
            yield from _differences(
                left[at] if at < len(left) else ABSENT, right[at] if at < len(right) else ABSENT, (*path, at)
            )
    elif isinstance(before, bool) is not isinstance(after, bool) or before != after:
        yield pointer(*path), before, after
