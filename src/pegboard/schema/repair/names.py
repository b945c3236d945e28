"""What a type name that is none of the seven means: `int`, `date`, `str[]`, `dict[str, float]`, `string | null` ..."""

import re
from typing import Any

from pegboard.schema.types import as_list

SEVEN = ("string", "number", "integer", "boolean", "object", "array", "null")
"""The type names of JSON Schema."""

_PLAIN = {
    "string": "str text varchar char character chararray nstring literal markdown html xml",
    "number": "float double decimal numeric num real float32 float64 bigdecimal",
    "integer": "int int8 int16 short long bigint biginteger uint uint8 uint16 uint32 uint64 int32 int64 whole",
    "boolean": "bool flag bit",
    "object": "dict map mapping hash hashmap struct record table dictionary",
    "array": "list tuple set sequence vector arraylist iterable collection",
    "null": "none nil void undefined nonetype",
}
_FORMATS = {
    "date": "date",
    "date-time": "datetime date-time date_time timestamp",
    "time": "time",
    "duration": "duration timedelta",
    "email": "email e-mail",
    "hostname": "hostname host",
    "ipv4": "ipv4",
    "ipv6": "ipv6",
    "uuid": "uuid guid",
    "uri": "uri url link href",
    "regex": "regex regexp",
    "binary": "binary file blob",
    "password": "password secret",
}
_ANY = frozenset({"any", "unknown", "mixed", "json", "*", "anything", "jsonvalue", "typing.any"})


def _words() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {word: {} for word in _ANY}
    for kind, words in _PLAIN.items():
        found |= {word: {"type": kind} for word in (kind, *words.split())}
    for format_, words in _FORMATS.items():
        found |= {word: {"type": "string", "format": format_} for word in words.split()}
    for width in ("int32", "int64"):
        found[width] = {"type": "integer", "format": width}
    for base64 in ("byte", "bytes", "base64"):
        found[base64] = {"type": "string", "contentEncoding": "base64"}
    found["set"] = {"type": "array", "uniqueItems": True}
    return found


_WORDS = _words()
_GENERIC = re.compile(r"([\w.-]+)\s*[<\[(](.*)[>\])]")


def read_type(name: str) -> dict[str, Any] | None:
    """The schema that a type name stands for; an empty one for any value, None where the name says nothing known."""
    word = name.strip().lower()
    if word in _WORDS:
        return dict(_WORDS[word])
    if len(word) > 200:
        return None
    if word.endswith("[]"):
        return _array(word[:-2])
    if word.endswith("?"):
        return _union([word[:-1], "null"])
    parts = _split(word, "|") if "|" in word else _split(word, " or ")
    if len(parts) > 1:
        return _union(parts)
    match = _GENERIC.fullmatch(word)
    return _generic(match[1], _split(match[2], ",")) if match else None


def _generic(outer: str, inner: list[str]) -> dict[str, Any] | None:
    outer = outer.removeprefix("typing.")
    if outer == "optional":
        return _union([*inner, "null"])
    if outer == "union":
        return _union(inner)
    kind = (_WORDS.get(outer) or {}).get("type")
    if kind == "array" and outer != "tuple":
        return _array(inner[0])
    if kind == "object" and len(inner) == 2:
        value = read_type(inner[1])
        return None if value is None else {"type": "object", "additionalProperties": value}
    return {"type": kind} if kind in ("array", "object") else None


def _array(item: str) -> dict[str, Any] | None:
    inner = read_type(item)
    return None if inner is None else {"type": "array", "items": inner}


def _union(parts: list[str]) -> dict[str, Any] | None:
    read = [read_type(part) for part in parts]
    known = [part for part in read if part is not None]
    if len(known) < len(read) or any(not part for part in known):
        return None if len(known) < len(read) else {}
    if all(part.keys() == {"type"} for part in known):
        return {"type": list(dict.fromkeys(part["type"] for part in known))}
    return {"anyOf": known}


def _split(text: str, separator: str) -> list[str]:
    """Split outside brackets."""
    parts, depth, start = list[str](), 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "<[(") - (letter in ">])")
        if depth == 0 and text.startswith(separator, index):
            parts.append(text[start:index].strip())
            start = index + len(separator)
    return [*parts, text[start:].strip()]


def type_of(value: Any) -> str:
    """The JSON Schema type of a value; whole floats are integers too, but spelled numbers here."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


_SIGNS = (
    (
        "object",
        ("properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"),
    ),
    ("array", ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")),
    ("string", ("minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)
_NUMERIC_FORMATS = {"int32": "integer", "int64": "integer", "float": "number", "double": "number"}


def infer_types(node: dict[str, Any]) -> list[str]:
    """The types that a node without a usable `type` shows by its values, its other keywords, or its default."""
    values = as_list(node.get("enum")) or ([node["const"]] if "const" in node else [])
    if values:
        return list(dict.fromkeys(type_of(value) for value in values))
    for kind, signs in _SIGNS:
        if any(sign in node for sign in signs):
            return [kind]
    if isinstance(node.get("format"), str):
        return [_NUMERIC_FORMATS.get(node["format"], "string")]
    samples = [node["default"]] if node.get("default") is not None else as_list(node.get("examples"))
    kinds = list(dict.fromkeys(type_of(sample) for sample in samples))
    return kinds if len(kinds) == 1 else []
