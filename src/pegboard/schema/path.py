"""Paths into records (`USR.ID`, `rows[0].name`, `"a.b"`): read, followed and filled."""

import json
import re
from dataclasses import dataclass
from typing import Any

from pegboard.errors import DefinitionError
from pegboard.schema.embed import at_path
from pegboard.schema.types import Json, Schema, as_list

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^.\[\]"]+|\[\d+\]')
_FARTHEST = 1_000


@dataclass(frozen=True, slots=True)
class Path:
    """A path. Make it with `read_path`.

    Parameters:
        text: as written.
        keys: names of members and numbers of items.
    """

    text: str
    keys: tuple[str | int, ...]

    @property
    def last(self) -> str:
        """The last name in it."""
        return next((key for key in reversed(self.keys) if isinstance(key, str)), self.text)

    def get(self, record: Json) -> tuple[bool, Json]:
        """Whether it leads anywhere in a record, and where to."""
        value: Any = record
        for key in self.keys:
            holder: Any = value
            try:
                if isinstance(value, dict if isinstance(key, str) else list):
                    value = holder[key]
                    continue
            except (KeyError, IndexError):
                pass
            return False, None
        return True, value

    def put(self, record: dict[str, Json], value: Json) -> None:
        """Write a value into a record, making what is missing on the way there."""
        holder: Any = record
        for key, following in zip(self.keys, self.keys[1:], strict=False):
            holder = _entered(holder, key, [] if isinstance(following, int) else {})
        last = self.keys[-1]
        if isinstance(last, int):
            _entered(holder, last, None)
        holder[last] = value

    def is_required(self, schema: Schema, root: Schema) -> bool:
        """Whether every record of a schema has what it leads to."""
        whole = {**root, **schema} if root is not schema else schema
        for depth, key in enumerate(self.keys):
            node = at_path(whole, self.keys[:depth])
            if node is None or not isinstance(key, str) or key not in as_list(_direct(whole, node).get("required")):
                return False
        return bool(self.keys)


def _direct(root: Schema, node: Schema) -> Schema:
    from pegboard.schema.walk import ref_target

    reference = node.get("$ref")
    return ref_target(dict(root), reference) or {} if isinstance(reference, str) else node


def _entered(holder: Any, key: str | int, fresh: Json) -> Any:
    if isinstance(key, int):
        holder.extend([None] * (key + 1 - len(holder)))
        holder[key] = fresh if holder[key] is None else holder[key]
    else:
        holder.setdefault(key, fresh)
    return holder[key]


def read_path(text: str, where: str) -> Path:
    """Read a path; a name that holds a dot or bracket stands in double quotes.

    Raises:
        DefinitionError: it is none.
    """
    keys: list[str | int] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            break
        part = found[0]
        keys.append(int(part[1:-1]) if part[0] == "[" else json.loads(part) if part[0] == '"' else part)
        at = found.end()
        if at < len(text) - 1 and text[at] == ".":
            at += 1
        elif at < len(text) and text[at] != "[":
            break
    too_far = any(isinstance(key, int) and key > _FARTHEST for key in keys)
    if at < len(text) or not keys or not isinstance(keys[0], str) or too_far:
        raise DefinitionError(
            f"{text!r} is no path.", where=where, next_step='Write for example "user.name" or "rows[0].id".'
        )
    return Path(text, tuple(keys))
