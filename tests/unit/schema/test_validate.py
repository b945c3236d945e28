"""A validator names each faulty place, what is right there, and never crashes."""

from typing import Any

import pytest

from pegboard.schema.validate import MAX_DEPTH, validator

REPO: dict[str, Any] = {
    "type": "object",
    "properties": {
        "repo_path": {"type": "string"},
        "count": {"type": "integer", "minimum": 3},
        "order": {"enum": ["asc", "desc"]},
        "ids": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "shape": {
            "oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
                {"properties": {"kind": {"const": "b"}, "y": {"type": "string"}}, "required": ["kind", "y"]},
            ],
            "type": "object",
        },
    },
    "required": ["repo_path"],
    "additionalProperties": False,
}
OPEN = {key: value for key, value in REPO.items() if key != "additionalProperties"}


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        (REPO, {"repo_path": 1}, [("/repo_path", "expected a string, got 1")]),
        (REPO, {"repo_path": "", "count": 1}, [("/count", "expected at least 3, got 1")]),
        (REPO, {"repo_path": "", "order": "up"}, [("/order", 'expected one of "asc", "desc", got "up"')]),
        (REPO, {"repo_path": "", "ids": ["q"]}, [("/ids/0", 'expected an integer, got "q"')]),
        (REPO, {"repo_path": "", "ids": "q"}, [("/ids", 'expected an array or null, got "q"')]),
        (REPO, {"repo_path": "", "shape": {"kind": "a"}}, [("/shape/x", "is required but missing")]),
        (REPO, {"repo_path": "", "cuont": 3}, [("/cuont", 'is not a known parameter; did you mean "count"?')]),
        (
            OPEN,
            {"repoPath": "."},
            [("/repo_path", 'is required but missing; "repoPath" was sent: did you mean "repo_path"?')],
        ),
        (REPO, [], [("", "expected an object, got []")]),
    ],
)
def test_each_fault_says_where_and_what_is_right(
    schema: dict[str, Any], value: Any, told: list[tuple[str, str]]
) -> None:
    found = validator(schema).violations(value)
    assert [(violation.pointer, violation.message) for violation in found] == told


def test_a_misspelt_key_is_told_once_with_the_right_one() -> None:
    found = validator(REPO).violations({"repoPath": "."})
    assert [(violation.pointer, violation.near) for violation in found] == [("/repoPath", "repo_path")]


def test_many_faults_are_counted_not_all_told() -> None:
    found = validator({"items": {"type": "integer"}}).violations(["x"] * 50)
    assert len(found) == 21
    assert found[-1].message == "has 30 more faults"


@pytest.mark.parametrize(
    ("schema", "noted"),
    [
        ({"type": "strin"}, "/type"),
        ({"$ref": "https://elsewhere.example/x"}, "/$ref"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "/properties/a/$ref"),
        ({"properties": {"a": {"pattern": "(?=a)b"}}}, "/properties/a/pattern"),
        ({"properties": {"a": None}}, "/properties/a"),
        ({"$schema": "https://elsewhere.example/dialect"}, "/$schema"),
        ({"enum": [object()]}, "nothing is checked"),
        ("text", "nothing is checked"),
    ],
)
def test_a_broken_part_of_a_schema_is_noted_and_not_checked(schema: Any, noted: str) -> None:
    judge = validator(schema)
    assert noted in judge.notes[0]
    assert judge.violations({"a": "x"}) == ()


def test_the_sound_parts_of_a_broken_schema_still_count() -> None:
    judge = validator({"properties": {"a": {"type": "strin"}, "b": {"type": "string"}}})
    assert [violation.pointer for violation in judge.violations({"a": 1, "b": 1})] == ["/b"]


def test_tuples_as_older_drafts_spell_them_are_understood() -> None:
    judge = validator({"properties": {"pair": {"items": [{"type": "string"}, {"type": "integer"}]}}})
    assert judge.notes == ()
    assert [violation.pointer for violation in judge.violations({"pair": ["a", "b"]})] == ["/pair/1"]


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"n": value}
    return value


TREE = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}}


def holds_itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["n"] = value
    return value


@pytest.mark.parametrize("value", [nested(MAX_DEPTH + 1), nested(100_000), holds_itself()])
def test_a_value_without_a_floor_is_refused_not_followed(value: Any) -> None:
    [violation] = validator(TREE).violations(value)
    assert "levels deep" in violation.message


@pytest.mark.parametrize("value", [{"a": object()}, {1: 2}, {"a": {1, 2}}, {"a": b"x"}])
def test_what_is_not_json_is_a_fault(value: Any) -> None:
    assert len(validator({"additionalProperties": {"type": "object"}}).violations(value)) == 1


@pytest.mark.parametrize("keyword", ["properties", "anyOf", "items", "allOf", "$defs"])
def test_a_schema_without_a_floor_validates_nothing_and_says_so(keyword: str) -> None:
    schema: Any = {}
    for _ in range(50_000):
        schema = {
            keyword: {"a": schema} if keyword in ("properties", "$defs") else [schema] if "Of" in keyword else schema
        }
    judge = validator(schema)
    assert judge.violations({"a": 1}) == ()
    assert judge.notes


def test_references_in_a_circle_end() -> None:
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    validator(circle).violations({"a": 1})


def test_a_pattern_that_backtracks_for_ever_elsewhere_ends_at_once() -> None:
    judge = validator({"pattern": "^(a+)+$"})
    assert not judge.is_valid("a" * 50_000 + "!")


def test_equal_schemas_share_one_validator() -> None:
    assert validator({"type": "object"}) is validator({"type": "object"})
