"""Narrowing a parameter: its schema with further keywords, of which none admits what the tool refuses."""

from collections.abc import Callable, Mapping
from typing import Any

from pegboard.errors import DefinitionError
from pegboard.schema.types import Json, JsonObject, Schema
from pegboard.schema.validate import validator

KEYWORDS = (
    "const", "description", "enum", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems",
    "maxLength", "maximum", "minItems", "minLength", "minimum", "multipleOf", "pattern", "title", "type",
    "uniqueItems",
)  # fmt: skip
"""What a narrowing may hold (JSON Schema 2020-12 Validation)."""

_SAID = ("description", "examples", "title")
_TIGHTER: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), min),
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), max),
}


def narrowed(node: Schema, patch: JsonObject, root: Schema, where: str) -> dict[str, Json]:
    """The node with the patch's keywords; both hold.

    Parameters:
        node: the parameter's schema.
        patch: keywords of `KEYWORDS`.
        root: the schema that its references lead into.
        where: the place, for errors.

    Raises:
        DefinitionError: nothing, or less than what the patch lists, would pass.
    """
    faults = validator({key: value for key, value in patch.items() if key not in _SAID}).notes
    if faults or patch.get("enum", True) == []:
        raise DefinitionError(
            f"It cannot be narrowed so: {faults[0].rstrip('.') if faults else 'an empty enum lets nothing pass'}.",
            where=where,
            next_step="Correct the keyword.",
        )
    values = [*patch.get("enum", ()), *([patch["const"]] if "const" in patch else [])]
    judge = validator({**_without_root(root), **node})
    wrong = [value for value in values if not judge.is_valid(value)]
    if wrong:
        raise DefinitionError(
            f"The tool does not take {wrong[0]!r} here.", where=where, next_step="List values that it takes."
        )
    made = dict(node)
    both: dict[str, Json] = {}
    for key, value in patch.items():
        if key in made and key not in _SAID and key not in ("enum", "const"):
            if key in _TIGHTER:
                value = _TIGHTER[key](value, made[key])
            elif made[key] != value:
                both[key] = made[key]
        made[key] = value
    if "$ref" in node and len(made) > 1:
        return {**{key: value for key, value in made.items() if key != "$ref"}, "allOf": [{"$ref": node["$ref"]}]}
    return {**made, "allOf": [*made.get("allOf", ()), both]} if both else made


def _without_root(root: Schema) -> dict[str, Json]:
    return {key: root[key] for key in ("$defs", "definitions", "$schema") if key in root}
