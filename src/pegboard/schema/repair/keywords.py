"""Rules for one node's own keywords: each brings one kind of keyword into its 2020-12 form and lists what it changed.

A rule is `(node, at, record) -> None`; it changes the node in place and looks at no other node.
"""

import math
from typing import Any, cast

from pegboard.schema.repair.names import SEVEN, infer_types, read_type, type_of
from pegboard.schema.repair.record import Record
from pegboard.schema.types import Json, as_list, as_object, canonical
from pegboard.schema.walk import Node

_TEXTS = ("title", "description", "$comment")
_STRINGS = ("format", "pattern", "$schema", "$id", "$anchor", "$dynamicAnchor", "contentEncoding", "contentMediaType")
_FLAGS = ("deprecated", "readOnly", "writeOnly", "uniqueItems")
_COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MARKS = frozenset({"enum", "const", "oneof", "anyof", "allof", "ref", "$ref", "schema", "union"})
"""Words found in `type` that name another keyword, so that they say nothing of their own."""


def spelling(node: Node, at: str, record: Record) -> None:
    """Draft-03/04/06/07 and OpenAPI keywords become today's."""
    _rename(node, "definitions", "$defs", at, record)
    _rename(node, "divisibleBy", "multipleOf", at, record)
    if isinstance(node.get("id"), str):
        _rename(node, "id", "$id", at, record)
    if "x-nullable" in node:
        _rename(node, "x-nullable", "nullable", at, record)
    if "$recursiveRef" in node:
        _rename(node, "$recursiveRef", "$ref", at, record)
    if "$dynamicRef" in node:
        _rename(node, "$dynamicRef", "$ref", at, record)
    if "example" in node and "examples" not in node:
        node["examples"] = [node.pop("example")]
        record.note(at, "`example` is spelled `examples`")
    if isinstance(node.get("items"), list):
        _tuple(node, at, record)
    elif node.pop("additionalItems", None) is not None:
        record.note(at, "`additionalItems` beside no tuple says nothing: removed")
    if "dependencies" in node:
        _dependencies(node, at, record)


def _rename(node: Node, old: str, new: str, at: str, record: Record) -> None:
    if old not in node:
        return
    value = node.pop(old)
    if isinstance(value, dict) and isinstance(node.get(new), dict):
        node[new] = {**cast("Node", value), **node[new]}
    else:
        node.setdefault(new, value)
    record.note(at, f"`{old}` is spelled `{new}`")


def _tuple(node: Node, at: str, record: Record) -> None:
    members, rest = node.pop("items"), node.pop("additionalItems", None)
    if members:
        node["prefixItems"] = members
    if rest is not None:
        node["items"] = rest
    record.note(at, "the list under `items` is spelled `prefixItems`")


def _dependencies(node: Node, at: str, record: Record) -> None:
    table = node.pop("dependencies")
    record.note(at, "`dependencies` is spelled `dependentRequired` and `dependentSchemas`")
    if not isinstance(table, dict):
        return
    for name, needs in cast("Node", table).items():
        if isinstance(needs, str | list):
            _table(node, "dependentRequired").setdefault(name, _names(cast("Json", needs)))
        else:
            _table(node, "dependentSchemas").setdefault(name, needs)


def _table(node: Node, key: str) -> Node:
    """The table under a keyword, put there where nothing or no table is."""
    if not isinstance(node.get(key), dict):
        node[key] = {}
    return cast("Node", node[key])


def texts(node: Node, at: str, record: Record) -> None:
    """Descriptions and titles are strings; other keywords that must be strings, and are not, go."""
    for key in _TEXTS:
        if key in node and not isinstance(node[key], str):
            text = _as_text(node.pop(key))
            if text:
                node[key] = text
            record.note(at, f"`{key}` was no string: {'turned into one' if text else 'removed'}")
    for key in _STRINGS:
        if key in node and not isinstance(node[key], str):
            del node[key]
            record.note(at, f"`{key}` was no string: removed")
    for key in _FLAGS:
        if key in node and not isinstance(node[key], bool):
            word = str(node.pop(key)).lower()
            if word in ("true", "false"):
                node[key] = word == "true"
            record.note(at, f"`{key}` was no boolean: {'turned into one' if key in node else 'removed'}")


def _as_text(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_as_text(item) for item in cast("list[Any]", value))))
    return value if isinstance(value, str) else canonical(value)


def numbers(node: Node, at: str, record: Record) -> None:
    """Bounds are numbers, counts are whole and not negative, boolean exclusive bounds (draft-04) are folded in."""
    for key in (*_COUNTS, *_BOUNDS):
        value = node.get(key)
        if key in node and not (isinstance(value, bool) and key.startswith("exclusive")):
            _number(node, key, at, record)
    for exclusive, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(node.get(exclusive), bool):
            if node.pop(exclusive) and plain in node:
                node[exclusive] = node.pop(plain)
            record.note(at, f"the boolean `{exclusive}` of draft-04 is folded into its bound")


