"""What a function returns: its schema, and the way from Python to JSON."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pegboard.schema.clean import schema_of
from pegboard.schema.docstring import Docstring
from pegboard.schema.modern import respelled
from pegboard.schema.types import Json, Schema

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Returns:
    """What a function gives. Make it with `read_returns`.

    Parameters:
        annotation: the return annotation, resolved; None where there is none.
        schema: its JSON Schema; None where it has none.
        adapter: the annotation as a type.
    """

    annotation: Any = None
    schema: Schema | None = None
    adapter: "TypeAdapter[list[Any]] | None" = None

    def render(self, value: Any) -> Json:
        """Any value as JSON: by the annotation where it fits, else by what the value is.

        Dates become ISO 8601, bytes base64url, enums their values, sets lists; NaN and the infinities, which JSON does
        not have, become their names; an object of an unknown class becomes its text.
        """
        from pydantic_core import from_json

        return from_json(self._as_text(value))[0]

    def _as_text(self, value: Any) -> bytes:
        from pydantic_core import PydanticSerializationError, to_json

        if self.adapter is not None:
            try:
                return self.adapter.dump_json([value], by_alias=True, warnings="error")
            except (PydanticSerializationError, ValueError):
                pass  # not what was annotated: it is shown for what it is
        return to_json([value], by_alias=True, bytes_mode="base64", inf_nan_mode="strings", fallback=_plain)


def read_returns(annotation: Any, docstring: Docstring, *, opaque: Callable[[Any], bool]) -> Returns:
    """Read a return annotation; one that has no JSON form gives no schema, and its values are shown as they are.

    Parameters:
        annotation: the annotation, resolved; None where there is none, or where it is None.
        docstring: where the result is described.
        opaque: says of an annotation that it has no schema.
    """
    if annotation in (None, type(None), Any, object) or opaque(annotation):
        return Returns(annotation)
    from pydantic import ConfigDict, TypeAdapter
    from pydantic.errors import PydanticUserError

    kind: Any = respelled(annotation)
    try:
        # A list around it, since a type of its own may not be given a configuration.
        config = ConfigDict(ser_json_bytes="base64", ser_json_inf_nan="strings")
        wrapped = cast("Any", list)[kind]
        adapter: TypeAdapter[list[Any]] = TypeAdapter(wrapped, config=config)
        schema = schema_of(adapter, "serialization")
    except (PydanticUserError, TypeError, NameError):
        return Returns(annotation)
    return Returns(annotation, _described(_unwrapped(schema), docstring.returns), adapter)


def _unwrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """The items of the list that was put around, with a definition that is used once and at the top put in place."""
    inner = cast("dict[str, Any]", schema["items"])
    definitions = cast("dict[str, Any]", schema.get("$defs", {}))
    name = str(inner.get("$ref", "")).removeprefix("#/$defs/")
    if list(inner) == ["$ref"] and name in definitions and f'"#/$defs/{name}"' not in _text(definitions):
        inner = definitions[name]
        definitions = {key: node for key, node in definitions.items() if key != name}
    return {**inner, "$defs": definitions} if definitions else inner


def _text(value: Json) -> str:
    import json

    return json.dumps(value)


def _described(schema: dict[str, Any], said: str | None) -> dict[str, Any]:
    return {**schema, "description": said} if said and "description" not in schema else schema


def _plain(value: Any) -> Any:
    """What pydantic cannot show: arrays and scalars of other libraries as lists and numbers, all else as its text."""
    for method in ("tolist", "_asdict", "isoformat"):
        make = getattr(value, method, None)
        if callable(make):
            return make()
    return str(value)
