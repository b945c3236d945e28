"""Two definitions of a tool: what callers must know, what they need not, and what are only words."""

from typing import Any

import pytest

from pegboard.schema.diff import Side, Weight, diff_definitions, diff_schemas, verdict

TEXT = {"type": "string"}
B, C, D = Weight.BREAKING, Weight.COMPATIBLE, Weight.DOCS


def of(schema: Any, **more: Any) -> dict[str, Any]:
    """An object with one optional property `a`."""
    return {"type": "object", "properties": {"a": schema, **more}}


# name: (before, after, pointer, weight on the input side, weight on the output side)
CHANGES: dict[str, tuple[Any, Any, str, Weight, Weight]] = {
    "a property is removed": (of(TEXT, b=TEXT), of(TEXT), "/properties/b", B, B),
    "a property is new": (of(TEXT), of(TEXT, b=TEXT), "/properties/b", C, C),
    "a new property is required": (of(TEXT), {**of(TEXT, b=TEXT), "required": ["b"]}, "/properties/b", B, C),
    "a property becomes required": (of(TEXT), {**of(TEXT), "required": ["a"]}, "/required", B, C),
    "a property becomes optional": ({**of(TEXT), "required": ["a"]}, of(TEXT), "/required", C, B),
    "other properties are refused": (
        of(TEXT),
        {**of(TEXT), "additionalProperties": False},
        "/additionalProperties",
        B,
        C,
    ),
    "another type": (of(TEXT), of({"type": "integer"}), "/properties/a/type", B, B),
    "one more type": (of(TEXT), of({"type": ["string", "null"]}), "/properties/a/type", C, B),
    "whole numbers become numbers": (of({"type": "integer"}), of({"type": "number"}), "/properties/a/type", C, B),
    "a value is added": (of({"enum": ["x"]}), of({"enum": ["x", "y"]}), "/properties/a/enum", C, B),
    "a value is left out": (of({"enum": ["x", "y"]}), of({"const": "x"}), "/properties/a/const", B, C),
    "a maximum falls": (
        of({"type": "integer", "maximum": 9}),
        of({"type": "integer", "maximum": 5}),
        "/properties/a/maximum",
        B,
        C,
    ),
    "a minimum falls": (
        of({"type": "integer", "minimum": 9}),
        of({"type": "integer", "minimum": 5}),
        "/properties/a/minimum",
        C,
        B,
    ),
    "a pattern is new": (of(TEXT), of({**TEXT, "pattern": "^a"}), "/properties/a/pattern", B, C),
    "a pattern changes": (of({**TEXT, "pattern": "a"}), of({**TEXT, "pattern": "b"}), "/properties/a/pattern", B, B),
    "a coarser step": (
        of({"type": "integer", "multipleOf": 2}),
        of({"type": "integer", "multipleOf": 4}),
        "/properties/a/multipleOf",
        B,
        C,
    ),
    "a default changes": (of({**TEXT, "default": "x"}), of({**TEXT, "default": "y"}), "/properties/a/default", B, D),
    "a default is told": (of(TEXT), of({**TEXT, "default": "y"}), "/properties/a/default", D, D),
    "an encoding": (of(TEXT), of({**TEXT, "contentEncoding": "base64"}), "/properties/a/contentEncoding", B, B),
    "a text": (of({**TEXT, "description": "x"}), of({**TEXT, "description": "y"}), "/properties/a/description", D, D),
    "an unknown keyword": (of(TEXT), of({**TEXT, "x-order": 1}), "/properties/a/x-order", D, D),
    "one alternative more": (
        of({"anyOf": [TEXT, {"type": "integer"}]}),
        of({"anyOf": [TEXT, {"type": "boolean"}, {"type": "integer"}]}),
        "/properties/a",
        C,
        B,
    ),
    "one alternative less": (of({"anyOf": [TEXT, {"type": "integer"}]}), of(TEXT), "/properties/a", B, C),
    "inside a list": (
        of({"type": "array", "items": TEXT}),
        of({"type": "array", "items": {"type": "integer"}}),
        "/properties/a/items/type",
        B,
        B,
    ),
    "a condition": (of(TEXT), {**of(TEXT), "not": {"required": ["a"]}}, "/not", B, B),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_weighs_by_the_side_of_the_call_it_is_on(name: str) -> None:
    before, after, at, on_input, on_output = CHANGES[name]
    for side, weight in ((Side.INPUT, on_input), (Side.OUTPUT, on_output)):
        assert [(d.weight, d.pointer) for d in diff_schemas(before, after, side)] == [(weight, at)], side


SAME: dict[str, tuple[Any, Any]] = {
    "order": (
        {**of(TEXT, b=TEXT), "required": ["a", "b"]},
        {**of(TEXT), "properties": {"b": TEXT, "a": TEXT}, "required": ["b", "a"]},
    ),
    "const and enum": (of({"const": "x", "type": "string"}), of({"enum": ["x"], "type": "string"})),
    "a nullable union and a type list": (of({"anyOf": [TEXT, {"type": "null"}]}), of({"type": ["string", "null"]})),
    "oneOf and anyOf": (of({"oneOf": [TEXT, {"type": "integer"}]}), of({"anyOf": [{"type": "integer"}, TEXT]})),
    "a definition and its text": ({**of({"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}, of(TEXT)),
    "an older draft": (
        {**of({"$ref": "#/definitions/t"}), "definitions": {"t": TEXT}},
        {**of({"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}},
    ),
    "a definition that no one uses": ({**of(TEXT), "$defs": {"t": TEXT}}, of(TEXT)),
    "no properties": ({"type": "object"}, {"type": "object", "properties": {}}),
    "open by silence": (of(TEXT), {**of(TEXT), "additionalProperties": True}),
}


@pytest.mark.parametrize("name", SAME)
def test_two_spellings_of_one_schema_do_not_differ(name: str) -> None:
    before, after = SAME[name]
    for side in Side:
        assert diff_schemas(before, after, side) == diff_schemas(after, before, side) == ()


def test_a_schema_that_holds_itself_is_compared_once() -> None:
    def tree(kind: str) -> dict[str, Any]:
        return {
            "$defs": {"n": {"type": "object", "properties": {"v": {"type": kind}, "next": {"$ref": "#/$defs/n"}}}},
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/n"}},
        }

    found = diff_schemas(tree("string"), tree("integer"), Side.INPUT)
    assert [d.pointer for d in found] == ["/properties/root/properties/v/type"]


def test_a_renamed_property_is_told_with_its_new_name() -> None:
    found = diff_schemas(of(TEXT, path={**TEXT, "minLength": 1}), of(TEXT, file={**TEXT, "minLength": 1}), Side.INPUT)
    assert found[0].weight is B and "file looks like its new name" in found[0].message


def test_branches_are_matched_by_what_names_them() -> None:
    def shape(kind: str, size: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": kind}, "size": {"type": size}}}

    before = of({"anyOf": [shape("circle", "number"), shape("square", "number")]})
    after = of({"anyOf": [shape("square", "string"), shape("circle", "number")]})
    found = diff_schemas(before, after, Side.INPUT)
    assert [(d.weight, d.pointer) for d in found] == [(B, "/properties/a/properties/size/type")]


def tool(**fields: Any) -> dict[str, Any]:
    return {"name": "t", "description": "Does it.", "inputSchema": of(TEXT), **fields}


DEFINITIONS: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[Weight, str]]]] = {
    "nothing": (tool(), tool(), []),
    "the description": (tool(), tool(description="Does that."), [(D, "/description")]),
    "the name": (tool(), tool(name="u"), [(B, "/name")]),
    "an answer is declared": (tool(), tool(outputSchema=of(TEXT)), [(C, "/outputSchema")]),
    "an answer is no longer declared": (tool(outputSchema=of(TEXT)), tool(), [(B, "/outputSchema")]),
    "an answer loses a property": (
        tool(outputSchema=of(TEXT, b=TEXT)),
        tool(outputSchema=of(TEXT)),
        [(B, "/outputSchema/properties/b")],
    ),
    "it no longer only reads": (
        tool(annotations={"readOnlyHint": True}),
        tool(annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True}),
        [(B, "/annotations/readOnlyHint"), (D, "/annotations/destructiveHint"), (D, "/annotations/idempotentHint")],
    ),
    "a hint that says the default": (
        tool(),
        tool(annotations={"destructiveHint": True}),
        [(D, "/annotations/destructiveHint")],
    ),
    "effects get worse": (tool(effects="read_only"), tool(effects="destructive"), [(B, "/effects")]),
    "effects get better": (tool(effects="destructive"), tool(effects="read_only"), [(C, "/effects")]),
    "another spelling of the row": (tool(), {"name": "t", "description": "Does it.", "input_schema": of(TEXT)}, []),
    "another grammar": (
        {"name": "t", "type": "custom", "format": {"syntax": "lark"}},
        {"name": "t", "type": "custom", "format": {"syntax": "regex"}},
        [(B, "/format")],
    ),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_differ_where_their_callers_notice(name: str) -> None:
    before, after, wanted = DEFINITIONS[name]
    assert [(d.weight, d.pointer) for d in diff_definitions(before, after)] == wanted


def test_the_verdict_is_the_heaviest_weight() -> None:
    assert verdict(()) is None
    assert verdict(diff_definitions(tool(), tool(description="x"))) is D
    assert verdict(diff_definitions(tool(), tool(name="u", description="x"))) is B
