"""Validation and mending, for any schema and any value: nothing crashes, valid stays untouched, mended is valid."""

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import _WrappedReferencingError  # pyright: ignore[reportPrivateUsage]
from tests.property.schemas import any_json, broken_schemas, small_values, sound_schemas

from pegboard.schema.admit import kind_of
from pegboard.schema.mend import mend
from pegboard.schema.validate import validator

pytestmark = pytest.mark.slow


@settings(max_examples=300)
@given(broken_schemas() | any_json, any_json)
def test_no_schema_and_no_value_crashes(schema: Any, value: Any) -> None:
    judge = validator(schema)
    assert judge.is_valid(value) is (judge.violations(value) == ())
    mended, changes = mend(schema, value)
    assert changes or mended is value


@settings(max_examples=300)
@given(sound_schemas(), small_values)
def test_a_sound_schema_means_what_the_specification_says(schema: Any, value: Any) -> None:
    try:
        expected = Draft202012Validator(schema).is_valid(value)
    except (RecursionError, _WrappedReferencingError):
        assume(False)
        raise
    judge = validator(schema)
    assert judge.notes == ()
    assert judge.is_valid(value) is expected


def as_texts(value: Any, choose: Any) -> Any:
    """The value with some of its parts written as JSON texts."""
    if isinstance(value, dict):
        value = {key: as_texts(inner, choose) for key, inner in value.items()}
    elif isinstance(value, list):
        value = [as_texts(inner, choose) for inner in value]
    return json.dumps(value) if choose() else value


@settings(max_examples=500)
@given(sound_schemas(), small_values, st.data())
def test_mending_changes_nothing_that_is_valid_and_makes_valid_what_it_changes(
    schema: Any, value: Any, data: st.DataObject
) -> None:
    sent = as_texts(value, lambda: data.draw(st.integers(0, 3)) == 0)
    judge = validator(schema)
    mended, changes = mend(schema, sent)
    if judge.is_valid(sent):
        assert (mended, changes) == (sent, ())
    if changes:
        assert judge.is_valid(mended)
        assert mend(schema, mended) == (mended, ())
    else:
        assert mended is sent


TEXTLESS = st.sampled_from(
    [
        {"type": "integer"},
        {"type": ["boolean", "null"]},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
        {"anyOf": [{"type": "object"}, {"type": "null"}]},
        {"enum": [1, 2, None, [1]]},
        {"$ref": "#/$defs/n"},
    ]
)


@given(st.dictionaries(st.sampled_from("abc"), TEXTLESS, min_size=1), st.data())
def test_what_was_sent_as_text_where_no_text_is_allowed_is_read_back(
    properties: dict[str, Any], data: st.DataObject
) -> None:
    from hypothesis_jsonschema import from_schema

    schema = {"type": "object", "properties": properties, "$defs": {"n": {"type": "boolean"}}}
    value = {key: data.draw(from_schema({**node, "$defs": schema["$defs"]})) for key, node in properties.items()}
    sent = {key: json.dumps(inner) if data.draw(st.booleans()) else inner for key, inner in value.items()}
    whole = json.dumps(sent) if data.draw(st.booleans()) else sent
    mended, changes = mend(schema, whole)
    assert mended == value
    assert bool(changes) is (kind_of(whole) == "string" or sent != value)
