"""The dialect `codex`: what codex's own sanitiser makes of a tool's schema, as a baseline to compare with.

Reproduced from its documented behaviour, its known defects with it (it drops most keywords without a word, mistypes
untyped enums, and empties deep parts of large schemas): nothing else in this package behaves like this.
"""

import json
from collections.abc import Callable
from typing import Any

from pegboard.schema.lower.work import Refused
from pegboard.schema.repair.names import SEVEN
from pegboard.schema.types import Json, as_list, as_object
from pegboard.schema.walk import ref_pointer, tokens

BUDGET = 5_000
"""Bytes of the compact JSON above which descriptions, definitions and deep parts go."""

DEEP = 3
"""Levels below which parts of a schema that is too large are emptied."""

_KEPT = (
    *("$ref", "type", "description", "encrypted", "enum", "items", "properties", "required", "additionalProperties"),
    *("anyOf", "oneOf", "allOf", "$defs", "definitions"),
)
_UNIONS = ("anyOf", "oneOf", "allOf")
_TABLES = ("$defs", "definitions")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SHOWN = (
    ("object", ("properties", "required", "additionalProperties")),
    ("array", ("items", "prefixItems")),
    ("string", ("enum", "format")),
    ("number", _NUMBERS),
)

Node = dict[str, Any]


