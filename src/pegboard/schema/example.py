"""One instance of a schema, to show how a tool is called: real names, likely values, nothing at random."""

from collections.abc import Mapping
from typing import Any, cast

from pegboard.schema.types import Json, as_list, as_object
from pegboard.schema.walk import Node, ref_target

DEPTH = 12
_OF_FORMAT: Mapping[str, str] = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T09:00:00Z",
    "time": "09:00:00Z",
    "email": "ann@example.org",
    "uri": "https://example.org/page",
    "url": "https://example.org/page",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "hostname": "example.org",
}
_OF_NAME: Mapping[str, str] = {
    "url": "https://example.org/page",
    "uri": "https://example.org/page",
    "email": "ann@example.org",
    "path": "path/to/file",
    "date": "2026-01-31",
    "query": "words to look for",
    "owner": "octo-org",
    "repo": "demo",
}


def example(schema: Node) -> Json:
    """A small instance: the author's own example, default or first choice where there is one, else a likely value.

    Only what is required is filled in. It need not be valid where the schema says more than types, choices and formats.

    Parameters:
        schema: the schema.
    """
    return _value(schema, schema, "", DEPTH)


def _value(schema: Node, root: Node, name: str, depth: int) -> Json:
    node = as_object(schema)
    own = _own(node)
    if own is not None:
        return own[0]
    if not depth:
        return None
    target = ref_target(root, str(node["$ref"])) if "$ref" in node else None
    if target is not None:
        return _value(target, root, name, depth - 1)
    for key in ("allOf", "anyOf", "oneOf"):
        variants = [one for one in as_list(node.get(key)) if as_object(one).get("type") != "null"]
        if variants and not node.get("properties"):
            return _value(cast("Node", variants[0]), root, name, depth - 1)
    return _typed(node, root, name, depth)


def _own(node: Mapping[str, Any]) -> tuple[Json] | None:
    """What the author gives as a value."""
    for key in ("const", "default"):
        if node.get(key) is not None:
            return (node[key],)
    for key in ("examples", "enum"):
        values = [value for value in as_list(node.get(key)) if value is not None]
        if values:
            return (values[0],)
    return (node["example"],) if node.get("example") is not None else None


def _typed(node: Mapping[str, Any], root: Node, name: str, depth: int) -> Json:
    kinds = node.get("type")
    kind: Json = next((one for one in as_list(kinds) if one != "null"), None) if isinstance(kinds, list) else kinds
    if kind == "object" or (kind is None and node.get("properties")):
        table, required = as_object(node.get("properties")), as_list(node.get("required"))
        return {key: _value(table[key], root, key, depth - 1) for key in table if key in required}
    match kind:
        case "array":
            return [_value(cast("Node", node.get("items", {})), root, name.removesuffix("s"), depth - 1)]
        case "integer" | "number":
            return _number(node)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _text(node, name)


def _number(node: Mapping[str, Any]) -> Json:
    least, most = node.get("minimum", node.get("exclusiveMinimum")), node.get("maximum")
    if isinstance(least, int | float) and not isinstance(least, bool):
        return least + 1 if "minimum" not in node else least
    return most if isinstance(most, int | float) and most < 1 else 1


def _text(node: Mapping[str, Any], name: str) -> str:
    found = _OF_FORMAT.get(str(node.get("format"))) or _OF_NAME.get(name.lower())
    text = found or (f"the {name}" if name else "text")
    least, most = node.get("minLength"), node.get("maxLength")
    if isinstance(least, int) and len(text) < least <= 256:
        text = text.ljust(least, "x")
    return text[:most] if isinstance(most, int) and most >= 0 else text
