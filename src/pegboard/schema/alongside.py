"""A schema read alongside a value: which nodes judge the value, and which judge its parts."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from pegboard.schema.types import Json, JsonObject, Schema, as_list, as_object
from pegboard.schema.walk import IN_PLACE, ref_target

_IN_PLACE = IN_PLACE - {"not", "if", "dependentSchemas"}


def views(root: Schema, schema: Json) -> list[JsonObject]:
    """The node and every node that judges the same value: behind references, in `allOf`, `anyOf`, `then` ...

    Parameters:
        root: the whole schema, in which references lead.
        schema: the node.
    """
    return list(_views(dict(root), schema, frozenset()))


def _views(root: dict[str, Any], schema: Json, seen: frozenset[str]) -> Iterator[JsonObject]:
    if not isinstance(schema, dict):
        return
    node = cast("dict[str, Any]", schema)
    yield node
    ref = node.get("$ref")
    if isinstance(ref, str) and ref not in seen:
        seen |= {ref}
        yield from _views(root, ref_target(root, ref), seen)
    for keyword in sorted(_IN_PLACE & node.keys()):
        below = node[keyword]
        for child in cast("list[Json]", below) if isinstance(below, list) else [below]:
            yield from _views(root, child, seen)


def member(found: Sequence[JsonObject], key: str) -> Schema:
    """What judges a member of an object, as one node; empty where nothing does."""
    nodes: list[Json] = []
    for view in found:
        named = as_object(view.get("properties"))
        nodes.append(named[key] if key in named else view.get("additionalProperties"))
    return _either(nodes)


def item(found: Sequence[JsonObject], index: int) -> Schema:
    """What judges an item of a list, as one node; empty where nothing does."""
    nodes: list[Json] = []
    for view in found:
        front = as_list(view.get("prefixItems"))
        nodes.append(front[index] if index < len(front) else view.get("items"))
    return _either(nodes)


def _either(nodes: Sequence[Json]) -> Schema:
    real = [cast("Schema", node) for node in nodes if isinstance(node, dict)]
    return real[0] if len(real) == 1 else {"anyOf": real} if real else {}
