"""What OpenAI takes as a function's `parameters`, judged from its documentation alone.

Written from the structured-outputs and function-calling pages, and from the error texts that users report; it shares
no code with the package. `faults` returns what OpenAI would refuse, in words.
"""

import re
from collections.abc import Iterator
from typing import Any

SEVEN = {"string", "number", "boolean", "integer", "object", "array", "null"}
STRICT_KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"),
    *("description", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minItems", "maxItems"),
}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
ROOT_BARRED = {"oneOf", "anyOf", "allOf", "enum", "not"}
NESTED_BARRED = {"oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


ONE = {"items", "contains", "propertyNames", "not", "if", "then", "else"}
TABLES = {"properties", "$defs", "patternProperties"}
LISTS = {"anyOf", "oneOf", "allOf", "prefixItems"}


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        if key in TABLES and isinstance(value, dict):
            for name, child in value.items():
                yield f"{key}/{name}", child
        elif key in ONE or (key == "additionalProperties" and not isinstance(value, bool)):
            yield key, value
        elif key in LISTS and isinstance(value, list):
            for index, child in enumerate(value):
                yield f"{key}/{index}", child


def every(schema: Any, at: str = "#") -> Iterator[tuple[str, Any]]:
    yield at, schema
    if isinstance(schema, dict):
        for where, child in subschemas(schema):
            yield from every(child, f"{at}/{where}")


def kinds(node: dict[str, Any]) -> list[Any]:
    found = node.get("type", [])
    return found if isinstance(found, list) else [found]


def resolves(root: dict[str, Any], ref: str) -> bool:
    if ref == "#":
        return True
    if not ref.startswith("#/"):
        return False
    value: Any = root
    for part in ref[2:].split("/"):
        part = re.sub("(?:%[0-9A-Fa-f]{2})+", lambda m: bytes.fromhex(m[0].replace("%", "")).decode(), part)
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return isinstance(value, dict)


def faults(root: Any, *, strict: bool) -> list[str]:
    """Everything that OpenAI would refuse; empty where it takes the schema."""
    if not isinstance(root, dict) or root.get("type") != "object":
        return ["the root must have type object"]
    found = [f"root has {key}" for key in ROOT_BARRED & root.keys()]
    for at, node in every(root):
        if not isinstance(node, dict):
            found.append(f"{at}: no object")
            continue
        found += [f"{at}: {fault}" for fault in _common(root, node)]
        if strict:
            found += [f"{at}: {fault}" for fault in _strict(node)]
    return found + (list(_limits(root)) if strict else [])


def _common(root: dict[str, Any], node: dict[str, Any]) -> Iterator[str]:
    types = kinds(node)
    if not types and not {"anyOf", "$ref", "enum"} & node.keys():
        yield "schema must have a 'type' key"
    if not set(map(str, types)) <= SEVEN or len(types) != len(set(map(str, types))) or node.get("type") == []:
        yield f"type {types}"
    if "object" in types and not isinstance(node.get("properties"), dict):
        yield "object schema missing properties"
    if "array" in types and not isinstance(node.get("items"), dict):
        yield "array schema missing items"
    if "$ref" in node and not resolves(root, node["$ref"]):
        yield f"unresolvable {node['$ref']}"
    for key in NESTED_BARRED & node.keys():
        yield f"{key} is not permitted"
    yield from _values(node, types)


def _values(node: dict[str, Any], types: list[Any]) -> Iterator[str]:
    for key in ("exclusiveMinimum", "exclusiveMaximum", "minimum", "maximum"):
        if isinstance(node.get(key), bool):
            yield f"{key} is a boolean"
    if "enum" in node and (not isinstance(node["enum"], list) or not node["enum"]):
        yield "empty enum"
    if "pattern" in node and re.search(r"\(\?<?[=!]", node["pattern"]):
        yield "lookaround in pattern"
    if not isinstance(node.get("description", ""), str):
        yield "description is no string"
    if "required" in node and not all(isinstance(name, str) for name in node["required"]):
        yield "required is no list of strings"
    if types == ["null"] and "enum" in node and None not in node["enum"]:
        yield "an enum on null without null"


def _strict(node: dict[str, Any]) -> Iterator[str]:
    for key in node.keys() - STRICT_KEYWORDS:
        yield f"{key} is not permitted in strict mode"
    if "object" in kinds(node):
        if node.get("additionalProperties") is not False:
            yield "additionalProperties must be false"
        if sorted(node.get("required", [])) != sorted(node.get("properties", {})):
            yield "required must hold every key"
    if "format" in node and node["format"] not in FORMATS:
        yield f"format {node['format']}"
    if "$ref" in node and len(node) > 1 and set(node) != {"$ref", "$defs"}:
        yield "$ref has siblings"


def _depth(node: Any) -> int:
    if not isinstance(node, dict):
        return 0
    deepest = max((_depth(child) for where, child in subschemas(node) if not where.startswith("$defs")), default=0)
    return deepest + bool({"properties", "items"} & node.keys())


def _limits(root: dict[str, Any]) -> Iterator[str]:
    nodes = [node for _, node in every(root) if isinstance(node, dict)]
    if sum(len(node.get("properties", {})) for node in nodes) > 5000:
        yield "more than 5,000 properties"
    if sum(len(node.get("enum", [])) for node in nodes) > 1000:
        yield "more than 1,000 enum values"
    if _depth(root) > 10:
        yield "more than 10 levels"
    names = sum(len(name) for node in nodes for key in ("properties", "$defs") for name in node.get(key, {}))
    values = sum(len(str(value)) for node in nodes for value in node.get("enum", []))
    if names + values > 120_000:
        yield "more than 120,000 characters"


def tool_faults(tool: Any, *, chat: bool) -> list[str]:
    """What OpenAI would refuse of one function tool of the Responses (or Chat) API."""
    body = tool.get("function") if chat else tool
    if tool.get("type") != "function" or not isinstance(body, dict):
        return ["no function tool"]
    found = [] if NAME.fullmatch(body.get("name", "")) else [f"name {body.get('name')!r}"]
    if "description" in body and not (isinstance(body["description"], str) and body["description"].strip()):
        found.append("empty description")
    strict = body.get("strict", False)
    if not isinstance(strict, bool):
        found.append("strict is no boolean")
    return found + faults(body.get("parameters"), strict=bool(strict))
