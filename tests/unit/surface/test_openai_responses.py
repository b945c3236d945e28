"""The Responses API's own forms: namespaces, custom tools, tool search on either side, calls from programs."""

from typing import Any

import pytest
from openai.types.responses import ResponseCustomToolCall, ResponseFunctionToolCall, ResponseToolSearchCall, ToolParam
from openai.types.responses.response_tool_search_output_item_param import ResponseToolSearchOutputItemParam
from pydantic import TypeAdapter

from pegboard.board import Board
from pegboard.catalog import AliasTable, View
from pegboard.core import Failure, FailureCode, Freeform, Report, Result, Session, ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.discovery.meta import SHOWN
from pegboard.surface import openai_responses as surface
from pegboard.testing import FakeSource

SEEKING = tuple(meta for meta in SHOWN if meta.name.name.startswith(("tool_", "list_")))
"""The meta-tools that find and call others."""


TEXT = {"type": "string"}
ONE = {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}
FREE = {"type": "object", "properties": {"input": TEXT}, "required": ["input"]}


def spec(name: str, namespace: str = "crm", **more: Any) -> ToolSpec:
    return ToolSpec(**{"name": ToolName(namespace, name), "description": f"Do {name}.", "input": ONE, **more})


def view(*direct: ToolSpec, deferred: tuple[ToolSpec, ...] = (), **more: Any) -> View:
    names = AliasTable().extend(one.name for one in (*direct, *deferred))
    return View(direct, deferred, SEEKING if deferred else (), aliases=names, **more)


def names(entries: list[dict[str, Any]]) -> list[Any]:
    return [[row["name"], names(row["tools"])] if row["type"] == "namespace" else row.get("name") for row in entries]


@pytest.mark.requirement("D2.3")
def test_tools_of_a_namespace_stand_in_one_entry_and_the_others_alone() -> None:
    made = surface.tools(
        view(spec("a"), spec("b", ""), spec("c"), about={"crm": "The customers."}), to="openai-responses"
    )
    assert names(made.tools) == [["crm", ["a", "c"]], "b"]
    assert made.tools[0]["description"] == "The customers."
    assert names(surface.tools(made.view, namespaces=False).tools) == ["crm__a", "b", "crm__c"]


def test_a_namespace_whose_name_means_something_else_or_is_not_legal_gets_another() -> None:
    made = surface.tools(view(spec("a", "web"), spec("a", "my server"), spec("b", "my_server")))
    groups = [row["name"] for row in made.tools]
    assert groups[0].startswith("web_")
    assert len(set(groups)) == 3
    assert made.find("a", groups[0]) == ToolName("web", "a")


def test_a_call_carries_its_namespace_there_and_back() -> None:
    made = surface.tools(view(spec("a"), spec("a", "erp")))
    item = ResponseFunctionToolCall(
        type="function_call", call_id="c1", name="a", namespace="erp", arguments='{"id": "7"}'
    )
    call = surface.call(item, made)
    assert call is not None
    assert (call.tool, call.arguments, call.meta) == (
        ToolName("erp", "a"),
        {"id": "7"},
        {"pegboard/namespace": "erp"},
    )
    answer = surface.output(item, Result(value="x"), made)
    assert answer == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "x",
        "name": "a",
        "namespace": "erp",
    }


@pytest.mark.parametrize("namespace", ["crm", None])
def test_a_flat_name_is_understood_with_and_without_a_namespace(namespace: str | None) -> None:
    made = surface.tools(view(spec("a")))
    for name in ("a", "crm__a", "crm.a"):
        assert made.find(name, namespace) == ToolName("crm", "a")


@pytest.mark.parametrize("syntax", ["lark", "regex", "text"])
def test_a_freeform_tool_is_custom_and_its_text_goes_in_as_it_came(syntax: str) -> None:
    form = Freeform(syntax, None if syntax == "text" else "start: WORD")
    made = surface.tools(view(spec("sql", freeform=form, input=FREE)))
    entry = made.tools[0]["tools"][0]
    assert entry["type"] == "custom"
    assert entry["format"]["type"] == ("text" if syntax == "text" else "grammar")
    caller = {"type": "program", "caller_id": "p1"}
    item = ResponseCustomToolCall.model_validate(
        {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "namespace": "crm", "input": "{", "caller": caller}
    )
    call = surface.call(item, made)
    assert call is not None
    assert (call.arguments, call.parent) == ({"input": "{"}, "p1")
    answer = surface.output(item, Result(value="x"), made)
    assert answer == {"type": "custom_tool_call_output", "call_id": "c1", "output": "x", "caller": caller}


def test_programs_may_call_the_tools_that_are_named_and_are_told_what_comes_back() -> None:
    output = {"type": "object", "properties": {"n": {"type": "integer"}}}
    made = surface.tools(view(spec("a", output=output), spec("b", output=output)), programs=["crm.a"])
    a, b = made.tools[0]["tools"]
    assert (a["allowed_callers"], a["output_schema"]) == (["direct", "programmatic"], output)
    assert "allowed_callers" not in b
    assert "output_schema" not in b
    assert made.tools[-1] == {"type": "programmatic_tool_calling"}
    caller = {"type": "program", "caller_id": "p1"}
    row = {"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}", "caller": caller}
    remarked = Result(value={"n": 1}, content=({"type": "text", "text": "One."},), report=Report(notes=("Mended.",)))
    answer = surface.output(row, remarked, made)
    assert (answer["caller"], answer["output"]) == (caller, '{"n": 1}')  # what the schema says, and nothing else
    for value, said in (
        ("", '""'),
        (0, "0"),
        (False, "false"),
        ([], "[]"),
    ):
        assert surface.output(row, Result(value=value), made)["output"] == said


