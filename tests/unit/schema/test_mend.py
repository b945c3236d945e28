"""Arguments that have exactly one reading are mended, all others stay as they came."""

import pytest

from pegboard.schema.mend import mend

STRINGS = {"type": "array", "items": {"type": "string"}}


def tool(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "sent", "read"),
    [
        # The cases ar-02, ar-03 and ar-04.
        (
            tool(
                tags={"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
                note={"anyOf": [STRINGS, {"type": "string"}]},
            ),
            {"tags": "[1,2]", "note": '["x"]'},
            {"tags": [1, 2], "note": '["x"]'},
        ),
        (
            {**tool(options={"type": "array", "items": {"type": "object"}}), "required": ["options"]},
            '{"options":[{"a":1}]}',
            {"options": [{"a": 1}]},
        ),
        (
            tool(
                fields={"anyOf": [STRINGS, {"type": "null"}], "default": None},
                label={"anyOf": [{"type": "string"}, {"type": "null"}]},
            ),
            {"fields": "null", "label": "null"},
            {"fields": None, "label": "null"},
        ),
        # The general rule.
        (tool(n={"type": "integer"}), {"n": "5"}, {"n": 5}),
        (tool(n={"type": "boolean"}), {"n": "true"}, {"n": True}),
        (tool(n={"type": "object"}), {"n": '{"a": {"b": 1}}'}, {"n": {"a": {"b": 1}}}),
        (tool(n={"enum": [1, 2, None]}), {"n": "2"}, {"n": 2}),
        (tool(n={"$ref": "#/$defs/n"}) | {"$defs": {"n": {"type": "number"}}}, {"n": "1.5"}, {"n": 1.5}),
        (tool(n=tool(m={"type": "array"})), '{"n": "{\\"m\\": \\"[]\\"}"}', {"n": {"m": []}}),
        (tool(n=STRINGS), {"n": "a.txt"}, {"n": ["a.txt"]}),
        (tool(n={"type": "array", "items": {"type": "integer"}}), {"n": "7"}, {"n": [7]}),
        (tool(n={"type": "array", "items": {"type": "object"}}), {"n": {"a": 1}}, {"n": [{"a": 1}]}),
        (
            tool(
                d={
                    "oneOf": [
                        tool(kind={"const": "number"}, v={"type": "integer"}),
                        tool(kind={"const": "text"}, v={"type": "string"}),
                    ]
                }
            ),
            {"d": {"kind": "number", "v": "3"}},
            {"d": {"kind": "number", "v": 3}},
        ),
    ],
)
@pytest.mark.case("ar-02", "ar-03", "ar-04")
def test_one_reading_is_taken_and_told(schema: dict[str, object], sent: object, read: object) -> None:
    mended, changes = mend(schema, sent)
    assert mended == read
    assert changes


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (tool(n={"type": "integer"}), {"n": "five"}),
        (tool(n={"type": "integer"}), {"n": "007"}),
        (tool(n={"type": "number"}), {"n": "NaN"}),
        (tool(n={"type": "number"}), {"n": "1e999"}),
        (tool(n={"type": "object"}), {"n": '{"a": 1, "a": 2}'}),
        (tool(n={"type": "object"}), {"n": "[" * 100_000}),
        (tool(n=STRINGS), {"n": "a.txt, b.txt"}),
        (tool(n=STRINGS), {"n": None}),
        (tool(n={"type": ["string", "array"], "minLength": 10}), {"n": "[1]"}),
        (tool(n={"type": "string"}), {"n": 5}),
        (tool(n={"type": "integer", "minimum": 10}), {"n": "5"}),
        (tool(n={"$ref": "https://elsewhere.example/schema"}), {"n": "5"}),
        ({"type": "object"}, "no object"),
    ],
)
def test_what_has_no_single_reading_comes_back_as_it_was(schema: dict[str, object], sent: object) -> None:
    assert mend(schema, sent) == (sent, ())


def test_a_change_names_its_place() -> None:
    _, changes = mend(tool(a=tool(**{"b/c": {"type": "integer"}})), {"a": {"b/c": "5"}})
    assert [(change.pointer, change.message) for change in changes] == [
        ("/a/b~1c", "a text was read as the JSON number that it spells")
    ]
