"""How a meta-tool is put together: a constant spec, and a handler that is given the board."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from pegboard.core import Call, Effects, Result, SourceRef, Tool, ToolName, ToolSpec
from pegboard.discovery.desk import Desk

MetaHandler: TypeAlias = Callable[[Desk, Call], Awaitable[Result]]
"""A handler that also needs the board."""

SOURCE = SourceRef("pegboard", "meta")


def meta_spec(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: tuple[str, ...] = (),
    effects: Effects = Effects.READ_ONLY,
) -> ToolSpec:
    """The constant definition of a meta-tool; it never tells what the catalog holds, so that its bytes stay.

    Parameters:
        name: its name.
        description: for a model to choose by.
        properties: the properties of its input.
        required: the names of those that must be given.
        effects: what a call may do.
    """
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    annotations: Mapping[str, Any] = {"readOnlyHint": True} if effects is Effects.READ_ONLY else {}
    return ToolSpec(
        name=ToolName("", name),
        description=description,
        input=schema,
        effects=effects,
        annotations=annotations,
        source=SOURCE,
        accepts={**schema, "properties": {key: _accepted(properties[key], key in required) for key in properties}},
    )


def _accepted(schema: Mapping[str, Any], required: bool) -> Mapping[str, Any]:
    """What is taken for a property: models that must fill in everything send null for what they leave out."""
    kind = schema.get("type")
    return schema if required or not isinstance(kind, str) else {**schema, "type": [kind, "null"]}


def bound(spec: ToolSpec, handler: MetaHandler, desk: Desk) -> Tool:
    """The meta-tool on one board."""
    return Tool(spec, partial(handler, desk))
