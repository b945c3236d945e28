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
    def _by_token(self) -> dict[str, list[tuple[str, int]]]:
        """The words by the first run of letters and digits in each, with where it begins; longer words first."""
        found: dict[str, list[tuple[str, int]]] = {}
        for word in sorted(self.table, key=lambda word: (-len(word), word)):
            token = _TOKEN.search(word)
            if token is not None:
                found.setdefault(token[0], []).append((word, token.start()))
        return found

    def text(self, text: str) -> str:
        """A text without the backend's words, in linear time.

        A word ends where no letter or digit follows: `USR_ID` does not stand in `USR_IDX`, but it does in `/USR_ID`.
        """
        if not self.table:
            return text
        parts: list[str] = []
        at = 0
        for token in _TOKEN.finditer(text):
            for word, offset in self._by_token.get(token[0], ()):
                start = token.start() - offset
                if start >= at and text.startswith(word, start) and _ends(text, start + len(word), word):
                    parts += [text[at:start], self.table[word]]
                    at = start + len(word)
                    break
        return "".join([*parts, text[at:]]) if parts else text

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


_TOKEN = re.compile(r"\w+")


def _ends(text: str, end: int, word: str) -> bool:
    return end >= len(text) or not (_TOKEN.match(word[-1]) and _TOKEN.match(text[end]))


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
