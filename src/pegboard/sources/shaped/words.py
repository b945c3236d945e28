"""The backend's words, kept out of what models read: renamed ones are translated, hidden ones masked."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from pegboard.schema.types import Json, JsonObject

MASK = "…"
"""What stands for a hidden word."""


@dataclass(frozen=True)
class Words:
    """What each word of the backend is called with us.

    Parameters:
        renamed: our word by the backend's.
        hidden: the backend's words that nobody shall read.
        shown: our words, which stay as they are.
    """

    renamed: Mapping[str, str]
    hidden: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()

    @cached_property
    def table(self) -> dict[str, str]:
        """What stands for each word."""
        masked = {word: MASK for word in self.hidden if word and word not in self.shown}
        return {**masked, **{old: new for old, new in self.renamed.items() if old and old != new}}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = sorted(self.table, key=lambda word: (-len(word), word))
        # A word ends where no letter or digit follows: `USR_ID` does not stand in `USR_IDX`, but it does in `/USR_ID`.
        return re.compile("|".join(f"{_edge(word[0], '<!')}{re.escape(word)}{_edge(word[-1], '!')}" for word in words))

    def text(self, text: str) -> str:
        """A text without the backend's words."""
        return self._pattern.sub(lambda found: self.table[found[0]], text) if self.table else text

    def value(self, value: Json) -> Json:
        """A JSON value without them, in keys and texts."""
        if not self.table:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(part) for key, part in cast("JsonObject", value).items()}
        if isinstance(value, list | tuple):
            return [self.value(part) for part in cast("list[Json]", value)]
        return value

    def schema(self, node: Json) -> Json:
        """A schema without them in the texts that people and models read: titles, descriptions, comments."""
        if isinstance(node, Mapping):
            table = cast("JsonObject", node)
            return {
                key: self.text(part) if key in _SAID and isinstance(part, str) else self.schema(part)
                for key, part in table.items()
            }
        if isinstance(node, list):
            return [self.schema(part) for part in cast("list[Json]", node)]
        return node


_SAID = ("title", "description", "$comment", "deprecationMessage", "markdownDescription")


def _edge(char: str, side: str) -> str:
    return rf"(?{side}\w)" if re.match(r"\w", char) else ""


def property_names(schema: Json) -> Iterable[str]:
    """Every name of a property in a schema, at any depth."""
    if isinstance(schema, Mapping):
        table = cast("JsonObject", schema)
        properties: Any = table.get("properties")
        if isinstance(properties, Mapping):
            yield from cast("JsonObject", properties)
        for part in table.values():
            yield from property_names(part)
    elif isinstance(schema, list):
        for part in cast("list[Json]", schema):
            yield from property_names(part)
