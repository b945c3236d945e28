"""What meets an intent: how surely, why, how one would call it, and what comes before."""

from pathlib import Path
from typing import Any

import pytest
from crm_office import OFFICE, TEXT, fair, spec, takes

from pegboard.board import Board
from pegboard.core import FailureCode, ToolName, ToolSpec
from pegboard.discovery.intent import usage
from pegboard.schema.example import example
from pegboard.schema.validate import validator
from pegboard.sources.recorded import RecordedSource
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
CORPUS = sorted((Path(__file__).parents[2] / "corpus/mcp").glob("*.json*"))


@pytest.mark.requirement("C9.4", "C9.5")
async def test_an_intent_is_met_with_why_an_example_what_comes_before_and_what_else_there_is() -> None:
    async with Board.of(FakeSource("crm", OFFICE)) as board:
        found = (await board.call("find_tool_by_intent", {"intent": "read the profile of a user"})).value
    best = found["tools"][0]
    assert found["fits"] and best["name"] == "crm__get_user"
    assert 0 < best["confidence"] <= 1
    assert [row["confidence"] for row in found["tools"]] == sorted(
        (row["confidence"] for row in found["tools"]), reverse=True
    )
    assert "profile in its description" in best["why"] or "profil" in best["why"]
    assert best["example"] == {"user_id": "the user_id"}
    [before] = best["call_first"]
    assert before["tool"] == "crm__search_users" and before["derived"] and 0.5 <= before["confidence"] < 1
    assert best["then"] == ["then call log_visit"]
    assert best["instead"] == ["use find_guest instead if the person has no account"]
    assert "inputSchema" not in str(found)


async def test_prerequisites_come_in_the_order_in_which_they_are_called() -> None:
    async with Board.of(FakeSource("crm", OFFICE)) as board:
        found = (await board.call("find_tool_by_intent", {"intent": "send a note to a user"})).value
    [row] = [row for row in found["tools"] if row["name"] == "crm__send_note"]
    assert [step["tool"] for step in row["call_first"]] == ["crm__search_users", "crm__check_address"]
    assert "derived" not in row["call_first"][1]


async def test_when_nothing_fits_that_is_said_and_what_could_be_there_is_named() -> None:
    async with fair(FakeSource("crm", OFFICE)) as board:
        result = await board.call("find_tool_by_intent", {"intent": "order a pizza with anchovies"})
        searched = await board.call("tool_search", {"query": "order a pizza with anchovies"})
    assert result.ok and result.value["fits"] is False and result.value["tools"] == []
    assert "Nothing on this board fits" in result.content[0]["text"]
    for found in (result, searched):
        [offer] = found.value["discoverables"]
        assert (offer["tool_id"], offer["tool_type"], offer["action_type"]) == (
            "io.example/pizza",
            "connector",
            "install",
        )
        assert (
            "Pizza (tool_id 'io.example/pizza', tool_type connector, action_type install): Order food."
            in found.content[0]["text"]
        )
    assert "None of them fits well" in searched.content[0]["text"] or not searched.value["namespaces"]


async def test_a_good_hit_names_nothing_that_discoverables() -> None:
    async with fair(FakeSource("crm", OFFICE)) as board:
        for name, arguments in (
            ("find_tool_by_intent", {"intent": "get_user"}),
            ("tool_search", {"query": "get_user"}),
        ):
            assert (await board.call(name, arguments)).value.get("discoverables") is None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("find_tool_by_intent", {"intent": "  "}), ("tool_search", {"query": ""}), ("tool_search", {"query": "\n"})],
)
async def test_a_request_without_words_is_refused_with_what_to_do(tool: str, arguments: dict[str, str]) -> None:
    async with Board.of(FakeSource("crm", OFFICE)) as board:
        failure = (await board.call(tool, arguments)).failure
    assert failure is not None and failure.code is FailureCode.INVALID_ARGUMENTS
    assert "list_available_tools" in (failure.next_step or "")


async def test_examples_of_real_tools_are_valid_arguments() -> None:
    async with Board.of(*(RecordedSource(path.name.partition(".")[0], path) for path in CORPUS)) as board:
        for one in board.catalog.specs:
            assert validator(one.input).is_valid(usage(one)), one.name


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "format": "date"}, "2026-01-31"),
        ({"type": "integer", "minimum": 7}, 7),
        ({"type": "integer", "exclusiveMinimum": 7}, 8),
        ({"type": "number", "maximum": 0.5}, 0.5),
        ({"type": ["null", "boolean"]}, True),
        ({"enum": [None, "b"]}, "b"),
        ({"type": "string", "maxLength": 3}, "tex"),
        ({"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "integer"}}]}, [1]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"const": 4}}}, 4),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, None),
        (True, "text"),
    ],
)
def test_one_instance_of_a_schema(schema: Any, value: Any) -> None:
    assert example(schema) == value


async def test_an_author_s_example_is_shown_as_it_is() -> None:
    assert usage(spec("t", "x", input=takes(a=TEXT), examples=({"a": "real"},))) == {"a": "real"}


CHINESE = Path(__file__).parents[1] / "index/languages/zh.tsv"


async def test_a_whole_sentence_in_a_script_without_spaces_is_met_and_what_nothing_meets_is_told() -> None:
    rows = [line.split("\t") for line in CHINESE.read_text(encoding="utf8").splitlines()]
    tools = [
        ToolSpec(name=ToolName("office", name.replace(".", "_")), description=text)
        for kind, name, text in rows
        if kind == "tool"
    ]
    async with Board.of(FakeSource("office", tools)) as board:
        for intent, name in (
            ("这家店的商品库存还有多少", "office__shop_stock"),
            ("请给客户发送一封带附件的邮件", "office__mail_send"),
            ("请帮我把这段话翻译成英文", "office__doc_translate"),
            ("我的快递包裹到哪里了", "office__order_logistics"),
        ):
            found = (await board.call("find_tool_by_intent", {"intent": intent})).value
            assert found["fits"], intent
            assert found["tools"][0]["name"] == name
        missed = (await board.call("find_tool_by_intent", {"intent": "请帮我把客厅的灯关掉"})).value
    assert missed["fits"] is False
