"""Local references: where `#/$defs/x` leads."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from pegboard.schema.types import Schema


def follow(root: Schema, reference: str) -> Any:
    """The node that a local reference (`#` or `#/...`) leads to; None where it leads nowhere or elsewhere."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    target: Any = root
    for raw in unquote(reference[2:]).split("/"):
        target = _step(target, raw.replace("~1", "/").replace("~0", "~"))
    return target


def _step(node: Any, part: str) -> Any:
    if isinstance(node, Mapping):
        return cast("Mapping[str, Any]", node).get(part)
    if isinstance(node, list) and part.isdigit():
        items = cast("list[Any]", node)
        return items[int(part)] if int(part) < len(items) else None
    return None