@pytest.mark.requirement("D2.4", "D8.1")
def test_hosted_search_is_sent_every_definition_deferred_and_only_where_there_is_one() -> None:
    made = surface.tools(view(spec("a"), deferred=(spec("b"), spec("c", ""))), search="hosted")
    assert names(made.tools) == [["crm", ["a", "b"]], "tool_describe", "list_available_tools", "c", None]
    assert [tool.get("defer_loading") for tool in made.tools[0]["tools"]] == [None, True]
    assert made.tools[-1] == {"type": "tool_search"}
    assert not any(row["type"] == "tool_search" for row in surface.tools(view(spec("a")), search="hosted").tools)
    for entry in made.tools:
        TypeAdapter(ToolParam).validate_python(entry)


def test_what_is_not_the_boards_to_answer_is_no_call() -> None:
    made = surface.tools(view(spec("a")))
    hosted = {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {"paths": ["crm"]}}
    for item in (hosted, {"type": "message", "content": []}, {"type": "reasoning"}, {"type": "program", "code": ""}):
        assert surface.call(item, made) is None


@pytest.mark.anyio
@pytest.mark.requirement("D5.2", "D8.3", "D8.4")
async def test_a_search_of_the_model_is_answered_with_full_definitions_in_their_namespaces() -> None:
    rows = [spec(f"list_{noun}", "crm", description=f"List {noun}.") for noun in ("invoices", "orders", "people")]
    source = FakeSource("crm", [*rows, spec("print_invoices", "", description="Print invoices.")])
    async with Board.of(source, residency=Residency(search="on", threshold=1)) as board:
        session = Session("s")
        made = surface.tools(board.view(session))
        entry = made.tools[-1]
        assert (entry["type"], entry["execution"]) == ("tool_search", "client")
        assert set(entry["parameters"]["properties"]) == {"query", "limit"}
        item = ResponseToolSearchCall.model_validate(
            {
                "type": "tool_search_call",
                "id": "i1",
                "call_id": "c1",
                "execution": "client",
                "status": "completed",
                "arguments": {"query": "invoices", "limit": 2},
            }
        )
        call = surface.call(item, made, session=session)
        assert call is not None
        answer = surface.output(item, await board.run(call), made)
        found = ResponseToolSearchOutputItemParam.model_validate(answer)
        assert (found.call_id, found.execution, found.status) == ("c1", "client", "completed")
        groups = {row["name"]: row["tools"] for row in answer["tools"]}
        assert {name: [tool["name"] for tool in group] for name, group in groups.items()} == {
            "crm": ["list_invoices"],
            "functions": ["print_invoices"],
        }
        for group in groups.values():
            assert all(
                tool["defer_loading"] and tool["parameters"]["properties"] == ONE["properties"] for tool in group
            )
        assert surface.tools(board.view(session)).tools == made.tools  # the list stays, and with it the prompt's cache
        for namespace, name in (("crm", "list_invoices"), ("functions", "print_invoices")):
            row = {"type": "function_call", "call_id": "c2", "name": name, "namespace": namespace, "arguments": ONE_ID}
            made_call = surface.call(row, made, session=session)
            assert made_call is not None
            assert (await board.run(made_call)).ok


ONE_ID = '{"id": "1"}'


def test_a_search_that_failed_is_incomplete_and_brings_nothing() -> None:
    made = surface.tools(view(deferred=(spec("a"),)))
    item = {"type": "tool_search_call", "execution": "client", "call_id": "c", "arguments": {}}
    failed = Result(failure=Failure(FailureCode.INVALID_ARGUMENTS, "No query."))
    answer = surface.output(item, failed, made)
    assert (answer["status"], answer["tools"]) == ("incomplete", [])


def test_a_definition_that_a_search_brings_is_strict_where_the_list_is() -> None:
    made = surface.tools(view(deferred=(spec("a"),)), to="openai-responses-strict")
    item = {"type": "tool_search_call", "execution": "client", "call_id": "c", "arguments": {"query": "a"}}
    value = {"namespaces": [{"namespace": "crm", "tools": [{"name": "crm__a"}, {"name": "gone"}]}]}
    [group] = surface.output(item, Result(value=value), made)["tools"]
    assert [(tool["name"], tool["strict"]) for tool in group["tools"]] == [("a", True)]


def test_a_search_does_not_load_what_stands_in_the_list() -> None:
    made = surface.tools(view(spec("a"), deferred=(spec("b"),)))
    item = {"type": "tool_search_call", "execution": "client", "call_id": "c", "arguments": {"query": "a"}}
    rows = [{"name": "crm__a", "already_loaded": True}, {"name": "crm__b"}]
    [group] = surface.output(item, Result(value={"namespaces": [{"namespace": "crm", "tools": rows}]}), made)["tools"]
    assert [tool["name"] for tool in group["tools"]] == ["b"]


def test_a_file_goes_back_beside_its_words() -> None:
    pdf = {"uri": "file:///tmp/r.pdf", "mimeType": "application/pdf", "blob": "AAAA"}
    made = surface.tools(view(spec("a")))
    row = {"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"}
    content = ({"type": "text", "text": "See:"}, {"type": "resource", "resource": pdf})
    answer = surface.output(row, Result(content=content), made)
    assert answer["output"] == [
        {"type": "input_text", "text": "See:"},
        {"type": "input_file", "filename": "r.pdf", "file_data": "data:application/pdf;base64,AAAA"},
    ]
