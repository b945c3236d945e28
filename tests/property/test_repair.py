"""Repair, for any JSON: it ends, it is idempotent, and a sound schema means the same afterwards."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import _WrappedReferencingError  # pyright: ignore[reportPrivateUsage]
from tests.property.schemas import any_json, broken_schemas, small_values, sound_schemas

from pegboard.schema.repair import repair
from pegboard.schema.walk import nodes, ref_target

pytestmark = pytest.mark.slow


def sound(schema: Any) -> None:
    """The repaired schema holds to 2020-12, has only object nodes, and every reference resolves."""
    Draft202012Validator.check_schema(schema)
    for _, node in nodes(schema):
        types = node.get("type", [])
        assert "object" not in types or "properties" in node
        if "$ref" in node:
            assert ref_target(schema, node["$ref"]) is not None


@settings(deadline=None)
@given(any_json)
def test_any_json_becomes_a_sound_schema(value: Any) -> None:
    repaired = repair(value)
    sound(repaired.schema)
    assert repair(repaired.schema) == type(repaired)(repaired.schema)


@settings(max_examples=300, deadline=None)
@given(broken_schemas())
def test_any_misuse_of_keywords_becomes_a_sound_schema(value: Any) -> None:
    repaired = repair(value, arguments=True)
    sound(repaired.schema)
    json.dumps(repaired.schema, allow_nan=False).encode()
    assert repair(repaired.schema, arguments=True) == type(repaired)(repaired.schema)


@settings(max_examples=200, deadline=None)
@given(sound_schemas(), small_values)
def test_a_sound_schema_judges_every_value_as_before(schema: dict[str, Any], value: Any) -> None:
    repaired = repair(schema).schema
    try:
        before = Draft202012Validator(schema).is_valid(value)
    except (RecursionError, _WrappedReferencingError):
        return
    assert Draft202012Validator(dict(repaired)).is_valid(value) is before
