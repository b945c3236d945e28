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
