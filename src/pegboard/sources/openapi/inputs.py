"""The arguments of an operation's tool: parameters and body in one object, each under a name that every wire takes.

Parameters are unique by name and place, and body properties are a space of their own; where names clash, a place is
put in front (`body_id`). A body that is an object with known properties is spread out; any other is one argument.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pegboard.schema.types import Json, Schema, as_list, as_object
from pegboard.sources.openapi.operation import Body, Operation, Parameter

_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_SPREADABLE = frozenset(
    ("type", "properties", "required", "additionalProperties", "title", "description", "examples", "default", "$ref")
    + ("allOf", "deprecated", "$schema", "$comment")
)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of one tool.

    Parameters:
        schema: their JSON Schema, references to `$defs` open.
        parameters: which argument is which parameter.
        fields: which argument is which property of the body, where the body is spread out.
        body: the argument that is the whole body, where it is not.
        open: whether arguments that the schema does not name belong to the body.
        renamed: arguments whose names are not those of the wire, with place and wire name.
    """

    schema: Schema = field(repr=False)
    parameters: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str | None = None
    open: bool = False
    renamed: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])


@dataclass(frozen=True, slots=True)
class Spread:
    """An object schema as its properties.

    Parameters:
        properties: their schemas by name.
        required: those that are needed.
        more: the schema of further properties; False: there are none; None: the description does not say.
    """

    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    more: Json = None


def spread(schema: Schema, defs: Mapping[str, Schema], depth: int = 0) -> Spread | None:
    """An object schema as its properties, parts of `allOf` together; None where it says more than that."""
    if depth > 20 or not set(schema) <= _SPREADABLE or schema.get("type", "object") != "object":
        return None
    properties: dict[str, Schema] = {}
    required: list[str] = []
    more: Json = schema.get("additionalProperties")
    parts = as_list(schema.get("allOf"))
    if "$ref" in schema:
        parts = [defs.get(str(schema["$ref"]).removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")), *parts]
    for part in parts:
        found = spread(as_object(part), defs, depth + 1) if isinstance(part, dict) else None
        if found is None or found.more is False or any(name in properties for name in found.properties):
            return None
        properties |= found.properties
        required += found.required
        more = found.more if more is None else more
    own = as_object(schema.get("properties"))
    if any(name in properties for name in own):
        return None
    properties |= cast("dict[str, Schema]", own)
    required += [name for name in as_list(schema.get("required")) if isinstance(name, str)]
    if not properties or not set(required) <= set(properties):
        return None
    return Spread(properties, tuple(dict.fromkeys(required)), more)


def inputs_of(operation: Operation, defs: Mapping[str, Schema], hidden: Iterable[str] = ()) -> Inputs:
    """The arguments of an operation.

    Parameters:
        operation: the operation.
        defs: the definitions that its schemas refer to.
        hidden: wire names of parameters that are no arguments, because credentials fill them.
    """
    parameters = [one for one in operation.parameters if one.name not in set(hidden)]
    body = operation.body
    parts = spread(body.schema, defs) if body is not None and body.kind in ("json", "form", "multipart") else None
    if parts is not None and body is not None and not body.required and parts.required:
        parts = None  # all of it or nothing: that is one argument
    if parts is not None and body is not None and not parts.properties:
        parts = None
    wanted = [(one.place, one.name) for one in parameters]
    wanted += [("body", name) for name in parts.properties] if parts else [("body", "")] if body else []
    names = _names(wanted)
    return _assembled(parameters, body, parts, names)


def _assembled(
    parameters: list[Parameter],
    body: Body | None,
    parts: Spread | None,
    names: Mapping[tuple[str, str], str],
) -> Inputs:
    properties: dict[str, Json] = {}
    required: list[str] = []
    by_name: dict[str, Parameter] = {}
    fields: dict[str, str] = {}
    whole: str | None = None
    for one in parameters:
        name = names[one.place, one.name]
        by_name[name] = one
        properties[name] = one.schema
        required += [name] if one.required else []
    if parts is not None:
        for wire, part in parts.properties.items():
            name = names["body", wire]
            fields[name] = wire
            properties[name] = part
            required += [name] if wire in parts.required else []
    elif body is not None:
        whole = names["body", ""]
        described = {"description": body.description} if body.description and "description" not in body.schema else {}
        properties[whole] = {**body.schema, **described}
        required += [whole] if body.required else []
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": _by_need(properties, required)}
    more = parts.more if parts is not None else None
    schema["additionalProperties"] = more if more not in (None, True) else more is True
    renamed = {name: place for place, name in names.items() if name != place[1] and place != ("body", "")}
    return Inputs(schema, by_name, fields, whole, bool(more), renamed)


def _by_need(properties: Mapping[str, Json], required: Iterable[str]) -> list[str]:
    needed = set(required)
    return [name for name in properties if name in needed]


def _names(wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A legal name for each (place, wire name); one that is legal and free stays as it is."""
    ordered = list(dict.fromkeys(wanted))
    taken: dict[str, tuple[str, str]] = {}
    found: dict[tuple[str, str], str] = {}
    for key in ordered:  # names that can stay come first, so that a mended one never takes a real one's place
        name = key[1] or "body"
        if _LEGAL.fullmatch(name) and name not in taken:
            taken[name] = key
            found[key] = name
    for key in ordered:
        if key in found:
            continue
        stem = re.sub(r"[^A-Za-z0-9_-]+", "_", key[1] or "body").strip("_-")[:50] or "value"
        stem = stem if _LEGAL.match(stem) else f"_{stem}"
        choices = [stem, f"{key[0]}_{stem}", *(f"{key[0]}_{stem}_{n}" for n in range(2, len(ordered) + 3))]
        found[key] = next(name for name in choices if name not in taken)
        taken[found[key]] = key
    return {key: found[key] for key in ordered}
