"""A board as a toolset of real pydantic-ai agents, with a model that a function plays."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from pegboard.board import Board
from pegboard.core import Failure, FailureCode, Result, ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.frameworks.pydantic_ai import BoardToolset
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def source(answer: Any = None, *more: ToolSpec) -> FakeSource:
    made = FakeSource("s", [ToolSpec(name=ToolName("s", "double"), description="Double.", input=NUMBER), *more])
    if answer is not None:
        made.handlers["double"].script = answer
    return made


def playing(*turns: Callable[[AgentInfo], ToolCallPart]) -> tuple[FunctionModel, list[list[ModelMessage]]]:
    """A model that makes one call a turn and then ends, and what it was sent."""
    seen: list[list[ModelMessage]] = []

    def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(list(messages))
        turn = len(seen) - 1
        return ModelResponse(parts=[turns[turn](info) if turn < len(turns) else TextPart("done")])

    return FunctionModel(play), seen


def calling(name: str, arguments: Any) -> Callable[[AgentInfo], ToolCallPart]:
    return lambda info: ToolCallPart(name, arguments)


def last(seen: list[list[ModelMessage]]) -> Any:
    return seen[-1][-1].parts[0]


async def test_an_agent_calls_a_tool_of_the_board() -> None:
    model, seen = playing(calling("s__double", '{"n": 2}'))
    async with Board.of(source()) as board:
        outcome = await Agent(model, toolsets=[BoardToolset(board)]).run("go")
    assert outcome.output == "done"
    part = last(seen)
    assert isinstance(part, ToolReturnPart)
    assert part.content == {"n": 2}


async def test_arguments_in_the_lowered_shape_are_raised() -> None:
    optional = {"type": "object", "properties": {"n": {"type": "integer"}}}
    strict = ToolSpec(name=ToolName("s", "maybe"), description="Maybe.", input=optional)
    given: dict[str, Any] = {}

    def ask(info: AgentInfo) -> ToolCallPart:
        given.update({tool.name: tool for tool in info.function_tools})
        return ToolCallPart("s__maybe", {"n": None})

    model, seen = playing(ask)
    async with Board.of(source(None, strict)) as board:
        await Agent(model, toolsets=[BoardToolset(board, to="openai-chat-strict")]).run("go")
    assert given["s__maybe"].strict is True
    assert given["s__maybe"].parameters_json_schema["required"] == ["n"]
    assert last(seen).content == {}


async def test_refused_arguments_are_asked_for_again_and_then_told_as_a_failure() -> None:
    model, seen = playing(*[calling("s__double", {"m": 2})] * 3)
    async with Board.of(source()) as board:
        await Agent(model, toolsets=[BoardToolset(board)]).run("go")
    assert [messages[-1].parts[0].outcome for messages in seen[1:]] == ["retried", "retried", "failed"]
    assert "is required" in str(last(seen).content)


async def test_a_failure_is_told_with_its_next_step() -> None:
    failed = Failure(FailureCode.UNAVAILABLE, "It sleeps.", next_step="Wake it.")
    model, seen = playing(calling("s__double", {"n": 2}))
    async with Board.of(source(failed)) as board:
        await Agent(model, toolsets=[BoardToolset(board)]).run("go")
    assert "Wake it." in str(last(seen).content)
    assert last(seen).outcome == "failed"


async def test_a_picture_arrives_as_one() -> None:
    picture = Result(content=({"type": "image", "data": "AAAA", "mimeType": "image/png"},))
    model, seen = playing(calling("s__double", {"n": 2}))
    async with Board.of(source(picture)) as board:
        await Agent(model, toolsets=[BoardToolset(board)]).run("go")
    [found] = [item for item in last(seen).content if isinstance(item, BinaryContent)]
    assert (found.media_type, found.data) == ("image/png", b"\0\0\0")


async def test_what_a_search_loads_is_in_the_next_steps_list_and_each_run_is_its_own_session() -> None:
    lists: list[list[str]] = []

    def search(info: AgentInfo) -> ToolCallPart:
        lists.append([tool.name for tool in info.function_tools])
        return ToolCallPart("tool_search", {"query": "double"})

    def use(info: AgentInfo) -> ToolCallPart:
        lists.append([tool.name for tool in info.function_tools])
        return ToolCallPart("s__double", {"n": 1})

    async with Board.of(source(), residency=Residency(search="on", threshold=1)) as board:
        for _ in range(2):
            model, _seen = playing(search, use)
            await Agent(model, toolsets=[BoardToolset(board)]).run("go")
    assert [("s__double" in names) for names in lists] == [False, True, False, True]
