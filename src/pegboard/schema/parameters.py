"""A function's parameters: their schema, and the way from JSON arguments to them."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, Optional, cast, get_args, get_origin

from pegboard.errors import DefinitionError
from pegboard.schema.clean import schema_of
from pegboard.schema.docstring import Docstring
from pegboard.schema.modern import respelled
from pegboard.schema.types import JsonObject, Schema, pointer
from pegboard.schema.violation import Violation

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

EMPTY: Any = inspect.Parameter.empty
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


class ArgumentsError(ValueError):
    """Arguments do not become the parameters of a function.

    Parameters:
        violations: each faulty place.
    """

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__("; ".join(str(violation) for violation in violations))
        self.violations = tuple(violations)


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a function takes. Make it with `read_parameters`.

    Parameters:
        schema: the JSON Schema of the arguments, in the author's order.
        signature: the whole signature, with the parameters that are no arguments.
        adapter: the arguments as one type.
        fill: makes the defaults that Python itself does not know (`Field(default=...)`), by parameter.
        rest: the name of the `**keyword` parameter.
    """

    schema: Schema
    signature: inspect.Signature
    adapter: "TypeAdapter[dict[str, Any]]"
    fill: Mapping[str, Callable[[], Any]]
    rest: str | None = None

    def accept(self, arguments: JsonObject) -> dict[str, Any]:
        """The Python values of JSON arguments, by parameter.

        Raises:
            ArgumentsError: a value is not what its parameter takes.
        """
        from pydantic import ValidationError
        from pydantic_core import PydanticSerializationError, to_json

        try:
            # Through JSON text, since the JSON reading of dates, bytes and sets is the one that the schema shows.
            values = self.adapter.validate_json(to_json(self._gathered(arguments)))
        except PydanticSerializationError:
            raise ArgumentsError([Violation("", "hold something that is not JSON")]) from None
        except ValidationError as error:
            raise ArgumentsError(_violations(error, arguments)) from None
        for name, make in self.fill.items():
            if name not in values:
                values[name] = make()
        return values

    def _gathered(self, arguments: JsonObject) -> JsonObject:
        """The arguments with those that `**keyword` takes in one place."""
        if self.rest is None:
            return arguments
        known = self.schema["properties"]
        others = {key: value for key, value in arguments.items() if key not in known}
        return {**{key: value for key, value in arguments.items() if key in known}, self.rest: others}

    def bind(self, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Positional and keyword parameters, in the places where the signature wants them."""
        if not any(one.kind in _POSITIONAL for one in self.signature.parameters.values()):
            named = {name: value for name, value in values.items() if name != self.rest}
            return (), {**values.get(self.rest or "", {}), **named}
        bound = inspect.BoundArguments(self.signature, dict(values))  # type: ignore[arg-type]
        bound.apply_defaults()
        return bound.args, bound.kwargs


def read_parameters(
    signature: inspect.Signature,
    hints: Mapping[str, Any],
    docstring: Docstring,
    *,
    leave_out: Collection[str],
    owner: str,
) -> Parameters:
    """Read the parameters of a signature as one JSON object.

    Parameters:
        signature: the signature.
        hints: its annotations, resolved.
        docstring: where parameters are described that do not describe themselves.
        leave_out: the parameters that are no arguments.
        owner: whose parameters they are, for messages.

    Raises:
        DefinitionError: a parameter has a type that JSON cannot express.
    """
    found = [one for one in signature.parameters.values() if one.name not in leave_out]
    taken = [_Field.read(one, hints, docstring) for one in found if one.kind is not inspect.Parameter.VAR_KEYWORD]
    rest = next((one.name for one in found if one.kind is inspect.Parameter.VAR_KEYWORD), None)
    others = [] if rest is None else [_Field(rest, dict[str, respelled(hints.get(rest, Any))], {})]
    adapter, schema = _typed([*taken, *others], owner=owner)
    if rest is not None:
        schema["additionalProperties"] = schema["properties"].pop(rest)["additionalProperties"]
    fill = {field.name: field.fill for field in taken if field.fill is not None}
    return Parameters(schema, signature, adapter, fill, rest)


@dataclass(frozen=True, slots=True)
class _Field:
    """One argument: its annotation with all metadata, its default, and what makes a default unknown to Python."""

    name: str
    annotation: Any
    default: Any
    fill: Callable[[], Any] | None = None

    @classmethod
    def read(cls, parameter: inspect.Parameter, hints: Mapping[str, Any], docstring: Docstring) -> "_Field":
        from pydantic import Field
        from pydantic.fields import FieldInfo

        annotation: Any = respelled(hints.get(parameter.name, Any))
        default: Any = parameter.default
        if isinstance(default, FieldInfo):
            annotation, default = Annotated[annotation, default], EMPTY
        infos = [meta for meta in _metadata(annotation) if isinstance(meta, FieldInfo)]
        said = _remark(annotation) or docstring.parameters.get(parameter.name)
        if said and not any(info.description for info in infos):
            annotation = Annotated[annotation, Field(description=said)]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return cls(parameter.name, list[annotation], ())
        info = next((info for info in infos if not info.is_required()), None)
        if default is EMPTY and info is not None:
            make = _maker(info)
            return cls(parameter.name, annotation, make(), make)
        if default is None and not _admits_none(annotation):
            annotation = Optional[annotation]  # noqa: UP045  (the annotation is a value here)
        return cls(parameter.name, annotation, default)


def _maker(info: Any) -> Callable[[], Any]:
    return lambda: info.get_default(call_default_factory=True)


def _metadata(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _remark(annotation: Any) -> str | None:
    """What `Annotated[T, "..."]` or `Annotated[T, Doc("...")]` (PEP 727) says of a parameter."""
    remarks = (getattr(meta, "documentation", meta) for meta in _metadata(annotation))
    return next((remark for remark in remarks if isinstance(remark, str)), None)


def _admits_none(annotation: Any) -> bool:
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return bare is Any or bare is None or bare is type(None) or type(None) in get_args(bare) or bare is object


def _typed(fields: Sequence[_Field], *, owner: str) -> "tuple[TypeAdapter[Any], dict[str, Any]]":
    from pydantic import ConfigDict, TypeAdapter
    from pydantic.errors import PydanticUserError
    from typing_extensions import TypedDict

    hints = {
        field.name: field.annotation if field.default is EMPTY else NotRequired[field.annotation] for field in fields
    }
    arguments: Any = TypedDict("Arguments", hints)  # type: ignore[operator]
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", val_json_bytes="base64")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(arguments)
        schema = schema_of(adapter, "validation", name="Arguments")
    except PydanticUserError as error:
        raise DefinitionError(
            f"A parameter of {owner} has a type that has no JSON form: {_first_line(error)}",
            next_step="Take plain data (or a dataclass, a pydantic model) and make the object inside the function.",
        ) from error
    schema.setdefault("properties", {})
    for field, node in zip(fields, schema["properties"].values(), strict=True):
        _note_default(node, field.default)
    return adapter, schema


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _note_default(node: dict[str, Any], default: Any) -> None:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if default is EMPTY or default == ():
        return
    try:
        plain = to_jsonable_python(default, by_alias=True, bytes_mode="base64", inf_nan_mode="null")
    except PydanticSerializationError:
        return
    node["default"] = sorted(plain, key=str) if isinstance(default, (set, frozenset)) else plain


def _violations(error: "ValidationError", arguments: JsonObject) -> list[Violation]:
    """Pydantic's faults by place; a place holds only what leads through the arguments, not the branch of a union."""
    return [
        Violation(pointer(*_place(fault["loc"], arguments)), fault["msg"][:1].lower() + fault["msg"][1:])
        for fault in error.errors(include_url=False, include_context=False)
    ]


def _place(location: Sequence[str | int], arguments: JsonObject) -> list[str | int]:
    place: list[str | int] = []
    value: Any = arguments
    for part in location:
        if isinstance(value, Mapping) and part in value:
            value = cast("Mapping[Any, Any]", value)[part]
        elif isinstance(value, list) and isinstance(part, int) and part < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[part]
        elif not (isinstance(value, Mapping) and part == location[-1]):
            continue
        place.append(part)
    return place
