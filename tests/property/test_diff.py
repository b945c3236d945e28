"""The schema diff, held against a validator: what it calls harmless refuses nothing that was right before."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import _WrappedReferencingError  # pyright: ignore[reportPrivateUsage]
from tests.property.schemas import any_json, broken_schemas, small_values, sound_schemas

from pegboard.schema.diff import Side, Weight, diff_schemas
from pegboard.schema.walk import children, nodes

pytestmark = pytest.mark.slow

BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


@st.composite
def changed(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema, and the same with one node changed in one keyword."""
    import copy

    before = draw(sound_schemas())
    after = copy.deepcopy(before)
    node = draw(st.sampled_from([node for _, node in nodes(after)]))
    keyword = draw(st.sampled_from([*node, *BOUNDS, "type", "enum", "required", "additionalProperties", "not"]))
    value = {
        **dict.fromkeys(BOUNDS, draw(st.integers(0, 9))),
        "type": draw(st.sampled_from(["string", "integer", "null", "object", ["string", "null"]])),
        "enum": draw(st.lists(small_values, min_size=1, max_size=2)),
        "required": draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True)),
        "additionalProperties": draw(st.sampled_from([True, False, {"type": "string"}])),
        "not": {"type": "string"},
    }.get(keyword)
    if value is None or draw(st.booleans()):
        node.pop(keyword, None)
    else:
        node[keyword] = value
    return before, after


def valid(schema: dict[str, Any], value: Any) -> bool | None:
    try:
        return Draft202012Validator(schema).is_valid(value)
    except (RecursionError, _WrappedReferencingError):
        return None


def dangling(schema: dict[str, Any]) -> bool:
    return any("$ref" in node for _, node in nodes(schema)) and "$defs" not in schema


@settings(max_examples=400, deadline=None)
@given(changed(), st.lists(small_values, min_size=1, max_size=6))
def test_a_harmless_change_refuses_nothing_that_was_right(
    pair: tuple[dict[str, Any], dict[str, Any]], values: Any
) -> None:
    before, after = pair
    for old, new, side in ((before, after, Side.INPUT), (after, before, Side.OUTPUT)):
        found = diff_schemas(*((old, new) if side is Side.INPUT else (new, old)), side)
        heavy = any(d.weight is Weight.BREAKING for d in found)
        new_properties = any(" is new" in d.message and "/properties/" in d.pointer for d in found)
        if heavy or new_properties or dangling(old) or dangling(new):
            continue
        assert [value for value in values if valid(old, value) is True and valid(new, value) is False] == []


@settings(max_examples=150, deadline=None)
@given(any_json | broken_schemas(), any_json | broken_schemas())
def test_any_two_values_can_be_compared_and_none_differs_from_itself(before: Any, after: Any) -> None:
    for side in Side:
        assert diff_schemas(before, before, side) == ()
        assert diff_schemas(before, after, side) == diff_schemas(before, after, side)


def test_depth_and_breadth_are_bounded() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(3000):
        deep = {"type": "object", "properties": {"x": deep}}
    assert diff_schemas(deep, {"type": "object"}, Side.INPUT)
    assert diff_schemas(deep, deep, Side.INPUT) == ()
    assert next(children(deep))
