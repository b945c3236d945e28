"""Specs as plain JSON objects and back, for stores: what a source listed outlives the process."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from pegboard.core import Effects, Freeform, Hint, Relation, Rung, SourceRef, ToolName, ToolSpec
from pegboard.schema.types import JsonObject

_FIELDS = tuple(fields(ToolSpec))
_DEFAULTS = ToolSpec(name=ToolName("", ""))


def spec_to_json(spec: ToolSpec) -> JsonObject:
    """A spec as a JSON object; fields that hold their default are left out."""
    row: dict[str, Any] = {}
    for field in _FIELDS:
        value = getattr(spec, field.name)
        if field.name == "name" or value != getattr(_DEFAULTS, field.name):
            write = _WRITE.get(field.name)
            row[field.name] = write(value) if write else value
    return row


def spec_from_json(row: JsonObject) -> ToolSpec:
    """The spec that `spec_to_json` wrote.

    Raises:
        ValueError: the row is not one of these.
    """
    try:
        values = {key: _READ[key](value) if key in _READ else value for key, value in row.items()}
        return ToolSpec(**values)
    except (TypeError, KeyError, AttributeError) as problem:
        raise ValueError(f"This is not a stored tool: {problem}") from problem


def _hint(hint: Hint) -> JsonObject:
    return {"relation": hint.relation, "tool": hint.tool, "when": hint.when, "parameter": hint.parameter}


_WRITE: Mapping[str, Callable[[Any], Any]] = {
    "name": lambda name: [name.namespace, name.name, name.version],
    "freeform": lambda form: [form.syntax, form.definition],
    "hints": lambda hints: [_hint(hint) for hint in hints],
    "source": lambda source: [source.name, source.kind],
    "modes": list,
    "examples": list,
    "aliases": list,
    "replaces": list,
    "icons": list,
}

_READ: Mapping[str, Callable[[Any], Any]] = {
    "name": lambda row: ToolName(*row),
    "freeform": lambda row: Freeform(*row),
    "effects": Effects,
    "rung": Rung,
    "hints": lambda rows: tuple(Hint(**{**row, "relation": Relation(row["relation"])}) for row in rows),
    "source": lambda row: SourceRef(*row),
    "modes": tuple,
    "examples": tuple,
    "aliases": tuple,
    "replaces": tuple,
    "icons": tuple,
}
