"""Where schemas lie inside a schema, and how a local reference finds its target."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote, unquote

from pegboard.schema.types import Json, pointer

ONE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is one schema."""

MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""

NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is a table of schemas by name."""

IN_PLACE = frozenset({"allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"})
"""Keywords whose schemas judge the very value that the node judges."""

Path = tuple[str | int, ...]
Node = dict[str, Any]


def children(node: Mapping[str, Any]) -> Iterator[tuple[Path, Node]]:
    """The schemas directly below a node, each with its path from the node, in the node's order."""
    for keyword, value in node.items():
        if keyword in ONE:
            if isinstance(value, dict):
                yield (keyword,), cast("Node", value)
        elif keyword in MANY and isinstance(value, list):
            for index, child in enumerate(cast("list[Any]", value)):
                if isinstance(child, dict):
                    yield (keyword, index), cast("Node", child)
        elif keyword in NAMED and isinstance(value, dict):
            for name, child in cast("dict[str, Any]", value).items():
                if isinstance(child, dict):
                    yield (keyword, name), cast("Node", child)


def nodes(root: Node) -> Iterator[tuple[str, Node]]:
    """Every schema of a document with its JSON pointer, parents first, in the document's order."""
    stack: list[tuple[str, Node]] = [("", root)]
    while stack:
        at, node = stack.pop()
        yield at, node
        below = [(at + pointer(*path), child) for path, child in children(node)]
        stack.extend(reversed(below))


def map_children(node: Mapping[str, Any], change: Callable[[Node, Path], Json]) -> Node:
    """A copy of a node in which each schema directly below is replaced by what `change(child, path)` returns."""
    copy: Node = dict(node)
    for keyword, value in node.items():
        if keyword in ONE and isinstance(value, dict):
            copy[keyword] = change(cast("Node", value), (keyword,))
        elif keyword in MANY and isinstance(value, list):
            copy[keyword] = [
                change(cast("Node", child), (keyword, index)) if isinstance(child, dict) else child
                for index, child in enumerate(cast("list[Any]", value))
            ]
        elif keyword in NAMED and isinstance(value, dict):
            copy[keyword] = {
                name: change(cast("Node", child), (keyword, name)) if isinstance(child, dict) else child
                for name, child in cast("dict[str, Any]", value).items()
            }
    return copy


def tokens(text: str) -> list[str]:
    """The parts of a JSON pointer, unescaped (RFC 6901)."""
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]] if text else []


def look_up(root: Json, text: str) -> tuple[bool, Json]:
    """Follow a JSON pointer: whether it leads anywhere, and to what."""
    value = root
    for part in tokens(text):
        if isinstance(value, dict) and part in value:
            value = cast("dict[str, Any]", value)[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(part)]
        else:
            return False, None
    return True, value


def ref_to(text: str) -> str:
    """A local reference (URI fragment) to a JSON pointer."""
    return "#" + quote(text, safe="/~!$&'()*+,;=:@?-._")


def ref_pointer(ref: str) -> str | None:
    """The JSON pointer that a local reference stands for; None for an anchor or a remote reference."""
    if ref in ("", "#"):
        return ""
    return unquote(ref[1:]) if ref.startswith("#/") else None


def ref_target(root: Node, ref: str) -> Node | None:
    """The schema that a local reference names, or None."""
    place = ref_pointer(ref)
    if place is None:
        return None
    found, value = look_up(root, place)
    return cast("Node", value) if found and isinstance(value, dict) else None
