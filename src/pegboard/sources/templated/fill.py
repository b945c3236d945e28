"""`{{name}}` in templates, replaced by arguments: text in text, whole values where a text is one placeholder."""

import json
import re
from collections.abc import Callable, Mapping
from typing import cast

from pegboard.schema.types import Json, JsonObject

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}")


class Missing(KeyError):
    """A placeholder's argument was not given."""


def placeholders(template: Json) -> list[str]:
    """The names of the placeholders in a template, each once, in order."""
    if isinstance(template, str):
        return list(dict.fromkeys(_PLACEHOLDER.findall(template)))
    parts: list[Json] = []
    if isinstance(template, Mapping):
        parts = list(cast("Mapping[str, Json]", template).values())
    elif isinstance(template, list | tuple):
        parts = list(cast("list[Json]", template))
    return list(dict.fromkeys(name for part in parts for name in placeholders(part)))


def text_of(value: Json) -> str:
    """A value as text: strings bare, booleans in lower case, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fill_text(template: str, arguments: JsonObject, encode: Callable[[str], str] = str) -> str:
    """A text with its placeholders replaced. Raises `Missing` for an argument that was not given."""

    def put(found: re.Match[str]) -> str:
        if found[1] not in arguments:
            raise Missing(found[1])
        return encode(text_of(arguments[found[1]]))

    return _PLACEHOLDER.sub(put, template)


def fill(template: Json, arguments: JsonObject) -> Json:
    """A value with its placeholders replaced; members whose argument was not given are left out.

    A text that is one placeholder becomes the argument itself, with its type.
    """
    if isinstance(template, str):
        only = _PLACEHOLDER.fullmatch(template)
        if only is not None:
            if only[1] not in arguments:
                raise Missing(only[1])
            return arguments[only[1]]
        return fill_text(template, arguments)
    if isinstance(template, Mapping):
        found: dict[str, Json] = {}
        for key, part in cast("Mapping[str, Json]", template).items():
            try:
                found[key] = fill(part, arguments)
            except Missing:
                continue
        return found
    if isinstance(template, list | tuple):
        return [fill(part, arguments) for part in cast("list[Json]", template)]
    return template
