"""A function's signature, hints and docstring become schemas, and JSON becomes its parameters."""

import datetime as dt
import enum
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from annotated_types import Ge, Len
from pydantic import BaseModel, Field
from typing_extensions import Doc

from pegboard.errors import DefinitionError
from pegboard.schema.infer import infer
from pegboard.schema.parameters import ArgumentsError


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A point.

    Attributes:
        x: How far across.
    """

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list[str])


class Person(BaseModel):
    name: str
    boss: "Person | None" = None


class Options(TypedDict):
    depth: int
    inner: NotRequired["Options"]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (Any, {}),
        (None, {"type": "null"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "uniqueItems": True, "items": {"type": "string"}}),
        (Iterable[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Color, {"type": "string", "enum": ["red", "blue"]}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (dt.date, {"type": "string", "format": "date"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (Path, {"type": "string", "format": "path"}),
        (
            Annotated[int, Field(ge=1, description="How many.")],
            {"type": "integer", "minimum": 1, "description": "How many."},
        ),
        (Annotated[int, Ge(1)], {"type": "integer", "minimum": 1}),
        (Annotated[str, Len(2, 4)], {"type": "string", "minLength": 2, "maxLength": 4}),
    ],
)
def test_each_type_has_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    def f(value: Any) -> None: ...

    f.__annotations__["value"] = annotation
    inferred = infer(f).input
    definition = inferred["properties"]["value"]
    if "$ref" in definition:
        definition = inferred["$defs"][definition["$ref"].rpartition("/")[2]]
    assert definition == schema
    assert inferred["required"] == ["value"]


def test_parameters_keep_the_authors_order_and_nothing_is_invented() -> None:
    def f(zebra: int, apple: str = "x", *, mango: bool = False) -> None: ...

    assert infer(f).input == {
        "type": "object",
        "properties": {
            "zebra": {"type": "integer"},
            "apple": {"type": "string", "default": "x"},
            "mango": {"type": "boolean", "default": False},
        },
        "required": ["zebra"],
        "additionalProperties": False,
    }
    assert list(infer(f).input["properties"]) == ["zebra", "apple", "mango"]


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def f() -> None: ...

    assert infer(f).input == {"type": "object", "properties": {}, "additionalProperties": False}
    assert infer(f).output is None


def test_classes_stand_in_definitions_with_what_their_docstrings_say() -> None:
    def f(point: Point, person: Person, options: Options) -> Point:
        return point

    inferred = infer(f)
    assert inferred.input["properties"] == {
        "point": {"$ref": "#/$defs/Point"},
        "person": {"$ref": "#/$defs/Person"},
        "options": {"$ref": "#/$defs/Options"},
    }
    definitions = inferred.input["$defs"]
    assert definitions["Point"]["description"] == "A point."
    assert definitions["Point"]["properties"]["x"] == {"type": "integer", "description": "How far across."}
    assert definitions["Person"]["properties"]["boss"]["anyOf"][0] == {"$ref": "#/$defs/Person"}
    assert definitions["Options"]["properties"]["inner"] == {"$ref": "#/$defs/Options"}
    assert "title" not in str(inferred.input)
    assert inferred.output is not None
    assert inferred.output["type"] == "object"


GOOGLE = """Send it.

    It goes by mail.

    Args:
        to: Who gets it.
        body (str): What
            it says.

    Returns:
        Its id.
    """
NUMPY = """Send it.

    It goes by mail.

    Parameters
    ----------
    to : str
        Who gets it.
    body : str
        What
        it says.

    Returns
    -------
    int
        Its id.
    """
SPHINX = """Send it.

    It goes by mail.

    :param to: Who gets it.
    :param body: What
        it says.
    :returns: Its id.
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_docstrings_of_three_styles_say_the_same(docstring: str) -> None:
    def f(to: str, body: str) -> int:
        return 1

    f.__doc__ = docstring
    inferred = infer(f)
    assert inferred.docstring.description == "Send it.\n\nIt goes by mail."
    assert inferred.input["properties"]["to"]["description"] == "Who gets it."
    assert inferred.input["properties"]["body"]["description"] == "What it says."
    assert inferred.output == {"type": "integer", "description": "Its id."}


def test_an_annotation_says_more_than_the_docstring() -> None:
    def f(to: Annotated[str, Field(description="From the annotation.")]) -> None:
        """Send.

        Args:
            to: From the docstring.
        """

    assert infer(f).input["properties"]["to"]["description"] == "From the annotation."


@pytest.mark.parametrize("remark", ["Who gets it.", Doc("Who gets it.")], ids=["text", "Doc"])
def test_a_remark_in_an_annotation_is_the_description(remark: Any) -> None:
    def f(to: Annotated[str, remark]) -> None:
        """Send."""

    assert infer(f).input["properties"]["to"]["description"] == "Who gets it."


