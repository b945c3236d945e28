"""The MCP wire format in both protocol families."""

from typing import Any

import pytest

from pegboard.core import Change, Failure, FailureCode, Mode, Report, Result, Session, ToolName, ToolSpec
from pegboard.surface.mcp import Family, call, output, tool

ROWS = {"type": "array", "items": {"$ref": "#/$defs/row"}, "$defs": {"row": {"type": "integer"}}}
BOTH = pytest.mark.parametrize("family", Family)


def spec(**more: Any) -> ToolSpec:
    return ToolSpec(name=ToolName("ns", "t"), **more)


def test_a_row_keeps_what_the_source_sent_and_drops_what_no_client_takes() -> None:
    row = tool(
        spec(
            title="T",
            description="Do.",
            annotations={"readOnlyHint": "yes", "destructiveHint": False, "title": 3, "x": [1]},
            icons=({"src": "data:,"}, {"href": "?"}),
            meta={"_meta": {"a/b": 1}, "execution": {"taskSupport": "optional"}, "pegboard/draft": True},
        ),
        "ns__t",
    )
    assert row == {
        "_meta": {"a/b": 1},
        "execution": {"taskSupport": "optional"},
        "name": "ns__t",
        "title": "T",
        "description": "Do.",
        "annotations": {"destructiveHint": False, "x": [1]},
        "icons": [{"src": "data:,"}],
        "inputSchema": {"type": "object", "properties": {}},
    }


@pytest.mark.case("mc-02")
def test_an_output_schema_that_is_no_object_is_wrapped_for_the_handshake_family_with_its_values() -> None:
    listing = spec(output=ROWS)
    assert tool(listing, "n")["outputSchema"] == ROWS
    assert tool(listing, "n", Family.HANDSHAKE)["outputSchema"] == {
        "type": "object",
        "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
        "required": ["result"],
        "$defs": {"row": {"type": "integer"}},
    }
    result = Result(value=[1, 2])
    assert output(result, listing)["structuredContent"] == [1, 2]
    assert output(result, listing, Family.HANDSHAKE)["structuredContent"] == {"result": [1, 2]}


@pytest.mark.case("mc-02")
def test_an_output_schema_that_refers_to_its_own_root_is_left_out_for_the_handshake_family() -> None:
    tree = spec(output={"type": "array", "items": {"$ref": "#"}})
    assert "outputSchema" not in tool(tree, "n", Family.HANDSHAKE)


def test_a_call_takes_its_mode_and_leaves_the_boards_own_keys_behind() -> None:
    params = {"name": "t", "arguments": {"a": 1}, "_meta": {"pegboard/mode": "preview", "x/y": 1}}
    made = call(params, ToolName("ns", "t"), session=Session("s"), id="7")
    assert (made.mode, made.arguments, made.meta, made.id) == (Mode.PREVIEW, {"a": 1}, {"x/y": 1}, "7")
    assert call({"name": "t", "_meta": {"pegboard/mode": "odd"}}, ToolName("", "t"), session=Session()).mode is None


@BOTH
def test_a_value_without_content_gets_its_text(family: Family) -> None:
    assert output(Result(value={"ä": 1}), None, family) == {
        "content": [{"type": "text", "text": '{"ä": 1}'}],
        "structuredContent": {"ä": 1},
    }
    assert output(Result(value="plain"), None, family) == {"content": [{"type": "text", "text": "plain"}]}


@BOTH
def test_content_and_unknown_fields_pass_as_they_came(family: Family) -> None:
    content = ({"type": "image", "data": "AA==", "mimeType": "image/png", "annotations": {"audience": ["user"]}},)
    result = Result(content=content, meta={"_meta": {"x/y": 1}, "later": True})
    assert output(result, None, family) == {"later": True, "_meta": {"x/y": 1}, "content": list(content)}


@BOTH
def test_a_block_of_a_kind_that_no_client_knows_becomes_text(family: Family) -> None:
    answer = output(Result(content=({"type": "video", "uri": "x"}, {"type": "text", "text": "hi"})), None, family)
    assert answer["content"] == [
        {"type": "text", "text": '{"type": "video", "uri": "x"}'},
        {"type": "text", "text": "hi"},
    ]


@BOTH
def test_a_field_that_no_client_takes_costs_neither_its_block_nor_the_answer_and_is_told(family: Family) -> None:
    picture = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    content = ({**picture, "annotations": {"priority": 2, "audience": ["user"]}}, {"type": "text", "text": 5})
    answer = output(Result(content=content, meta={"_meta": "odd"}), None, family)
    assert answer["content"][0] == {**picture, "annotations": {"audience": ["user"]}}
    assert answer["content"][1] == {"type": "text", "text": '{"type": "text", "text": 5}'}
    changes = answer["_meta"]["pegboard/report"]["changes"]
    assert {change["where"] for change in changes} == {"/content/0/annotations/priority", "/_meta"}


def test_an_odd_field_of_one_row_does_not_cost_a_client_the_list() -> None:
    odd = spec(meta={"_meta": "odd", "execution": [1]}, icons=({"src": "data:,", "sizes": "48x48"},))
    assert tool(odd, "n") == {
        "name": "n",
        "icons": [{"src": "data:,"}],
        "inputSchema": {"type": "object", "properties": {}},
    }


def test_an_upstreams_stamp_is_not_passed_on() -> None:
    stamped = Result(value={}, meta={"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "up"}}})
    assert "_meta" not in output(stamped)


def test_a_failure_is_a_tool_error_with_its_code_and_next_step() -> None:
    failure = Failure(FailureCode.TIMEOUT, "Too late.", next_step="Try again.", retryable=True)
    answer = output(Result(failure=failure))
    assert answer["isError"] is True
    assert answer["content"][0]["text"] == "timeout: Too late. Next: Try again."
    assert answer["_meta"]["pegboard/failure"] == {
        "code": "timeout",
        "message": "Too late.",
        "next_step": "Try again.",
        "retryable": True,
    }


def test_an_upstreams_own_error_text_stays_as_it_is() -> None:
    failed = Result(failure=Failure(FailureCode.UPSTREAM, "No."), content=({"type": "text", "text": "No."},))
    assert output(failed)["content"] == [{"type": "text", "text": "No."}]


def test_what_was_mended_is_told_to_the_model_and_as_data() -> None:
    change = Change("mended", "/labels", "The argument /labels: read the JSON in the text.")
    answer = output(Result(value={"ok": 1}, report=Report(changes=(change,))))
    assert answer["content"][-1]["text"] == "Note: The argument /labels: read the JSON in the text."
    assert answer["_meta"]["pegboard/report"]["changes"][0]["kind"] == "mended"


def test_a_cut_value_that_breaks_its_output_schema_is_a_failure_and_not_a_broken_answer() -> None:
    strict = spec(output={"type": "object", "properties": {"rows": {"type": "array", "minItems": 3}}})
    report = Report(changes=(Change("cut", "/rows", "kept 1 of 3 items. The rest: result_read."),))
    answer = output(Result(value={"rows": [1]}, report=report), strict)
    assert answer["isError"] is True
    assert "structuredContent" not in answer
    assert answer["_meta"]["pegboard/failure"]["code"] == "too_large"
    assert "result_read" in answer["content"][0]["text"]
    kept = output(Result(value={"rows": [1, 2, 3]}, report=report), strict)
    assert kept["structuredContent"] == {"rows": [1, 2, 3]}
