"""Schemas of objects as people write them in a config: a table of properties, or a whole JSON Schema."""

from collections.abc import Mapping
from typing import cast

from pegboard.errors import DefinitionError
from pegboard.schema.types import Json, Schema


def read_object(table: Json, where: str) -> Schema | None:
    """The schema of an object: a whole JSON Schema, or a table of properties.

    In a table of properties a text is a type (`name = "string"`); a name that ends in `?` is optional, and so is one
    with a default.

    Raises:
        DefinitionError: it is neither.
    """
    if table is None:
        return None
    if not isinstance(table, Mapping):
        raise DefinitionError("This is a table.", where=where, next_step='Write for example { name = "string" }.')
    rows = cast("Mapping[str, Json]", table)
    if rows.get("type") == "object":
        return rows
    properties: dict[str, Json] = {}
    required: list[str] = []
    for key, value in rows.items():
        name = key.removesuffix("?")
        node = {"type": value} if isinstance(value, str) else value
        if not isinstance(node, Mapping):
            raise DefinitionError(f"{name} is neither a type nor a schema.", where=f"{where}.{key}")
        properties[name] = dict(cast("Mapping[str, Json]", node))
        if not key.endswith("?") and "default" not in node:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def table_of(value: Json, where: str) -> dict[str, Json]:
    """A value that must be a table with something in it.

    Raises:
        DefinitionError: it is none.
    """
    if not isinstance(value, Mapping) or not value:
        raise DefinitionError(
            "A table with something in it is needed.", where=where, next_step='Write for example { active = "A" }.'
        )
    return {str(key): part for key, part in cast("Mapping[str, Json]", value).items()}


def text_of(value: Json, where: str) -> str:
    """A value that must be a text with something in it.

    Raises:
        DefinitionError: it is none.
    """
    if not isinstance(value, str) or not value:
        raise DefinitionError("A text is needed.", where=where, next_step='Write for example "user_id".')
    return value
