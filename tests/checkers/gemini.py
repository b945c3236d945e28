"""What Gemini takes as `parameters` and as `parametersJsonSchema`, judged from google-genai's types and from reports.

It shares no code with the package.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.checkers.openai import every, kinds, resolves

TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
FIELDS = {
    *("type", "nullable", "format", "title", "description", "default", "example", "enum", "properties", "required"),
    *("propertyOrdering", "minProperties", "maxProperties", "items", "minItems", "maxItems", "minLength", "maxLength"),
    *("pattern", "minimum", "maximum", "anyOf"),
}
OF_OBJECT = {"properties", "required", "minProperties", "maxProperties"}
OF_ARRAY = {"items", "minItems", "maxItems"}
OF_STRING = {"enum", "minLength", "maxLength", "pattern"}
OF_NUMBER = {"minimum", "maximum"}
FORMATS = {"STRING": {"enum", "date-time"}, "NUMBER": {"float", "double"}, "INTEGER": {"int32", "int64"}}
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")

JSON_FIELDS = {
    *("type", "format", "title", "description", "default", "items", "minItems", "maxItems", "enum", "properties"),
    *("required", "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern"),
    *("additionalProperties", "anyOf", "uniqueItems", "$ref", "$defs", "oneOf"),
}


def faults(schema: Any, at: str = "#") -> list[str]:
    """Everything that Gemini would refuse in `parameters`; None, for a tool without arguments, is taken."""
    if schema is None:
        return []
    if not isinstance(schema, dict):
        return [f"{at}: no object"]
    found = [f"{at}: {fault}" for fault in _node(schema, root=at == "#")]
    for name, child in schema.get("properties", {}).items():
        found += faults(child, f"{at}/{name}")
    if "items" in schema:
        found += faults(schema["items"], f"{at}/items")
    for index, branch in enumerate(schema.get("anyOf", [])):
        found += faults(branch, f"{at}/anyOf/{index}")
    return found


def _node(node: dict[str, Any], *, root: bool) -> Iterator[str]:
    yield from (f"cannot find field {key}" for key in node.keys() - FIELDS)
    if "anyOf" in node:
        if len(node) > 1:
            yield "anyOf must be the only field set"
        return
    kind = node.get("type")
    if kind not in TYPES:
        yield "schema didn't specify the schema type field"
    if root and kind != "OBJECT":
        yield "the root is no object"
    for fields, owners in (
        (OF_OBJECT, {"OBJECT"}),
        (OF_ARRAY, {"ARRAY"}),
        (OF_STRING, {"STRING"}),
        (OF_NUMBER, {"NUMBER", "INTEGER"}),
    ):
        if kind not in owners:
            yield from (f"{key}: only allowed for {owners}" for key in fields & node.keys())
    if kind == "OBJECT" and not node.get("properties"):
        yield "properties: should be non-empty for OBJECT type"
    if kind == "ARRAY" and "items" not in node:
        yield "items: missing field"
    if "format" in node and node["format"] not in FORMATS.get(str(kind), set()):
        yield f"format {node['format']} for {kind}"
    yield from _values(node)


def _values(node: dict[str, Any]) -> Iterator[str]:
    if "enum" in node and not (node["enum"] and all(isinstance(value, str) and value for value in node["enum"])):
        yield f"enum {node['enum']}"
    for name in node.get("required", []):
        if name not in node.get("properties", {}):
            yield f"required names {name!r}, which is not defined"
    for name in node.get("properties", {}):
        if not KEY.fullmatch(name):
            yield f"property key {name!r}"
    if not isinstance(node.get("nullable", True), bool):
        yield "nullable"


def json_faults(root: Any) -> list[str]:
    """Everything that Gemini would refuse in `parametersJsonSchema`."""
    if root is None:
        return []
    if not isinstance(root, dict) or root.get("type") != "object":
        return ["the root must have type object"]
    found: list[str] = []
    for at, node in every(root):
        if not isinstance(node, dict):
            found.append(f"{at}: no object")
            continue
        found += [f"{at}: {key}" for key in node.keys() - JSON_FIELDS]
        if not kinds(node) and not {"anyOf", "oneOf", "$ref", "enum"} & node.keys():
            found.append(f"{at}: no type")
        if "$ref" in node and not resolves(root, node["$ref"]):
            found.append(f"{at}: unresolvable {node['$ref']}")
        if "object" in kinds(node) and "properties" not in node:
            found.append(f"{at}: no properties")
        if "array" in kinds(node) and "items" not in node:
            found.append(f"{at}: no items")
        found += [f"{at}: property key {name!r}" for name in node.get("properties", {}) if not KEY.fullmatch(name)]
    return found


def tool_faults(tool: Any) -> list[str]:
    """What Gemini would refuse of one function declaration."""
    found = [] if NAME.fullmatch(tool.get("name", "")) else [f"name {tool.get('name')!r}"]
    if not (isinstance(tool.get("description"), str) and tool["description"].strip()):
        found.append("no description")
    if "parameters" in tool and "parametersJsonSchema" in tool:
        found.append("parameters and parametersJsonSchema exclude each other")
    return found + faults(tool.get("parameters")) + json_faults(tool.get("parametersJsonSchema"))


def accepts(schema: Any, value: Any) -> bool:
    """Whether a value is one that a Gemini `Schema` describes."""
    if schema is None:
        return value == {}
    if "anyOf" in schema:
        return any(accepts(branch, value) for branch in schema["anyOf"])
    if value is None:
        return bool(schema.get("nullable")) or schema["type"] == "NULL"
    return _SHAPES[schema["type"]](schema, value)


def _object(schema: dict[str, Any], value: Any) -> bool:
    if not isinstance(value, dict) or any(name not in value for name in schema.get("required", [])):
        return False
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return False
    table = schema["properties"]
    return all(accepts(table[name], item) for name, item in value.items() if name in table)


def _array(schema: dict[str, Any], value: Any) -> bool:
    if not isinstance(value, list) or not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    return all(accepts(schema["items"], item) for item in value)


def _string(schema: dict[str, Any], value: Any) -> bool:
    if not isinstance(value, str) or ("enum" in schema and value not in schema["enum"]):
        return False
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return False
    return "pattern" not in schema or re.search(schema["pattern"], value) is not None


def _number(schema: dict[str, Any], value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if schema["type"] == "INTEGER" and value != int(value):
        return False
    return schema.get("minimum", value) <= value <= schema.get("maximum", value)


_SHAPES = {
    "OBJECT": _object,
    "ARRAY": _array,
    "STRING": _string,
    "NUMBER": _number,
    "INTEGER": _number,
    "BOOLEAN": lambda _, value: isinstance(value, bool),
    "NULL": lambda _, value: value is None,
}
