"""The Messages API's own forms: deferred definitions, references, examples, callers."""

from typing import Any

import pytest
from anthropic.types import ToolUnionParam, ToolUseBlock
from pydantic import TypeAdapter

from pegboard.board import Board
from pegboard.catalog import AliasTable, View
from pegboard.core import Result, Session, ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.discovery.meta import SHOWN
from pegboard.surface import anthropic as surface
from pegboard.testing import FakeSource

SEEKING = tuple(meta for meta in SHOWN if meta.name.name.startswith(("tool_", "list_")))
"""The meta-tools that find and call others."""


SIZES = {"type": "object", "properties": {"size": {"type": "integer"}, "tags": {"type": "object"}}}


def spec(name: str, namespace: str = "crm", **more: Any) -> ToolSpec:
    return ToolSpec(**{"name": ToolName(namespace, name), "description": f"Do {name}.", "input": SIZES, **more})


def view(*direct: ToolSpec, deferred: tuple[ToolSpec, ...] = (), meta: tuple[ToolSpec, ...] = SEEKING) -> View:
    names = AliasTable().extend(one.name for one in (*direct, *deferred))
    return View(direct, deferred, meta if deferred else (), aliases=names)


def late(tools: list[dict[str, Any]]) -> dict[str, bool]:
    return {tool["name"]: tool.get("defer_loading", False) for tool in tools}


@pytest.mark.requirement("D8.1")
def test_every_definition_is_sent_and_the_deferred_ones_come_last() -> None:
    made = surface.tools(view(spec("a"), deferred=(spec("b"), spec("c"))))
    assert late(made.tools) == {
        "crm__a": False,
        "tool_search": False,
        "tool_describe": False,
        "list_available_tools": False,
        "crm__b": True,
        "crm__c": True,
    }


@pytest.mark.parametrize("search", ["bm25", "regex"])
def test_the_providers_own_search_takes_the_place_of_the_boards(search: Any) -> None:
    made = surface.tools(view(deferred=(spec("b"),)), search=search)
    assert made.tools[0]["name"] == f"tool_search_tool_{search}"
    assert "tool_search" not in late(made.tools)
    for entry in made.tools:
        TypeAdapter(ToolUnionParam).validate_python(entry)


def test_one_tool_at_least_is_not_deferred() -> None:
    made = surface.tools(view(deferred=(spec("b"), spec("c")), meta=()), search="bm25")
    assert late(made.tools) == {"tool_search_tool_bm25": False, "crm__b": False, "crm__c": True}


def test_bedrock_has_no_deferred_tools_and_finds_them_through_the_meta_tools() -> None:
    made = surface.tools(view(spec("a"), deferred=(spec("b"),)), to="bedrock")
    assert late(made.tools) == dict.fromkeys(
        ["crm__a", "tool_search", "tool_describe", "tool_call", "list_available_tools"], False
    )


@pytest.mark.anyio
async def test_a_search_is_answered_with_references_to_tools_of_the_request() -> None:
    rows = [spec(f"list_{noun}", description=f"List {noun}.") for noun in ("invoices", "orders", "people")]
    async with Board.of(FakeSource("crm", rows), residency=Residency(search="on", threshold=1)) as board:
        session = Session("s")
        made = surface.tools(board.view(session))
        item = ToolUseBlock(type="tool_use", id="t1", name="tool_search", input={"query": "invoices", "limit": 1})
        call = surface.call(item, made, session=session)
        assert call is not None
        answer = surface.output(item, await board.run(call), made)
        assert answer == {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": [{"type": "tool_reference", "tool_name": "crm__list_invoices"}],
        }
        assert surface.tools(board.view(session)).tools == made.tools  # the list stays, and with it the prompt's cache


def test_a_search_that_found_nothing_of_the_request_says_so_in_words() -> None:
    made = surface.tools(view(deferred=(spec("b"),)))
    item = {"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "x"}}
    value = {"namespaces": [{"namespace": "", "tools": [{"name": "gone"}]}]}
    result = Result(value=value, content=({"type": "text", "text": "1 tool for 'x'."},))
    assert surface.output(item, result, made)["content"] == "1 tool for 'x'."


def test_examples_go_along_in_the_shape_that_the_model_sees() -> None:
    examples = ({"size": 5, "tags": {"a": "b"}},)
    plain = surface.tools(view(spec("a", examples=examples))).tools[0]
    assert plain["input_examples"] == [{"size": 5, "tags": {"a": "b"}}]
    typed = {**SIZES, "properties": {"tags": {"type": "object", "additionalProperties": {"type": "string"}}}}
    strict = surface.tools(view(spec("a", input=typed, examples=({"tags": {"a": "b"}},))), to="anthropic-strict")
    assert strict.tools[0]["strict"] is True
    assert strict.tools[0]["input_examples"] == [{"tags": [{"key": "a", "value": "b"}]}]


def test_examples_are_left_out_of_a_request_with_tool_search_and_that_is_told() -> None:
    made = surface.tools(view(spec("a", examples=({"size": 1},)), deferred=(spec("b"),)))
    assert "input_examples" not in made.tools[0]
    assert [(move.what, move.to) for move in made.definitions[0].moves] == [("example", "tool_describe")]


def test_programs_may_call_the_tools_that_are_named_which_are_then_not_strict() -> None:
    simple = {"type": "object", "properties": {"size": {"type": "integer"}}}
    made = surface.tools(
        view(spec("a", input=simple), spec("b", input=simple)), to="anthropic-strict", programs=["crm.a"]
    )
    a, b, code = made.tools
    assert a["allowed_callers"] == ["direct", surface.CODE]
    assert ("strict" in a, b["strict"]) == (False, True)
    assert code == {"type": surface.CODE, "name": "code_execution"}
    item = ToolUseBlock.model_validate(
        {
            "type": "tool_use",
            "id": "t1",
            "name": "crm__a",
            "input": {"size": 1},
            "caller": {"type": surface.CODE, "tool_id": "p1"},
        }
    )
    call = surface.call(item, made)
    assert call is not None
    assert (call.parent, call.meta["pegboard/caller"]["tool_id"]) == ("p1", "p1")
    remarked = Result(value={"n": 1}, content=({"type": "text", "text": "One."},))
    assert surface.output(item, remarked, made)["content"] == '{"n": 1}'


def test_what_is_not_the_boards_to_answer_is_no_call() -> None:
    made = surface.tools(view(spec("a")))
    for kind in ("text", "thinking", "server_tool_use", "tool_search_tool_result"):
        assert surface.call({"type": kind}, made) is None