def test_json_becomes_python_values() -> None:
    def f(
        color: Color, point: Point, when: dt.datetime, raw: bytes, place: Path, ids: set[int], options: Options
    ) -> None: ...

    values = infer(f).parameters.accept(
        {
            "color": "red",
            "point": {"x": 1},
            "when": "2024-05-01T10:00:00Z",
            "raw": "aGk=",
            "place": "a/b",
            "ids": [1, 2, 2],
            "options": {"depth": 1, "inner": {"depth": 2}},
        }
    )
    assert values == {
        "color": Color.RED,
        "point": Point(1),
        "when": dt.datetime(2024, 5, 1, 10, tzinfo=dt.UTC),
        "raw": b"hi",
        "place": Path("a/b"),
        "ids": {1, 2},
        "options": {"depth": 1, "inner": {"depth": 2}},
    }


def test_an_iterable_can_be_read_twice() -> None:
    def f(numbers: Iterable[int]) -> list[int]:
        return [*numbers, *numbers]

    assert f(**infer(f).parameters.accept({"numbers": [1, 2]})) == [1, 2, 1, 2]


def test_every_kind_of_parameter_finds_its_place() -> None:
    def f(a: int, b: int = 2, /, c: int = 3, *rest: int, d: int = 4, **more: int) -> tuple[Any, ...]:
        return (a, b, c, rest, d, more)

    inferred = infer(f)
    assert inferred.input["additionalProperties"] == {"type": "integer"}

    def called(**arguments: Any) -> Any:
        positional, named = inferred.parameters.bind(inferred.parameters.accept(arguments))
        return f(*positional, **named)

    assert called(a=1) == (1, 2, 3, (), 4, {})
    assert called(a=1, rest=[7, 8], d=5, e=6) == (1, 2, 3, (7, 8), 5, {"e": 6})
    with pytest.raises(ArgumentsError, match="^/e: "):
        called(a=1, e="x")


def test_defaults_that_only_pydantic_knows_are_filled_in() -> None:
    def f(n: int = Field(3, ge=1)) -> int:
        return n

    inferred = infer(f)
    assert inferred.input["properties"]["n"] == {"type": "integer", "minimum": 1, "default": 3}
    assert inferred.parameters.accept({}) == {"n": 3}


def test_a_default_of_none_admits_null() -> None:
    def f(n: int = None) -> None: ...  # type: ignore[assignment]

    assert infer(f).input["properties"]["n"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}


def test_an_alias_is_the_name_that_is_sent() -> None:
    def f(from_: Annotated[str, Field(alias="from")]) -> str:
        return from_

    inferred = infer(f)
    assert list(inferred.input["properties"]) == ["from"]
    assert inferred.parameters.accept({"from": "x"}) == {"from_": "x"}


def test_faults_are_told_by_place() -> None:
    def f(when: dt.date | int, points: list[Point]) -> None: ...

    with pytest.raises(ArgumentsError) as caught:
        infer(f).parameters.accept({"when": "never", "points": [{"x": 1}, {"x": "far"}], "other": 1})
    assert {one.pointer for one in caught.value.violations} == {"/when", "/points/1/x", "/other"}


def test_what_utf8_cannot_carry_is_a_fault_not_a_crash() -> None:
    def f(text: str) -> None: ...

    with pytest.raises(ArgumentsError, match="not JSON"):
        infer(f).parameters.accept({"text": "\ud800"})


class Opaque: ...


@pytest.mark.parametrize("annotation", [Opaque, "Missing"])
def test_a_type_that_json_cannot_express_is_refused_with_a_way_out(annotation: Any) -> None:
    def f(thing: Any) -> None: ...

    f.__annotations__["thing"] = annotation
    with pytest.raises(DefinitionError) as caught:
        infer(f)
    assert caught.value.next_step


def test_partials_and_callable_objects_are_functions_too() -> None:
    def plus(a: int, b: int) -> int:
        return a + b

    class Adder:
        def __call__(self, a: int) -> int:
            return a

    assert infer(partial(plus, b=2)).input["required"] == ["a"]
    assert infer(Adder()).input["properties"] == {"a": {"type": "integer"}}


class Answer(TypedDict):
    at: dt.datetime
    raw: bytes


@pytest.mark.parametrize(
    ("annotation", "value", "shown"),
    [
        (Any, {"a": {1}, 5: dt.date(2024, 1, 2)}, {"a": [1], "5": "2024-01-02"}),
        (
            Answer,
            Answer(at=dt.datetime(2024, 1, 2, tzinfo=dt.UTC), raw=b"\xff"),
            {"at": "2024-01-02T00:00:00Z", "raw": "_w=="},
        ),
        (list[Point], [Point(1)], [{"x": 1, "y": 0, "tags": []}]),
        (Person, Person(name="Ann"), {"name": "Ann", "boss": None}),
        (int, "not an int", "not an int"),
        (float, float("nan"), "NaN"),
        (Any, float("inf"), "Infinity"),
        (Color, Color.BLUE, "blue"),
        (Any, Path("a"), "a"),
    ],
)
def test_any_value_becomes_json(annotation: Any, value: Any, shown: Any) -> None:
    def f() -> Any: ...

    f.__annotations__["return"] = annotation
    assert infer(f).returns.render(value) == shown


def test_an_object_of_an_unknown_class_becomes_its_text() -> None:
    def f() -> Any: ...

    class Thing:
        def __str__(self) -> str:
            return "a thing"

    assert infer(f).returns.render({"thing": Thing()}) == {"thing": "a thing"}
