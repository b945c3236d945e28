"""JSON Schema from pydantic without its noise: no invented titles, the author's order, class docstrings taken apart."""

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

from pegboard.schema.docstring import read_docstring

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_ORDER = ("type", "title", "description", "properties", "required", "additionalProperties")


def schema_of(
    adapter: "TypeAdapter[Any]", mode: Literal["validation", "serialization"], *, name: str = ""
) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a type.

    Parameters:
        adapter: the type.
        mode: `validation` for what it accepts, `serialization` for what it gives.
        name: the name of the type's class, where a title would only repeat it.

    Raises:
        pydantic.errors.PydanticInvalidForJsonSchema: the type has no JSON form.
    """
    schema = adapter.json_schema(mode=mode, schema_generator=_generator(), union_format="any_of")
    schema = _untitled(schema, name)
    definitions = {key: _untitled(node, key) for key, node in schema.get("$defs", {}).items()}
    first = {key: schema[key] for key in _ORDER if key in schema}
    rest = {key: value for key, value in schema.items() if key not in first and key != "$defs"}
    return {**first, **rest, **({"$defs": definitions} if definitions else {})}


@cache
def _generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class Clean(GenerateJsonSchema):
        """Pydantic's generator, with what it adds of its own taken away."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}

        def sort(self, value: Any, parent_key: str | None = None) -> Any:
            return value

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def model_schema(self, schema: Any) -> Any:
            return _described(super().model_schema(schema), schema["cls"])

        def dataclass_schema(self, schema: Any) -> Any:
            return _described(super().dataclass_schema(schema), schema["cls"])

        def typed_dict_schema(self, schema: Any) -> Any:
            return _described(super().typed_dict_schema(schema), schema.get("cls"))

        def bytes_schema(self, schema: Any) -> Any:
            encoding = "base64" if self.mode == "validation" else "base64url"
            sized = {key: value for key, value in super().bytes_schema(schema).items() if key != "format"}
            return {**sized, "contentEncoding": encoding}

    return Clean


def _untitled(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Without the title that only repeats the name of the class."""
    invented = schema.get("title") == name.rpartition("__")[2]
    return {key: value for key, value in schema.items() if not (invented and key == "title")}


def _described(schema: dict[str, Any], cls: type | None) -> dict[str, Any]:
    """Move what a class docstring says of its fields to the fields."""
    text = cls.__doc__ if cls is not None else None
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    if not text or schema.get("description") != inspect.cleandoc(text):
        return schema
    said = read_docstring(inspect.cleandoc(text))
    described = {
        name: {**node, "description": said.parameters[name]}
        if name in said.parameters and "description" not in node
        else node
        for name, node in properties.items()
    }
    body = {"properties": described} if properties else {}
    description = {"description": said.description} if said.description else {}
    return {**{key: value for key, value in schema.items() if key != "description"}, **description, **body}
