"""Rewritings of values that a lowered shape asks for, each with its way back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pegboard.schema.types import Json, as_object, canonical


@dataclass(frozen=True)
class Text:
    """A value written as JSON text. A text that is no JSON stands for itself."""

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape."""
        return canonical(value)

    def raised(self, value: Json) -> Json:
        """The value in the author's shape."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value


@dataclass(frozen=True)
class Boxed:
    """A value in an object with one key, so that it is told from the other branches of its union."""

    key: str

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape."""
        return {self.key: value}

    def raised(self, value: Json) -> Json:
        """The value in the author's shape."""
        box = as_object(value)
        return box[self.key] if box.keys() == {self.key} else value


@dataclass(frozen=True)
class Entries:
    """A map written as a list of entries, each with `key` and `value`."""

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape."""
        if not isinstance(value, dict):
            return value
        return [{"key": key, "value": item} for key, item in cast("dict[str, Any]", value).items()]

    def raised(self, value: Json) -> Json:
        """The value in the author's shape."""
        if not isinstance(value, list):
            return value
        rows = [as_object(row) for row in cast("list[Any]", value)]
        if not all(row.keys() == {"key", "value"} and isinstance(row["key"], str) for row in rows):
            return cast("Json", value)
        return {row["key"]: row["value"] for row in rows}


@dataclass(frozen=True)
class Extras:
    """The keys of an object that it does not declare, as a list of entries under a key of its own.

    Parameters:
        key: where the entries stand.
        declared: the keys that stay where they are.
    """

    key: str
    declared: frozenset[str]

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape."""
        table = as_object(value)
        kept = {key: item for key, item in table.items() if key in self.declared}
        more = {key: item for key, item in table.items() if key not in self.declared}
        return {**kept, self.key: Entries().lowered(more)} if more else value

    def raised(self, value: Json) -> Json:
        """The value in the author's shape."""
        table = as_object(value)
        if self.key not in table:
            return value
        more: Json = Entries().raised(table[self.key])
        if not isinstance(more, dict):
            return value
        return {**as_object(more), **{key: item for key, item in table.items() if key != self.key}}


@dataclass(frozen=True)
class Renamed:
    """Keys of an object that the dialect does not take, under other names.

    Parameters:
        names: the lowered name by the author's.
    """

    names: Mapping[str, str]

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape."""
        return _renamed(value, self.names)

    def raised(self, value: Json) -> Json:
        """The value in the author's shape."""
        return _renamed(value, {lowered: name for name, lowered in self.names.items()})


def _renamed(value: Json, names: Mapping[str, str]) -> Json:
    if not isinstance(value, dict):
        return value
    return {names.get(key, key): item for key, item in cast("dict[str, Any]", value).items()}


@dataclass(frozen=True)
class Settled:
    """A value that is in the lowered shape already, among values that are not.

    Parameters:
        value: the value.
    """

    value: Json


@dataclass(frozen=True)
class Nulls:
    """Absent keys of an object written as null.

    Parameters:
        keys: the optional keys.
        spelled: for keys whose null means something else than their absence: how that null is written.
    """

    keys: tuple[str, ...]
    spelled: Mapping[str, Settled]

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape."""
        if not isinstance(value, dict):
            return value
        table = dict(cast("dict[str, Any]", value))
        for key in self.keys:
            if key not in table:
                table[key] = None
            elif table[key] is None and key in self.spelled:
                table[key] = self.spelled[key]
        return table

    def raised(self, value: Json) -> Json:
        """The value in the author's shape."""
        if not isinstance(value, dict):
            return value
        table = dict(cast("dict[str, Any]", value))
        for key in self.keys:
            if table.get(key, 0) is None:
                del table[key]
            elif key in table and key in self.spelled and table[key] == self.spelled[key].value:
                table[key] = None
        return table
