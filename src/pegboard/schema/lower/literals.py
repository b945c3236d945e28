"""Fixed values: `const` and `enum`, and values that a dialect's `enum` cannot hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.schema.lower.merge import keep_fitting_values
from pegboard.schema.lower.node import Node, never, set_types, types
from pegboard.schema.lower.vocabulary import ANNOTATIONS
from pegboard.schema.lower.work import Work
from pegboard.schema.repair.names import type_of
from pegboard.schema.types import Json, canonical


@dataclass(frozen=True)
class Named:
    """Values that are written as names in the lowered shape.

    Parameters:
        names: the name of each value, by the value's canonical text.
        values: the value by name.
    """

    names: Mapping[str, str]
    values: Mapping[str, Json]

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape."""
        return self.names.get(canonical(value), value)

    def raised(self, value: Json) -> Json:
        """The value in the author's shape."""
        return self.values.get(value, value) if isinstance(value, str) else value


def to_enum(node: Node, work: Work) -> None:
    """`const` becomes an `enum` of one; a node gets the types of its values; values that it refuses are left out."""
    if "const" in node and "const" not in work.dialect.keywords:
        value = node.pop("const")
        if "enum" in node and canonical(value) not in map(canonical, node["enum"]):
            node.take(never(node.at))
            return
        node["enum"] = [value]
        work.change(node, "`const` is spelled as an `enum` of one value")
    if "enum" in node and "type" not in node:
        set_types(node, tuple(dict.fromkeys(type_of(value) for value in node["enum"])))
        work.change(node, "`type` added, as the values show it")
    keep_fitting_values(node, work)


def name_structures(node: Node, work: Work) -> None:
    """Objects and lists among the values become names, for dialects whose `enum` holds plain values only."""
    if any(isinstance(value, dict | list) for value in node.get("enum", ())):
        _name(node, [value for value in node["enum"] if value is not None], work)


def name_everything(node: Node, work: Work) -> None:
    """Values that are no text, or an empty one, become names, for dialects whose `enum` holds non-empty texts only."""
    if types(node) == ("null",) and "enum" not in node:
        node["enum"] = [None]
    values: list[Any] = node.get("enum", [])
    if values == [None] or any(value == "" or not isinstance(value, str | None) for value in values):
        _name(node, values if values == [None] else [value for value in values if value is not None], work)


def _name(node: Node, values: list[Any], work: Work) -> None:
    names: dict[str, str] = {}
    for value in values:
        plain = isinstance(value, str) and value != "" and not _shadows(value, values)
        names[canonical(value)] = value if plain else canonical(value)
    for key in [key for key in node if key not in ANNOTATIONS and key not in ("enum", "type", "$defs")]:
        del node[key]
    null = None in node["enum"] and values != [None]
    node["enum"] = [*names.values(), *([None] if null else [])]
    set_types(node, ("string", "null") if null else ("string",))
    by_name = {names[canonical(value)]: value for value in values}
    node.undo.append(Named(names, by_name))
    work.change(node, "values that the dialect's `enum` cannot hold are written as texts and turned back")


def _shadows(text: str, values: list[Any]) -> bool:
    """Whether a text is also the JSON of another value, so that it must be quoted to be told from it."""
    return any(not (isinstance(value, str) and value != "") and canonical(value) == text for value in values)
