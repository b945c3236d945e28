"""Which texts of a tool are searched, by field; whatever a definition holds, it never fails."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import islice
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
        (_NAME, spec.name.name),
        *[(_NAME, alias) for alias in spec.aliases],
        (_TITLE, spec.title or ""),
        (_NAMESPACE, spec.name.namespace),
        (_NAMESPACE, spec.category or ""),
        (_DESCRIPTION, spec.description),
        *_schema_texts(spec.input),
        *[(Field.EXAMPLES, text) for example in spec.examples for text in _strings(example, DEPTH)],
    ]
    return [(field, text[:LENGTH]) for field, text in found if text]


_NAME, _TITLE, _NAMESPACE, _DESCRIPTION = Field.NAME, Field.TITLE, Field.NAMESPACE, Field.DESCRIPTION


HEAD = 48
"""So many words of a description are read for its meaning: what follows is mostly usage."""


def passage(spec: ToolSpec) -> str:
    """The tool as one short text, the most telling first, for models that read text and not fields."""
    head, parameters = gist(spec)
    return f"{head} ({parameters})" if parameters else head


def gist(spec: ToolSpec) -> tuple[str, str]:
    """What the tool is, as one short text, and the names of its first parameters."""
    name = spec.name
    shown = _SEPARATED.sub(" ", " ".join(filter(None, (name.namespace, *spec.aliases, name.name)))[:200])
    if not shown.islower():
        shown = _CAMEL.sub(r"\1 \2", shown)
    told = " ".join(spec.description[:2000].split(None, HEAD)[:HEAD])
    if spec.title:
        told = f"{spec.title}. {told}"
    return f"{shown}: {told[:400]}", ", ".join(map(str, islice(spec.properties, 8)))


_SEPARATED = re.compile(r"[_\-./]+")
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
_BRANCHES = ("anyOf", "oneOf", "allOf", "prefixItems")
_ITEMS = ("items", "additionalProperties")
_NESTED = frozenset(("properties", *_ITEMS, *_BRANCHES))


def _schema_texts(schema: Any) -> list[tuple[Field, str]]:
    """Parameter names, descriptions and values, breadth first, so that a huge schema is cut at its depths."""
    found: list[tuple[Field, str]] = []
    queue: list[tuple[Any, int]] = [(schema, 0)]
    for read, (node, depth) in enumerate(queue, 1):
        if read > NODES:
            break
        if isinstance(node, str):
            found.append((_PARAMETER_TEXT, node))
        elif isinstance(node, (dict, Mapping)):
            node = cast("Mapping[str, Any]", node)
            if depth:
                _node_texts(node, found)
            if not _NESTED.isdisjoint(node):
                for name, child in _children(node):
                    if name:
                        found.append((_PARAMETERS, name))
                    if depth < DEPTH:
                        queue.append((child, depth + 1))
    return found


_PARAMETERS, _PARAMETER_TEXT, _VALUES = Field.PARAMETERS, Field.PARAMETER_TEXT, Field.VALUES


def _node_texts(node: Mapping[str, Any], found: list[tuple[Field, str]]) -> None:
    for key in ("title", "description"):
        if isinstance(text := node.get(key), str):
            found.append((_PARAMETER_TEXT, text))
    if isinstance(values := node.get("enum"), list):
        found += [(_VALUES, value) for value in cast("list[Any]", values)[:50] if isinstance(value, str)]


def _children(node: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    """Named children (properties) and nameless ones (items, branches)."""
    properties = node.get("properties")
    found = list(cast("Mapping[Any, Any]", properties).items()) if isinstance(properties, (dict, Mapping)) else []
    found = [(str(name), child) for name, child in found]
    for key in _ITEMS:
        if isinstance(child := node.get(key), (dict, Mapping)):
            found.append(("", cast("Any", child)))
    for key in _BRANCHES:
        if isinstance(branches := node.get(key), list):
            found += [("", branch) for branch in cast("list[Any]", branches)]
    return found


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for child in cast("Mapping[Any, Any]", value).values():
            yield from _strings(child, depth - 1)
    elif depth and isinstance(value, list):
        for child in cast("list[Any]", value)[:20]:
            yield from _strings(child, depth - 1)
