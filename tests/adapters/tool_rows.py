"""Tool rows as the tests of the rules write them, and the tool sets that they make."""

from typing import Any

from pegboard.check.toolset import Toolset
from pegboard.core import SourceRef, ToolSpec
from pegboard.normalise import normalise_all

TEXT = {"type": "string", "description": "A text."}
READS = {"readOnlyHint": True, "destructiveHint": False}
DESTROYS = {"readOnlyHint": False, "destructiveHint": True}
SAID = "List the orders of a shop, newest first. Returns number, date and total of each."


def row(name: str = "list_orders", description: str = SAID, **fields: Any) -> dict[str, Any]:
    """A tool that no rule has anything to say of, but for what the fields change."""
    known: dict[str, Any] = {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"shop": TEXT}},
        "annotations": READS,
    }
    return {key: value for key, value in (known | fields).items() if value is not None}


def takes(**properties: Any) -> dict[str, Any]:
    """An input schema of these optional properties."""
    return {"type": "object", "properties": properties}


def needs(**properties: Any) -> dict[str, Any]:
    """An input schema of these required properties."""
    return {**takes(**properties), "required": list(properties)}


def specs(*rows: Any, namespace: str = "shop", kind: str = "file") -> list[ToolSpec]:
    """The rows as specs."""
    return normalise_all(rows, namespace=namespace, source=SourceRef(namespace, kind), trusted=kind == "python")[0]


def toolset(*rows: Any, namespace: str = "shop", kind: str = "file", **around: Any) -> Toolset:
    """The rows as a tool set."""
    found, notes = normalise_all(rows, namespace=namespace, source=SourceRef(namespace, kind), trusted=kind == "python")
    return Toolset(tuple(found), {namespace: notes}, **around)
