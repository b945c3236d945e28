"""What Anthropic takes as a tool's `input_schema`, judged from its documentation alone (Bedrock takes the same).

It shares no code with the package.
"""

import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from tests.checkers.openai import every, kinds, resolves

STRICT_KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "$ref"),
    *("$defs", "description", "title", "default", "format", "pattern", "minItems"),
}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def faults(root: Any, *, strict: bool) -> list[str]:
    """Everything that Anthropic would refuse; empty where it takes the schema."""
    if not isinstance(root, dict) or root.get("type") != "object":
        return ["the root must have type object"]
    found = [f"{key} at the root" for key in ("oneOf", "anyOf", "allOf") if key in root]
    found += [f"property key {key!r}" for key in root.get("properties", {}) if not KEY.fullmatch(key)]
    try:
        Draft202012Validator.check_schema(root)
    except SchemaError as error:
        found.append(f"not 2020-12: {error.message}")
    for at, node in every(root):
        if isinstance(node, dict) and "$ref" in node and not resolves(root, node["$ref"]):
            found.append(f"{at}: unresolvable {node['$ref']}")
    return found + (_strict_faults(root) if strict else [])


def _strict_faults(root: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for at, node in every(root):
        if not isinstance(node, dict):
            found.append(f"{at}: no object")
            continue
        found += [f"{at}: {key}" for key in node.keys() - STRICT_KEYWORDS]
        if not kinds(node) and not {"anyOf", "$ref", "enum"} & node.keys():
            found.append(f"{at}: no type")
        if "object" in kinds(node) and node.get("additionalProperties") is not False:
            found.append(f"{at}: additionalProperties must be false")
        if node.get("minItems", 0) not in (0, 1):
            found.append(f"{at}: minItems {node['minItems']}")
        if "format" in node and node["format"] not in FORMATS:
            found.append(f"{at}: format {node['format']}")
        if any(isinstance(value, dict | list) for value in node.get("enum", [])):
            found.append(f"{at}: enum of structures")
        if "pattern" in node and re.search(r"\(\?<?[=!]|\\[1-9bB]", node["pattern"]):
            found.append(f"{at}: pattern {node['pattern']}")
    return found + (["recursive"] if _recursive(root) else [])


def _recursive(root: dict[str, Any]) -> bool:
    table = root.get("$defs", {})
    edges = {
        name: {node["$ref"] for _, node in every(body) if isinstance(node, dict) and "$ref" in node}
        for name, body in table.items()
    }
    here = {
        node["$ref"]
        for _, node in every({k: v for k, v in root.items() if k != "$defs"})
        if isinstance(node, dict) and "$ref" in node
    }
    if "#" in here or any("#" in refs for refs in edges.values()):
        return True
    state: dict[str, int] = {}

    def visit(name: str) -> bool:
        if state.get(name) == 1:
            return True
        if state.get(name) == 2 or name not in edges:
            return False
        state[name] = 1
        found = any(visit(ref.removeprefix("#/$defs/")) for ref in edges[name])
        state[name] = 2
        return found

    return any(visit(name) for name in edges)


def tool_faults(tool: Any) -> list[str]:
    """What Anthropic would refuse of one tool."""
    found = [] if NAME.fullmatch(tool.get("name", "")) else [f"name {tool.get('name')!r}"]
    if "description" in tool and not (isinstance(tool["description"], str) and tool["description"].strip()):
        found.append("empty description")
    return found + faults(tool.get("input_schema"), strict=bool(tool.get("strict")))
