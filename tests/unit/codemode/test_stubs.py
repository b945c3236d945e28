"""Declarations tell code what tools take and give."""

import pytest

from pegboard.codemode.stubs import Language, stub
from pegboard.core import ToolName, ToolSpec
from pegboard.schema.types import Schema


def _spec(schema: Schema, output: Schema | None = None, name: str = "t") -> ToolSpec:
    return ToolSpec(name=ToolName("ns", name), description="Does it.", input=schema, output=output)


@pytest.mark.parametrize(
    ("node", "script", "python"),
    [
        ({"type": "string"}, "string", "str"),
        ({"type": "integer"}, "number", "int"),
        ({"type": ["string", "null"]}, "string | null", "str | None"),
        ({"enum": ["a", None, True]}, '"a" | null | true', 'Literal["a", None, True]'),
        ({"const": 3}, "3", "Literal[3]"),
        ({"type": "array", "items": {"type": "number"}}, "Array<number>", "list[float]"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string | number", "str | int"),
        ({"$ref": "#/$defs/P"}, "{ x: number; y?: string }", '{"x": int, "y"?: str}'),
        ({"$ref": "#/$defs/missing"}, "unknown", "Any"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "Record<string, boolean>", "dict[str, bool]"),
        ({}, "unknown", "Any"),
        (True, "unknown", "Any"),
        ({"$ref": "#/$defs/Loop"}, "unknown", "Any"),
    ],
)
def test_a_type_is_written_in_both_languages(node: Schema, script: str, python: str) -> None:
    defs = {
        "P": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "string"}}, "required": ["x"]},
        "Loop": {"$ref": "#/$defs/Loop"},
    }
    spec = _spec({"type": "object", "properties": {"a": node}, "required": ["a"], "$defs": defs})
    assert stub(spec, Language.JAVASCRIPT).splitlines()[1] == f"tools.ns.t(args: {{ a: {script} }}): Promise<unknown>"
    assert stub(spec, Language.PYTHON).splitlines()[1] == f"async def ns__t(*, a: {python}) -> Any: ..."


def test_a_type_that_holds_itself_ends() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}
    text = stub(_spec(tree, output=tree), Language.JAVASCRIPT)
    assert len(text) < 2000


def test_a_name_that_is_no_identifier_is_quoted() -> None:
    spec = _spec({"type": "object", "properties": {"a-b": {"type": "string"}}}, name="do-it")
    assert stub(spec, Language.JAVASCRIPT).splitlines()[1] == (
        'tools["ns.do-it"](args?: { "a-b"?: string }): Promise<unknown>'
    )
    assert "ns__do_it" in stub(spec, Language.PYTHON)


def test_a_description_cannot_end_its_comment() -> None:
    spec = ToolSpec(name=ToolName("ns", "t"), description="a */ evil() /* b\nc")
    assert stub(spec, Language.JAVASCRIPT).splitlines()[0] == "/** a * / evil() /* b c */"
    assert stub(spec, Language.PYTHON).splitlines()[0] == "# a */ evil() /* b c"