def codex_schema(schema: Json, *, budget: int = BUDGET) -> Node:
    """What codex sends for a tool's schema.

    Parameters:
        schema: the schema as the tool's author wrote it.
        budget: bytes above which it is compacted.

    Raises:
        Refused: codex drops the tool.
    """
    root = _read(_sane(_filled(schema)), "")
    if root.get("type") == "null":
        raise Refused("codex refuses a root of type null")
    _prune(root)
    for compact in (_without_descriptions, _without_definitions, _without_depth, _without_unions):
        if len(json.dumps(root, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")) <= budget:
            break
        root = compact(root)
    return root


def _filled(schema: Json) -> Json:
    """Root `properties`, as codex fills them for MCP tools."""
    node = as_object(schema)
    if ("properties" in node or node.get("type") == "object") and node.get("properties") is None:
        return {**node, "properties": {}}
    return schema


def _sane(value: Json) -> Json:
    if isinstance(value, bool):
        return {"type": "string"}
    if not isinstance(value, dict):
        return value
    node = _with_sane_parts(as_object(value))
    if "const" in node:
        node["enum"] = [node["const"]]
    _type(node)
    types = as_list(node.get("type")) or [node.get("type")]
    if "object" in types and "properties" not in node:
        node["properties"] = {}
    if "array" in types and "items" not in node:
        node["items"] = {"type": "string"}
    return node


def _with_sane_parts(node: Node) -> Node:
    found = dict(node)
    for table in _TABLES:
        if table in found and not isinstance(found[table], dict):
            del found[table]
    for key in ("properties", *_TABLES):
        if isinstance(found.get(key), dict):
            found[key] = {name: _sane(child) for name, child in as_object(found[key]).items()}
    for key in (*_UNIONS, "prefixItems"):
        if isinstance(found.get(key), list):
            found[key] = [_sane(child) for child in as_list(found[key])]
    for key in ("items", "additionalProperties"):
        if key in found and not (key == "additionalProperties" and isinstance(found[key], bool)):
            found[key] = _sane(found[key])
    return found


def _type(node: Node) -> None:
    raw = node.pop("type", None)
    kept = [name for name in (as_list(raw) if isinstance(raw, list) else [raw]) if name in SEVEN]
    if kept:
        node["type"] = kept if len(kept) > 1 else kept[0]
    elif not any(key in node for key in ("$ref", *_UNIONS)):
        shown = next((kind for kind, signs in _SHOWN if any(sign in node for sign in signs)), None)
        if shown is None:
            node.clear()
        else:
            node["type"] = shown


def _read(value: Json, at: str) -> Node:
    """The fourteen keywords that codex keeps, in its order.

    Raises:
        Refused: a keyword has a form that codex cannot read, so that it drops the tool.
    """
    if not isinstance(value, dict):
        raise Refused(f"codex cannot read the schema at {at or 'the root'}")
    node = as_object(value)
    return {key: _READ.get(key, _any)(node[key], f"{at}/{key}") for key in _KEPT if node.get(key) is not None}


def _any(value: Json, at: str) -> Json:
    return value


def _text(value: Json, at: str) -> Json:
    return value if isinstance(value, str) else _fail(at)


def _flag(value: Json, at: str) -> Json:
    return value if isinstance(value, bool) else _fail(at)


def _values(value: Json, at: str) -> Json:
    return as_list(value) if isinstance(value, list) else _fail(at)


def _names(value: Json, at: str) -> Json:
    sound = isinstance(value, list) and all(isinstance(name, str) for name in as_list(value))
    return as_list(value) if sound else _fail(at)


def _table(value: Json, at: str) -> Json:
    if not isinstance(value, dict):
        return _fail(at)
    return {name: _read(child, f"{at}/{name}") for name, child in sorted(as_object(value).items())}


def _list(value: Json, at: str) -> Json:
    if not isinstance(value, list):
        return _fail(at)
    return [_read(child, f"{at}/{index}") for index, child in enumerate(as_list(value))]


def _rest(value: Json, at: str) -> Json:
    return value if isinstance(value, bool) else _read(value, at)


def _fail(at: str) -> Json:
    raise Refused(f"codex cannot read {at}")


_READ: dict[str, Callable[[Json, str], Json]] = {
    "$ref": _text,
    "description": _text,
    "encrypted": _flag,
    "enum": _values,
    "items": _read,
    "properties": _table,
    "required": _names,
    "additionalProperties": _rest,
    **dict.fromkeys(_UNIONS, _list),
    **dict.fromkeys(_TABLES, _table),
}


def _children(node: Node) -> list[Node]:
    found: list[Node] = []
    for key in ("items", "additionalProperties"):
        found += [node[key]] if isinstance(node.get(key), dict) else []
    for key in ("properties", *_TABLES):
        found += list(as_object(node.get(key)).values())
    for key in _UNIONS:
        found += as_list(node.get(key))
    return found


def _refs(node: Node) -> set[tuple[str, str]]:
    """The root definitions that a node leads to, as table and name."""
    place = tokens(ref_pointer(node["$ref"]) or "") if "$ref" in node else []
    found = {(place[0], place[1])} if len(place) > 1 and place[0] in _TABLES else set[tuple[str, str]]()
    return found.union(*(_refs(child) for child in _children(node)))


def _prune(root: Node) -> None:
    outside = {key: value for key, value in root.items() if key not in _TABLES}
    seen, stack = set[tuple[str, str]](), list(_refs(outside))
    while stack:
        table, name = entry = stack.pop()
        if entry not in seen and name in as_object(root.get(table)):
            seen.add(entry)
            stack.extend(_refs(root[table][name]))
    for table in _TABLES:
        if table in root:
            root[table] = {name: child for name, child in root[table].items() if (table, name) in seen}
            if not root[table]:
                del root[table]


def _each(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with every node directly below changed."""
    found = dict(node)
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            found[key] = change(found[key])
    for key in ("properties", *_TABLES):
        if key in found:
            found[key] = {name: change(child) for name, child in found[key].items()}
    for key in _UNIONS:
        if key in found:
            found[key] = [change(child) for child in found[key]]
    return found


def _without_descriptions(node: Node) -> Node:
    bare = {key: value for key, value in node.items() if key != "description"}
    return _each(bare, _without_descriptions)


def _without_definitions(root: Node) -> Node:
    def cut(node: Node) -> Node:
        return {} if _own_definition(node) else _each(node, cut)

    return _each({key: value for key, value in root.items() if key not in _TABLES}, cut)


def _own_definition(node: Node) -> bool:
    place = tokens(ref_pointer(node["$ref"]) or "") if "$ref" in node else []
    return len(place) > 1 and place[0] in _TABLES


def _without_depth(root: Node, depth: int = 0) -> Node:
    parts = ("properties", "items", "additionalProperties", "$ref", *_UNIONS)
    deep = depth >= DEEP and any(key in root for key in parts)
    return {} if deep else _each(root, lambda child: _without_depth(child, depth + 1))


def _without_unions(node: Node) -> Node:
    return {} if any(key in node for key in _UNIONS) else _each(node, _without_unions)
