"""The contract of a surface: its tools are taken by the vendor's own types, a model's item becomes a call, and what
the call came to goes back in the vendor's own form."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from anthropic.types import ToolResultBlockParam, ToolUseBlock
from google.genai import types as genai
from openai.types.chat import (
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionToolMessageParam,
)
from openai.types.responses import ResponseFunctionToolCall, ResponseInputItemParam
from pydantic import BaseModel
from tests.checkers.vendors import ENTRIES, taken

from pegboard.catalog import AliasTable, View
from pegboard.core import (
    Change,
    Effects,
    Failure,
    FailureCode,
    Freeform,
    Hint,
    Mode,
    Relation,
    Report,
    Result,
    Session,
    ToolName,
    ToolSpec,
    with_modes,
)
from pegboard.surface import anthropic, gemini, openai_chat, openai_responses
from pegboard.surface.offer import Offer
from pegboard.surface.targets import offer

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
TEXT = {"type": "string"}
STATUS = {"type": "string", "enum": ["running", "failed", "all"], "default": "all"}


def spec(name: str, namespace: str = "crm", **more: Any) -> ToolSpec:
    return ToolSpec(**{"name": ToolName(namespace, name), "description": f"Do {name}.", **more})


TOOLS = (
    spec("list", input={"type": "object", "properties": {"status": STATUS, "size": {"enum": [5, 50]}}}),
    spec("grep", "", freeform=Freeform("regex", "[a-z]+"), input={
        "type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}),
    with_modes(
        spec("wipe", effects=Effects.DESTRUCTIVE, output={"type": "object"}, meta={"pegboard/x": 1, "_meta": {"a": 1}},
             hints=(Hint(Relation.FIRST, "list", when="unsure"),), input={
            "type": "object", "properties": {"labels": {"type": "object", "additionalProperties": TEXT}}}),
        [Mode.PREVIEW],
    ),
    spec("ping", "", examples=({},)),
)  # fmt: skip


def view(*specs: ToolSpec) -> View:
    return View(direct=specs or TOOLS, aliases=AliasTable().extend(one.name for one in specs or TOOLS))


@dataclass(frozen=True)
class Surface:
    """One wire format, as the tests speak it.

    Parameters:
        to: the dialect.
        module: the surface.
        item: the model's item that calls a tool, as data.
        sdk: the vendor's type of such an item.
        answer: the vendor's type of what goes back.
    """

    to: str
    module: ModuleType
    item: Callable[[str, Any], dict[str, Any]]
    sdk: type[BaseModel]
    answer: Any


SURFACES = [
    *(
        Surface(
            to,
            openai_responses,
            lambda name, args: {"type": "function_call", "call_id": "c1", "name": name, "arguments": json.dumps(args)},
            ResponseFunctionToolCall,
            ResponseInputItemParam,
        )
        for to in ("openai-responses", "openai-responses-strict")
    ),
    *(
        Surface(
            to,
            openai_chat,
            lambda name, args: {
                "type": "function", "id": "c1", "function": {"name": name, "arguments": json.dumps(args)}},
            ChatCompletionMessageFunctionToolCall,
            ChatCompletionToolMessageParam,
        )
        for to in ("openai-chat", "openai-chat-strict")
    ),
    *(
        Surface(
            to,
            anthropic,
            lambda name, args: {"type": "tool_use", "id": "c1", "name": name, "input": args},
            ToolUseBlock,
            ToolResultBlockParam,
        )
        for to in ("anthropic", "anthropic-strict", "bedrock")
    ),
    *(
        Surface(
            to,
            gemini,
            lambda name, args: {"functionCall": {"id": "c1", "name": name, "args": args}},
            genai.Part,
            genai.Part,
        )
        for to in ("gemini", "gemini-json")
    ),
]  # fmt: skip
EVERY = pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.to)


def offered(surface: Surface, of: View | None = None) -> Offer:
    return offer(of or view(), surface.to)


@EVERY
def test_the_vendors_types_take_every_entry(surface: Surface) -> None:
    made = offered(surface)
    ENTRIES[surface.to](made.tools)
    assert made.refused == {}
    text = json.dumps(made.tools)
    assert "pegboard/" not in text
    assert "output_schema" not in text


@EVERY
@pytest.mark.parametrize("as_object", [False, True])
def test_an_item_becomes_a_call_in_the_authors_shape(surface: Surface, *, as_object: bool) -> None:
    made = offered(surface)
    sent = {"status": None, "size": None} if surface.to.startswith("openai") and "strict" in surface.to else {}
    number = "5" if surface.to == "gemini" else 5
    row = surface.item("crm__list", {**sent, "size": number})
    item = surface.sdk.model_validate(row) if as_object else row
    call = surface.module.call(item, made, session=Session("s"), group="g")
    assert (call.tool, call.id, call.group, call.session.id) == (ToolName("crm", "list"), "c1", "g", "s")
    assert call.arguments == {"size": 5}


@EVERY
@pytest.mark.parametrize("name", ["crm__list", "crm.list", "mcp__crm__list", "list"])
def test_a_name_is_known_in_every_spelling(surface: Surface, name: str) -> None:
    assert surface.module.call(surface.item(name, {}), offered(surface)).tool == ToolName("crm", "list")


@EVERY
def test_an_unknown_name_is_left_for_the_board_to_answer(surface: Surface) -> None:
    assert surface.module.call(surface.item("nobodys", {}), offered(surface)).tool == ToolName("", "nobodys")


@EVERY
def test_a_map_goes_out_as_the_dialect_wants_it_and_comes_back_as_a_map(surface: Surface) -> None:
    made = offered(surface)
    entries = [{"key": "a", "value": "x"}]
    mapped = "strict" in surface.to or surface.to == "gemini"
    call = surface.module.call(surface.item("crm__wipe", {"labels": entries if mapped else {"a": "x"}}), made)
    assert call.arguments == {"labels": {"a": "x"}}


ANSWERS: list[tuple[Result, str]] = [
    (Result(value={"n": 1}), '"n": 1'),
    (Result(value="plain"), "plain"),
    (Result(), "nothing"),
    (Result(content=({"type": "text", "text": "hi"},), value={"n": 1}), '"n": 1'),
    (Result(content=({"type": "text", "text": '{"n":1}'},), value={"n": 1}), '"n":1'),
    (Result(content=({"type": "odd"},)), "odd"),
    (Result(content=({"type": "resource_link", "uri": "file:///a", "name": "A"},)), "file:///a"),
    (Result(content=({"type": "resource", "resource": {"uri": "a", "text": "inside"}},)), "inside"),
    (Result(value=1, report=Report(changes=(Change("mended", "/a", "Read a number."),))), "Read a number."),
    (Result(failure=Failure(FailureCode.TIMEOUT, "Too late.", next_step="Wait.")), "Wait."),
    (
        Result(
            failure=Failure(FailureCode.FAILED, "No.", next_step="Ask."), content=({"type": "text", "text": "No."},)
        ),
        "Ask.",
    ),
    (Result(content=({"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},)), "audio/wav"),
]


@EVERY
@pytest.mark.parametrize(("result", "said"), ANSWERS, ids=range(len(ANSWERS)))
def test_every_result_goes_back_in_the_vendors_form_and_says_what_it_is(
    surface: Surface, result: Result, said: str
) -> None:
    row = surface.item("crm__list", {})
    answer = surface.module.output(row, result, offered(surface))
    taken(surface.answer, answer)
    text = json.dumps(answer, ensure_ascii=False).replace('\\"', '"')
    assert said in text
    assert text.count('"n"') <= 1
    assert "c1" in text


@EVERY
@pytest.mark.case("px-10")
def test_a_failure_is_marked_as_the_vendor_marks_it(surface: Surface) -> None:
    failed = Result(failure=Failure(FailureCode.FAILED, "No."))
    answer = surface.module.output(surface.item("crm__list", {}), failed, offered(surface))
    if surface.module is anthropic:
        assert answer["is_error"] is True
    elif surface.module is gemini:
        assert answer["functionResponse"]["response"] == {"error": "failed: No."}
    else:
        assert (answer.get("output") or answer["content"]).startswith("Error: ")
    fine = surface.module.output(surface.item("crm__list", {}), Result(value=1), offered(surface))
    assert "rror" not in json.dumps(fine)


@EVERY
def test_a_picture_goes_back_where_the_vendor_takes_one_and_is_named_elsewhere(surface: Surface) -> None:
    picture = Result(content=({"type": "image", "data": PIXEL, "mimeType": "image/png"},))
    answer = surface.module.output(surface.item("crm__list", {}), picture, offered(surface))
    taken(surface.answer, answer)
    assert (PIXEL in json.dumps(answer)) is (surface.module is not openai_chat)
    if surface.module is openai_chat:
        assert "image/png" in answer["content"]


@EVERY
@pytest.mark.parametrize("data", ["", "no base64!"])
def test_a_broken_picture_becomes_words_since_apis_refuse_a_request_for_it(surface: Surface, data: str) -> None:
    broken = Result(content=({"type": "image", "data": data, "mimeType": "image/png"},))
    answer = json.dumps(surface.module.output(surface.item("crm__list", {}), broken, offered(surface)))
    assert "no bytes that can be read" in answer
    assert "base64" not in answer
    assert "input_image" not in answer
    assert "inlineData" not in answer


@EVERY
def test_a_picture_of_another_kind_than_it_says_goes_out_as_what_it_is(surface: Surface) -> None:
    told = Result(content=({"type": "image", "data": PIXEL, "mimeType": "image/jpg"},))
    answer = json.dumps(surface.module.output(surface.item("crm__list", {}), told, offered(surface)))
    assert "image/png" in answer
    assert "image/jpg" not in answer


@EVERY
def test_arguments_that_are_no_object_are_left_for_the_pipeline_to_refuse(surface: Surface) -> None:
    row = surface.item("crm__wipe", [1])
    if surface.module in (openai_chat, openai_responses):
        (row.get("function") or row)["arguments"] = "{bad"
    assert not isinstance(surface.module.call(row, offered(surface)).arguments, dict)


@EVERY
def test_a_tool_that_cannot_be_shaped_is_left_out_alone_with_its_reason(surface: Surface) -> None:
    made = offered(
        surface, view(spec("good"), spec("bad", input={"type": "string"}, original_input={"type": "string"}))
    )
    ENTRIES[surface.to](made.tools)
    assert list(made.refused) == ["crm.bad"]
    assert "good" in json.dumps(made.tools)


@EVERY
def test_the_same_view_gives_the_same_bytes(surface: Surface) -> None:
    assert json.dumps(offered(surface).tools) == json.dumps(offered(surface).tools)
