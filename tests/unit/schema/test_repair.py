"""Repair on load: what each kind of fault becomes, that sound schemas stay, and that nothing can break it."""

import copy
import json
from typing import Any

import pytest

from pegboard.schema.repair import repair

A: dict[str, Any] = {"type": "string"}

FAULTS: list[tuple[str, Any, Any]] = [
    (
        "a boolean schema says the same as an object",
        {"properties": {"a": True, "b": False}},
        {"properties": {"a": {}, "b": {"not": {}}}},
    ),
    ("properties are added to the root", {"type": "object"}, {"type": "object", "properties": {}}),
    ("properties that are null", {"type": "object", "properties": None}, {"type": "object", "properties": {}}),
    (
        "properties in a type list, at any depth",
        {"type": "array", "items": {"type": ["object", "null"]}},
        {"type": "array", "items": {"type": ["object", "null"], "properties": {}}},
    ),
    ("items are added", {"type": ["array", "null"]}, {"type": ["array", "null"], "items": {}}),
    (
        "definitions of draft-07",
        {"$ref": "#/definitions/A", "definitions": {"A": A}},
        {"$ref": "#/$defs/A", "$defs": {"A": A}},
    ),
    ("exclusive bounds of draft-04", {"minimum": 0, "exclusiveMinimum": True}, {"exclusiveMinimum": 0}),
    ("exclusive bounds that exclude nothing", {"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
    (
        "the id of draft-04",
        {"id": "https://x.example/s", "type": "string"},
        {"type": "string", "$id": "https://x.example/s"},
    ),
    (
        "tuple items",
        {"type": "array", "items": [A, {"type": "integer"}], "additionalItems": False},
        {"type": "array", "prefixItems": [A, {"type": "integer"}], "items": {"not": {}}},
    ),
    (
        "dependencies",
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
    ),
    (
        "dependencies beside tables that are none",
        {"dependencies": {"a": ["b"], "c": A}, "dependentSchemas": None, "dependentRequired": 3},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": A}},
    ),
    (
        "definitions that stand in a property",
        {"properties": {"f": {"items": {"$ref": "#/$defs/F"}, "$defs": {"F": A}}}},
        {"properties": {"f": {"items": {"$ref": "#/$defs/F"}}}, "$defs": {"F": A}},
    ),
    (
        "definitions outside any table of schemas",
        {"properties": {"p": {"$ref": "#/components/schemas/Pet"}}, "components": {"schemas": {"Pet": A}}},
        {"properties": {"p": {"$ref": "#/$defs/Pet"}}, "components": {"schemas": {"Pet": A}}, "$defs": {"Pet": A}},
    ),
    (
        "a reference by anchor",
        {"properties": {"p": {"$ref": "#pet"}}, "$defs": {"Pet": {**A, "$anchor": "pet"}}},
        {"properties": {"p": {"$ref": "#/$defs/Pet"}}, "$defs": {"Pet": A}},
    ),
    (
        "a dangling reference",
        {"properties": {"p": {"$ref": "#/$defs/Ghost", "description": "x"}}},
        {"properties": {"p": {"description": "x"}}},
    ),
    (
        "a remote reference",
        {"properties": {"p": {"$ref": "https://schemas.invalid/x.json"}}},
        {"properties": {"p": {}}},
    ),
    ("a reference to itself", {"properties": {"p": {"$ref": "#/properties/p"}}}, {"properties": {"p": {}}}),
    ("nullable", {"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ("nullable with an enum", {"enum": ["a"], "nullable": True}, {"enum": ["a", None]}),
    (
        "nullable with a reference",
        {"properties": {"p": {"$ref": "#/$defs/A", "nullable": True}}, "$defs": {"A": A}},
        {"properties": {"p": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}, "$defs": {"A": A}},
    ),
    (
        "required as a boolean",
        {"properties": {"a": {"type": "string", "required": True}, "b": {"type": "string", "required": False}}},
        {"properties": {"a": A, "b": A}, "required": ["a"]},
    ),
    (
        "required among the properties",
        {"properties": {"coin": A, "required": ["coin"]}},
        {"properties": {"coin": A}, "required": ["coin"]},
    ),
    (
        "required that names an absent key",
        {"properties": {"a": A}, "required": ["a", "b"]},
        {"properties": {"a": A, "b": {}}, "required": ["a", "b"]},
    ),
    (
        "required that names a forbidden key",
        {"properties": {}, "required": ["b"], "additionalProperties": False},
        {"properties": {}, "required": [], "additionalProperties": False},
    ),
    ("descriptions that are no strings", {"description": ["a", "b"], "title": None}, {"description": "a\nb"}),
    ("lone surrogates", {"description": "price \ud800 ok \ud83d\ude00"}, {"description": "price \ufffd ok \U0001f600"}),
    (
        "property schemas that are type names",
        {"properties": {"n": "int", "s": "string"}},
        {"properties": {"n": {"type": "integer"}, "s": A}},
    ),
    (
        "property schemas that are texts",
        {"properties": {"q": "What to look for"}},
        {"properties": {"q": {"description": "What to look for"}}},
    ),
    ("a date", {"type": "date"}, {"type": "string", "format": "date"}),
    ("a list written with brackets", {"type": "str[]"}, {"type": "array", "items": A}),
    ("a union written with a bar", {"type": "string | null"}, {"type": ["string", "null"]}),
    (
        "a map",
        {"type": "Dict[str, float]"},
        {"type": "object", "additionalProperties": {"type": "number"}, "properties": {}},
    ),
    ("any", {"type": "any", "description": "x"}, {"description": "x"}),
    (
        "an unknown type, inferred from its keywords",
        {"type": "color", "pattern": "^#"},
        {"type": "string", "pattern": "^#", "description": "type: color"},
    ),
    (
        "an unknown type, inferred from its values",
        {"type": "enum", "enum": [1, 2]},
        {"type": "integer", "enum": [1, 2]},
    ),
    ("an unknown member of a union", {"type": ["string", "foo"]}, {"type": ["string"], "description": "type: foo"}),
    ("an empty enum", {"type": "string", "enum": []}, A),
    ("counts written as texts", {"minLength": "3", "maxItems": -1}, {"minLength": 3}),
    ("one schema where a list must be", {"anyOf": {"type": "string"}}, {"anyOf": [A]}),
    (
        "properties written as rows",
        {"type": "object", "properties": [{"name": "a", "type": "string"}]},
        {"type": "object", "properties": {"a": A}},
    ),
    ("no schema at all", None, {}),
    ("a text at the root", "string", A),
]


@pytest.mark.parametrize(("broken", "sound"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
@pytest.mark.requirement("D6.1", "D6.2")
def test_each_fault_is_repaired_and_listed(broken: Any, sound: Any) -> None:
    before = copy.deepcopy(broken)
    repaired = repair(broken)
    assert repaired.schema == sound
    assert repaired.changes or broken is True or broken == {"properties": {"a": True}}
    assert broken == before, "the author's own schema is untouched"
    again = repair(repaired.schema)
    assert again.schema == repaired.schema
    assert again.changes == ()


def test_a_sound_schema_stays_as_it_is() -> None:
    sound = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "zeta": {"type": ["string", "null"], "default": None},
            "properties": {"const": 1},
            "beta": {"enum": ["b", "a"], "type": "string", "dependentRequired": {"a": []}, "description": "after"},
            "alpha": {"oneOf": [{"$ref": "#/$defs/T"}, {"type": "array", "prefixItems": [{}], "items": {}}]},
        },
        "required": ["zeta"],
        "anyOf": [{"required": ["alpha"]}, {"required": ["other"]}],
        "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}, "additionalProperties": False}},
        "x-vendor": {"type": 7},
    }
    repaired = repair(sound)
    assert repaired.changes == ()
    assert json.dumps(repaired.schema) == json.dumps(sound)


def test_arguments_are_an_object_even_where_the_root_does_not_say_so() -> None:
    assert repair(None, arguments=True).schema == {"type": "object", "properties": {}}
    assert repair({"properties": {"a": A}}, arguments=True).schema == {"properties": {"a": A}, "type": "object"}
    assert repair({"type": "string"}, arguments=True).schema == {"type": "string"}


def test_a_schema_that_contains_itself_ends() -> None:
    knot: dict[str, Any] = {"type": "object"}
    knot["properties"] = {"again": knot}
    repaired = repair(knot)
    assert repaired.schema == {"type": "object", "properties": {"again": {}}}
    assert [change.pointer for change in repaired.changes][:1] == ["/properties/again"]


def test_a_schema_that_unfolds_without_end_is_cut() -> None:
    bomb: dict[str, Any] = {"type": "string"}
    for _ in range(64):
        bomb = {"anyOf": [bomb, bomb]}
    assert any("more than" in change.message for change in repair(bomb).changes)


def test_endless_nesting_is_cut() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5000):
        deep = {"not": deep}
    repaired = repair(deep)
    assert repair(repaired.schema).changes == ()
    assert "levels deep" in repaired.changes[0].message


def test_references_that_lead_in_a_ring_are_cut_once() -> None:
    ring = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}}}
    repaired = repair(ring)
    assert sum("back to itself" in change.message for change in repaired.changes) == 1
    assert repair(repaired.schema).changes == ()


def test_keywords_that_stand_among_the_properties_with_required_are_moved_to_the_object() -> None:
    inner = {"x": {"type": "string"}, "required": ["x"], "additionalProperties": False, "type": "object"}
    found = repair({"type": "object", "properties": {"p": {"type": "object", "properties": inner}}}).schema
    assert found["properties"]["p"] == {
        "type": "object",
        "properties": {"x": {"type": "string"}},
        "required": ["x"],
        "additionalProperties": False,
    }


def test_parameters_that_are_called_as_keywords_stay_parameters() -> None:
    table = {"type": {"type": "string"}, "additionalProperties": True, "required": {"type": "boolean"}}
    found = repair({"type": "object", "properties": table}).schema
    assert list(found["properties"]) == ["type", "additionalProperties", "required"]
    named = {"type": "object", "x": {"type": "string"}, "required": ["type", "x"]}
    assert list(repair({"type": "object", "properties": named}).schema["properties"]) == ["type", "x"]
