"""Specs survive being stored."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.catalog.plain import spec_from_json, spec_to_json
from pegboard.core import Effects, Freeform, Hint, Relation, Rung, SourceRef, ToolName, ToolSpec

texts = st.text("ab/é 🙂", max_size=4)
objects = st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=3)
hints = st.builds(Hint, st.sampled_from(Relation), texts, texts, st.none() | texts)
specs = st.builds(
    ToolSpec,
    name=st.builds(ToolName, texts, texts, st.none() | texts),
    description=texts,
    title=st.none() | texts,
    input=objects,
    output=st.none() | objects,
    freeform=st.none() | st.builds(Freeform, texts, st.none() | texts),
    effects=st.sampled_from(Effects),
    costly=st.booleans(),
    defer=st.none() | st.booleans(),
    modes=st.lists(texts, max_size=2).map(tuple),
    rung=st.none() | st.sampled_from(Rung),
    category=st.none() | texts,
    auth=st.none() | texts,
    hints=st.lists(hints, max_size=2).map(tuple),
    examples=st.lists(objects, max_size=2).map(tuple),
    batch=st.none() | st.integers(),
    aliases=st.lists(texts, max_size=2).map(tuple),
    replaces=st.lists(texts, max_size=2).map(tuple),
    deprecated=st.none() | texts,
    annotations=objects,
    icons=st.lists(objects, max_size=2).map(tuple),
    meta=objects,
    source=st.builds(SourceRef, texts, texts),
    original_input=st.none() | st.booleans() | objects,
)


@settings(max_examples=50)
@given(specs)
def test_a_spec_is_the_same_after_a_round_trip_through_json(spec: ToolSpec) -> None:
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec


@pytest.mark.parametrize("row", [{}, {"name": "x", "colour": 1}, {"name": ["a", "b"], "effects": "odd"}])
def test_a_row_that_is_no_stored_tool_is_told_apart(row: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        spec_from_json(row)
