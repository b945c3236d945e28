"""Gemini's own forms: both kinds of parameters, thought signatures, parts beside a response."""

from typing import Any

from google.genai import types

from pegboard.catalog import AliasTable, View
from pegboard.core import Result, ToolName, ToolSpec
from pegboard.surface import gemini as surface

TREE = {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}


def view(*specs: ToolSpec) -> View:
    return View(direct=specs, aliases=AliasTable().extend(one.name for one in specs))


def spec(name: str, **more: Any) -> ToolSpec:
    return ToolSpec(**{"name": ToolName("", name), "description": "Do it.", "input": TREE, **more})


def test_the_narrow_and_the_wide_form_hold_the_same_tool() -> None:
    [narrow] = surface.tools(view(spec("t"))).tools
    [wide] = surface.tools(view(spec("t")), to="gemini-json").tools
    assert set(narrow["functionDeclarations"][0]) == {"name", "description", "parameters"}
    assert set(wide["functionDeclarations"][0]) == {"name", "description", "parametersJsonSchema"}


def test_a_board_without_tools_sends_no_entry() -> None:
    assert surface.tools(view()).tools == []


def test_a_thought_signature_stays_with_the_call_and_on_the_part() -> None:
    made = surface.tools(view(spec("t")))
    part = types.Part(function_call=types.FunctionCall(name="t", args={"a": "x"}), thought_signature=b"sig")
    call = surface.call(part, made)
    assert call is not None
    assert call.meta == {"pegboard/thought_signature": "c2ln"}
    assert part.thought_signature == b"sig"
    answer = surface.output(part, Result(value={"n": 1}), made)
    assert answer == {"functionResponse": {"name": "t", "response": {"output": {"n": 1}}}}
    types.Part.model_validate(answer)


def test_a_call_without_arguments_or_in_the_sdks_spelling_is_understood() -> None:
    made = surface.tools(view(spec("t")))
    for row in (
        {"functionCall": {"name": "t"}},
        {"function_call": {"name": "t", "args": None}},
        {"name": "t", "args": {}},
    ):
        call = surface.call(row, made)
        assert call is not None
        assert call.arguments == {}
    assert surface.call({"text": "hi"}, made) is None


def test_pictures_and_files_are_parts_beside_the_response() -> None:
    made = surface.tools(view(spec("t")))
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    drawing = {"type": "image", "data": "AAAA", "mimeType": "image/gif"}
    answer = surface.output(
        {"functionCall": {"name": "t", "args": {}}},
        Result(content=(picture, drawing, {"type": "text", "text": "Two."})),
        made,
    )["functionResponse"]
    assert answer["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]
    assert "image/gif" in answer["response"]["output"]
    assert answer["response"]["output"].endswith("Two.")