def _number(node: Node, key: str, at: str, record: Record) -> None:
    value = node[key]
    read = _read_number(value)
    if read is not None and key in _COUNTS:
        read = int(read) if read == int(read) and read >= 0 else None
    if read is None or (key == "multipleOf" and read <= 0):
        del node[key]
        record.note(at, f"`{key}` was {canonical(value)[:60]}, which bounds nothing: removed")
    elif type(read) is not type(value):
        node[key] = read
        record.note(at, f"`{key}` was spelled {canonical(value)[:60]}: now {read}")


def _read_number(value: Json) -> int | float | None:
    if isinstance(value, str):
        try:
            number = float(value)
            return int(value) if value.strip().lstrip("+-").isdecimal() else number if math.isfinite(number) else None
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def values(node: Node, at: str, record: Record) -> None:
    """`enum`, `examples` and the lists of schemas are lists, without repetitions, and not empty."""
    if "enum" in node:
        _enum(node, at, record)
    if "examples" in node and not isinstance(node["examples"], list):
        samples = node.pop("examples")
        table = cast("Node", samples).values() if isinstance(samples, dict) else [samples]
        node["examples"] = [s["value"] if isinstance(s, dict) and "value" in s else s for s in table]
        record.note(at, "`examples` was no list: turned into one")
    for key in _LISTS:
        if key in node and not (isinstance(node[key], list) and node[key]):
            value = node.pop(key)
            if isinstance(value, dict):
                node[key] = [value]
            record.note(at, f"`{key}` was no list of schemas: {'turned into one' if key in node else 'removed'}")
    if "dependentRequired" in node:
        table = node["dependentRequired"]
        node["dependentRequired"] = {name: _names(needs) for name, needs in as_object(table).items()}
        if node["dependentRequired"] != table:
            record.note(at, "`dependentRequired` is a table of lists of names")


def _enum(node: Node, at: str, record: Record) -> None:
    raw = node["enum"]
    listed = as_list(raw) if isinstance(raw, list) else list(as_object(raw)) or [raw]
    if not isinstance(raw, list):
        record.note(at, "`enum` was no list: turned into one")
    unique = {_identity(value): value for value in reversed(listed)}
    if raw is None or not unique:
        del node["enum"]
        record.note(at, "an empty `enum` admits nothing: removed")
        return
    if len(unique) < len(listed):
        record.note(at, "`enum` repeated itself")
    node["enum"] = list(reversed(unique.values()))


def _identity(value: Json) -> str:
    """Equal for values that JSON Schema calls equal (1 and 1.0 are, 1 and true are not)."""
    whole = isinstance(value, float) and value.is_integer()
    return canonical(int(value) if whole else value)


def _names(value: Json) -> list[str]:
    listed = as_list(value) if isinstance(value, list) else [value]
    return list(dict.fromkeys(name for name in listed if isinstance(name, str)))


def required(node: Node, at: str, record: Record) -> None:
    """`required` is a list of names, each once; a boolean one belongs to the parent and is moved there by it."""
    if "required" in node:
        raw = node["required"]
        if isinstance(raw, bool) or raw is None:
            del node["required"]
            return
        names = _names(raw)
        if names != raw:
            node["required"] = names
            record.note(at, "`required` is a list of names, each once")


def kinds(node: Node, at: str, record: Record) -> None:
    """`type` is one of the seven names or a list of them; other words become type and format, or are inferred."""
    if "type" not in node:
        return
    raw = node["type"]
    if isinstance(raw, str) and raw in SEVEN:
        return
    words = as_list(raw) if isinstance(raw, list) else [raw]
    types, branches, unknown = list[str](), list[Any](), list[str]()
    for word in words:
        _read_word(word, types, branches, unknown)
    place = list(node).index("type")
    anything = not unknown and not types and not branches and any(isinstance(word, str) for word in words)
    del node["type"]
    if not types and not branches and not anything:
        types = infer_types(node)
    if branches and (types or len(branches) > 1):
        branches += [{"type": kind} for kind in dict.fromkeys(types)]
        node["allOf"] = [*as_list(node.get("allOf")), {"anyOf": branches}]
        types = []
    elif branches and any(isinstance(word, dict) for word in words):
        node["allOf"] = [*as_list(node.get("allOf")), *branches]
    elif branches:
        _merge(node, branches[0])
        types = [node.pop("type")] if isinstance(node.get("type"), str) else []
    spelled = list(dict.fromkeys(types))
    if spelled and not anything:
        _insert(node, place, "type", spelled if len(spelled) > 1 or isinstance(raw, list) else spelled[0])
    if node.get("type") != raw:
        _say_unknown(node, unknown)
        record.note(at, f"`type` was {canonical(raw)[:80]}: now {canonical(node.get('type', 'anything'))}")


