"""A board as real LangChain tools."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from pegboard.board import Board
from pegboard.core import Failure, FailureCode, Result, ToolName, ToolSpec
from pegboard.frameworks.langchain import tools
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio

# Names that LangChain hands on itself are arguments like any other.
INPUT = {"type": "object", "properties": {name: {"type": "integer"} for name in ("n", "config", "run_manager")}}


def source(answer: Any = None) -> FakeSource:
    made = FakeSource("s", [ToolSpec(name=ToolName("s", "double"), description="Double.", input=INPUT)])
    made.handlers["double"].script = answer
    return made


def asked(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_call", "id": "c1", "name": "s__double", "args": arguments}


async def test_a_tool_call_becomes_a_tool_message_with_the_result_beside_it() -> None:
    async with Board.of(source()) as board:
        [tool] = tools(board)
        message = await tool.ainvoke(asked({"n": 1, "config": 2, "run_manager": 3}))
    assert isinstance(message, ToolMessage)
    assert (message.tool_call_id, message.status) == ("c1", "success")
    assert message.content == '{"n": 1, "config": 2, "run_manager": 3}'
    assert message.artifact.value == {"n": 1, "config": 2, "run_manager": 3}


async def test_langchain_reads_the_definition() -> None:
    async with Board.of(source()) as board:
        [tool] = tools(board)
    function = convert_to_openai_tool(tool)["function"]
    assert (function["name"], function["description"]) == ("s__double", "Double.")
    assert set(function["parameters"]["properties"]) == {"n", "config", "run_manager"}


async def test_a_failure_is_a_message_with_the_status_error() -> None:
    async with Board.of(source(Failure(FailureCode.FAILED, "No.", next_step="Ask."))) as board:
        [tool] = tools(board)
        message = await tool.ainvoke(asked({}))
    assert message.status == "error"
    assert "Ask." in message.content


async def test_a_picture_is_a_block() -> None:
    picture = Result(content=({"type": "image", "data": "AAAA", "mimeType": "image/png"},))
    async with Board.of(source(picture)) as board:
        [tool] = tools(board)
        message = await tool.ainvoke(asked({}))
    assert message.content == [{"type": "image", "base64": "AAAA", "mime_type": "image/png"}]


async def test_nulls_of_a_strict_schema_are_raised() -> None:
    async with Board.of(source()) as board:
        [tool] = tools(board, to="openai-chat-strict")
        message = await tool.ainvoke(asked({"n": 1, "config": None, "run_manager": None}))
    assert message.artifact.value == {"n": 1}


async def test_a_synchronous_call_says_what_to_use() -> None:
    async with Board.of(source()) as board:
        [tool] = tools(board)
        with pytest.raises(NotImplementedError, match="ainvoke"):
            tool.invoke({"n": 1})
