"""What a composed tool takes: read from its parts and from what their arguments read of `input`."""

from collections.abc import Iterable, Mapping
from typing import cast

from pegboard.core import ToolSpec
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.embed import Embedding
from pegboard.schema.expression import Expression
from pegboard.schema.template import Template, whole
from pegboard.schema.types import Json, Schema


def check_arguments(args: Template, spec: ToolSpec, where: str) -> None:
    """See that a part gives its tool only what it takes, and all that it needs.

    Raises:
        DefinitionError: it does not.
    """
    given = cast("Mapping[str, Json]", args.parsed)
    open_ended = spec.input.get("additionalProperties") not in (None, False) or spec.input.get("patternProperties")
    for name in given:
        if name not in spec.properties and not open_ended:
            near = nearest(name, spec.properties) or list(spec.properties)
            raise DefinitionError(
                f"{spec.name} has no parameter {name!r}.",
                where=where,
                next_step=f"It has: {', '.join(near)}." if near else "It takes no arguments.",
            )
    missing = [name for name in spec.input.get("required", ()) if name not in given]
    if missing:
        raise DefinitionError(
            f"{spec.name} needs {' and '.join(missing)}.",
            where=where,
            next_step=f'Add for example {missing[0]} = "${{input.{missing[0]}}}".',
        )


def derived_input(calls: Iterable[tuple[ToolSpec, Template]], expressions: Iterable[Expression]) -> Schema:
    """An object with every `${input.x}` that is read; one that is an argument as a whole takes its schema over.

    Parameters:
        calls: the parts, with their arguments.
        expressions: every expression that may read `input`, in order.
    """
    embedding = Embedding()
    properties: dict[str, Json] = {}
    required: list[str] = []
    for spec, args in calls:
        for name, template in cast("Mapping[str, Json]", args.parsed).items():
            key = _direct(template)
            if key is not None and name in spec.properties:
                properties.setdefault(key, embedding.take(spec.properties[name], spec.input, spec.name.name))
                if name in spec.input.get("required", ()) and key not in required:
                    required.append(key)
    for expression in expressions:
        for root, path in expression.paths:
            if root == "input" and path and str(path[0]) not in properties:
                properties[str(path[0])] = {}
                if "default(" not in expression.text:
                    required.append(str(path[0]))
    schema: dict[str, Json] = {"type": "object", "properties": properties, "required": required}
    return {**schema, "$defs": embedding.defs} if embedding.defs else schema


def _direct(template: Json) -> str | None:
    """The `x` of a template that is `${input.x}` and nothing more."""
    expression = whole(template)
    if expression is None:
        return None
    root, _, key = expression.text.strip().partition(".")
    return key if root == "input" and key.isidentifier() else None
