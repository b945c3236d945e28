"""Which texts of a tool are searched, by field; whatever a definition holds, it never fails."""

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, cast

from pegboard.core import ToolSpec

DEPTH = 6
"""How deep nested schemas are read."""
NODES = 2000
"""How many schema nodes of one tool are read."""
LENGTH = 8000
"""How many characters of one text are read: what a description says, it says by then."""


class Field(IntEnum):
    """The searched fields, in the order in which they are explained."""

    NAME = 0
    TITLE = 1
    NAMESPACE = 2
    DESCRIPTION = 3
    PARAMETERS = 4
    PARAMETER_TEXT = 5
    VALUES = 6
    EXAMPLES = 7

    @property
    def label(self) -> str:
        """Its name in a `Hit`."""
        return _LABELS[self]


_LABELS = ("name", "title", "namespace", "description", "parameters", "parameter texts", "values", "examples")


def texts(spec: ToolSpec) -> list[tuple[Field, str]]:
    """The tool's searched texts, in a fixed order."""
    found = [
        (Field.NAME, spec.name.name),
        *((Field.NAME, alias) for alias in spec.aliases),
        (Field.TITLE, spec.title or ""),
        (Field.NAMESPACE, spec.name.namespace),
        (Field.NAMESPACE, spec.category or ""),
        (Field.DESCRIPTION, spec.description),
        *_schema_texts(spec.input),
        *((Field.EXAMPLES, text) for example in spec.examples for text in _strings(example, DEPTH)),
    ]
    return [(field, text[:LENGTH]) for field, text in found if text]


HEAD = 48
"""So many words of a description are read for its meaning: what follows is mostly usage."""


def passage(spec: ToolSpec) -> str:
    """The tool as one short text, the most telling first, for models that read text and not fields."""
    head, parameters = gist(spec)
    return f"{head} ({parameters})" if parameters else head


def gist(spec: ToolSpec) -> tuple[str, str]:
    """What the tool is, as one short text, and the names of its first parameters."""
    name = " ".join(part for part in (spec.name.namespace, *spec.aliases, spec.name.name) if part)
    shown = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", re.sub(r"[_\-./]+", " ", name[:200]))
    told = (f"{spec.title}. " if spec.title else "") + " ".join(spec.description[:2000].split()[:HEAD])
    return f"{shown}: {told[:400]}", ", ".join(str(name) for name in list(spec.properties)[:8])


def _schema_texts(schema: Any) -> Iterator[tuple[Field, str]]:
    """Parameter names, descriptions and values, breadth first, so that a huge schema is cut at its depths."""
    queue: list[tuple[Any, int]] = [(schema, 0)]
    read = 0
    for node, depth in queue:
        read += 1
        if read > NODES:
            return
        if isinstance(node, str):
            yield Field.PARAMETER_TEXT, node
        if not isinstance(node, Mapping):
            continue
        node = cast("Mapping[str, Any]", node)
        if depth:
            yield from _node_texts(node)
        for name, child in _children(node):
            if name:
                yield Field.PARAMETERS, name
            if depth < DEPTH:
                queue.append((child, depth + 1))


def _node_texts(node: Mapping[str, Any]) -> Iterator[tuple[Field, str]]:
    for key in ("title", "description"):
        if isinstance(node.get(key), str):
            yield Field.PARAMETER_TEXT, node[key]
    values = node.get("enum")
    if isinstance(values, list):
        for value in cast("list[Any]", values)[:50]:
            if isinstance(value, str):
                yield Field.VALUES, value


def _children(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Named children (properties) and nameless ones (items, branches)."""
    properties = node.get("properties")
    if isinstance(properties, Mapping):
        yield from ((str(name), child) for name, child in cast("Mapping[Any, Any]", properties).items())
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), Mapping):
            yield "", node[key]
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        branches = node.get(key)
        if isinstance(branches, list):
            yield from (("", branch) for branch in cast("list[Any]", branches))


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for child in cast("Mapping[Any, Any]", value).values():
            yield from _strings(child, depth - 1)
    elif depth and isinstance(value, list):
        for child in cast("list[Any]", value)[:20]:
            yield from _strings(child, depth - 1)