def _read_word(word: Json, types: list[str], branches: list[Any], unknown: list[str]) -> None:
    if isinstance(word, dict):
        branches.append(word)
        return
    if isinstance(word, list):
        for inner in cast("list[Any]", word):
            if isinstance(inner, str):
                _read_word(inner, types, branches, unknown)
        return
    if not isinstance(word, str):
        return
    read = {"type": word} if word in SEVEN else read_type(word)
    if read is None:
        unknown.append(word)
    elif read.keys() == {"type"}:
        types.extend(as_list(read["type"]) or [read["type"]])
    elif read:
        branches.append(read)


def _merge(node: Node, part: Node) -> None:
    for key, value in part.items():
        if key not in node:
            node[key] = value
        elif node[key] != value:
            node["allOf"] = [*as_list(node.get("allOf")), {key: value}]


def _insert(node: Node, place: int, key: str, value: Json) -> None:
    items = list(node.items())
    node.clear()
    node.update([*items[:place], (key, value), *items[place:]])


def _say_unknown(node: Node, unknown: list[str]) -> None:
    words = [word for word in unknown if word.lower() not in _MARKS and word.strip()]
    if words:
        said = f"type: {', '.join(words)}"
        text = node.get("description")
        node["description"] = f"{text} ({said})" if text else said


def nullable(node: Node, at: str, record: Record) -> None:
    """`nullable: true` (OpenAPI 3.0) lets null in."""
    if "nullable" not in node:
        return
    flag = node.pop("nullable")
    record.note(at, "`nullable` is spelled as a union with null")
    if flag is not True and str(flag).lower() != "true":
        return
    others = {"$ref", "allOf", "not", "if"} & node.keys()
    unions = {"anyOf", "oneOf"} & node.keys()
    values_ = {"enum", "const"} & node.keys()
    if not others and not unions:
        _admit_null(node)
    elif len(unions) == 1 and not others and not values_ and "type" not in node:
        union = unions.pop()
        if not any(_is_null(branch) for branch in as_list(node[union])):
            node[union] = [*as_list(node[union]), {"type": "null"}]
    else:
        _wrap_nullable(node)


def _is_null(branch: Json) -> bool:
    return isinstance(branch, dict) and cast("Node", branch).get("type") in ("null", ["null"])


def _admit_null(node: Node) -> None:
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if "enum" in node and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    if "type" in node:
        types: list[str] = as_list(node["type"]) or [node["type"]]
        node["type"] = types if "null" in types else [*types, "null"]


def _wrap_nullable(node: Node) -> None:
    outer = {
        key: node.pop(key) for key in ("title", "description", "default", "$defs", "$schema", "$id") if key in node
    }
    inner = dict(node)
    node.clear()
    node.update({**outer, "anyOf": [inner, {"type": "null"}]})


def identifiers(node: Node, at: str, record: Record) -> None:
    """Anchors and ids are noted for the references, which come later; below the root they go: `#` means the root."""
    for key in ("$anchor", "$dynamicAnchor"):
        if key in node:
            record.anchors.setdefault(node.pop(key), at)
            record.note(at, f"`{key}` is replaced by pointers")
    name = node.get("$id")
    if isinstance(name, str):
        base, _, fragment = name.partition("#")
        record.anchors.setdefault(fragment, at)
        record.ids.setdefault(base, at)
        if at or fragment or not base:
            del node["$id"]
            record.note(at, "`$id` is replaced by pointers")
    for key in ("$vocabulary", "$recursiveAnchor"):
        if node.pop(key, None) is not None:
            record.note(at, f"`{key}` says nothing here: removed")


RULES = (spelling, texts, kinds, numbers, values, required, nullable, identifiers)
"""Every rule, in order."""


def from_other(value: Json, at: str, record: Record) -> Node:
    """The object node that stands for a schema that is no object: a boolean, a type name, a text, a list."""
    if value is True:
        return {}
    if value is False:
        record.note(at, "the schema `false` is spelled {not: {}}")
        return {"not": {}}
    if isinstance(value, str):
        return _from_text(value, at, record)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in cast("list[Any]", value)):
        read = [read_type(item) for item in cast("list[str]", value)]
        if all(read):
            record.note(at, "a list of type names stood for a schema")
            return {"type": value}
    record.note(at, f"{type_of(value)} where a schema must be: opened to any value")
    text = canonical(value)
    return {"description": text[:500]} if value not in (None, [], {}) else {}


def _from_text(text: str, at: str, record: Record) -> Node:
    read = read_type(text)
    if read is None:
        record.note(at, "a text stood for a schema: kept as its description")
        return {"description": text} if text.strip() else {}
    record.note(at, "a type name stood for a schema")
    return {"type": text} if read else {}
