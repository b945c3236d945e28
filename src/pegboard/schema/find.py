"""Finding ids in whatever a tool answered: by a small pattern language that is linear in time."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import cast

from pegboard.schema.types import Json

_PART = re.compile(
    r"(\[(?:\\.|[^\]\\^])(?:\\.|[^\]\\])*\]|\\[^a-zA-Z0-9]|[^\\\[\](){}|*+?.^$])(\{\d{1,4}(?:,\d{1,4})?\})?"
)
_DIGIT = re.compile("[0-9]")
LONGEST = 256
"""Characters of a pattern."""


def find_all(value: Json, pattern: str) -> list[Json]:
    """The texts in a value that match a pattern as whole words, each once, in order.

    A text that matches as a whole comes before any part of another text: an id beside prose is the id. Keys of objects
    count where they hold a digit.

    Parameters:
        value: a text, or anything that holds texts.
        pattern: literal characters and classes such as `[0-9a-f]`, each with `{n}` or (one of them) `{n,m}` after it.

    Raises:
        ValueError: the pattern is none of this language.
    """
    expression = _compiled(pattern)
    texts = list(_texts(value))
    whole = [text.strip() for text in texts if expression.fullmatch(text.strip())]
    parts = [found[0] for text in texts for found in expression.finditer(text)]
    return list(dict.fromkeys((*whole, *parts)))


def find(value: Json, pattern: str) -> Json:
    """The first text in a value that matches a pattern, rather one with a digit than a mere word; or null."""
    found = find_all(value, pattern)
    return next((text for text in found if _DIGIT.search(text)), found[0] if found else None)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    at = ranges = 0
    while at < len(pattern):
        part = _PART.match(pattern, at)
        ranges += bool(part and "," in (part[2] or ""))
        if part is None or ranges > 1 or len(pattern) > LONGEST:
            raise ValueError(
                f"a pattern is made of characters and classes like [0-9]{{4}}, not {pattern[at : at + 20]!r}"
            )
        at = part.end()
    if not pattern:
        raise ValueError("a pattern must not be empty")
    return re.compile(rf"(?<!\w){pattern}(?!\w)" if pattern[0] not in "\\" else rf"{pattern}(?!\w)")


def _texts(value: Json) -> Iterator[str]:
    stack: list[Json] = [value]
    while stack:
        inner = stack.pop()
        if isinstance(inner, Mapping):
            for key, item in reversed(list(cast("Mapping[str, Json]", inner).items())):
                stack.append(item)
                if _DIGIT.search(str(key)):
                    stack.append(str(key))
        elif isinstance(inner, list):
            stack.extend(reversed(cast("list[Json]", inner)))
        elif inner is not None and not isinstance(inner, bool):
            yield str(inner)
