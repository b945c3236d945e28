"""Agents as tools of the board, and agents that get every tool from the start."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from pegboard.agent.definition import Definition
from pegboard.board import Board
from pegboard.config.runtype.flow import read_flow
from pegboard.errors import ConfigError
from pegboard.frameworks.agents import run as running
from pegboard.frameworks.agents.offered import OfferedAgents
from pegboard.frameworks.agents.run import run_agent
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


def speaking(say: Callable[[list[ModelMessage], AgentInfo], ModelResponse]) -> FunctionModel:
    """A model that says what a function says, in one piece."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for part in say(messages, info).parts:
            if isinstance(part, TextPart):
                yield part.content
            elif isinstance(part, ToolCallPart):
                yield {0: DeltaToolCall(name=part.tool_name, json_args=part.args_as_json_str(), tool_call_id="c1")}

    return FunctionModel(say, stream_function=stream)


def many(count: int) -> FakeSource:
    return FakeSource("many", {f"tool_{number}": None for number in range(count)})


async def seen_by(agent: Definition, count: int) -> list[str]:
    seen: list[str] = []

    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(tool.name for tool in info.function_tools)
        return ModelResponse(parts=[TextPart("done")])

    async with Board.of(many(count)) as board:
        await run_agent(board, agent, "Go.", model=speaking(say))
    return seen


@pytest.mark.requirement("R1.4", "R1.5")
@pytest.mark.parametrize("agent", [{"max_turns": 1}, {"search": "off"}])
async def test_an_agent_of_one_turn_or_without_search_gets_every_tool_and_none_to_search_by(agent: Any) -> None:
    seen = await seen_by(Definition(name="a", model="m", **agent), 40)
    assert sorted(seen) == sorted(f"many__tool_{number}" for number in range(40))
    usual = await seen_by(Definition(name="a", model="m"), 40)
    assert len(usual) < 40
    assert "tool_search" in usual


@pytest.mark.requirement("R1.5")
async def test_too_many_tools_for_one_turn_are_an_error_and_none_is_left_out_quietly() -> None:
    with pytest.raises(ConfigError):
        await seen_by(Definition(name="a", model="m", search="off"), 51)


@pytest.mark.requirement("R1.5")
def test_the_agent_of_a_prompt_step_gets_every_tool() -> None:
    step = {
        "type": "prompt",
        "name": "p",
        "config": {"model": "gpt-4o", "userPrompt": "x", "tools": {"toolIds": ["*"]}},
    }
    [agent] = read_flow({"steps": [step]}).agents.values()
    assert agent["search"] == "off"


def tables(**agents: Any) -> dict[str, Any]:
    return {name: {"model": "m", "offer": True, **table} for name, table in agents.items()}


async def asked(
    monkeypatch: pytest.MonkeyPatch, answer: str, arguments: dict[str, str], say: Any = None
) -> tuple[Any, Any]:
    def plain(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(answer)])

    monkeypatch.setattr(running, "model_of", lambda agent, reveal: speaking(say or plain))
    source = OfferedAgents(tables(clerk={"description": "Files."}, quiet={"offer": False}))
    async with Board.of(source) as board:
        source.over(board)
        assert [str(spec.name) for spec in board.catalog.specs] == ["agents.clerk"]
        result = await board.call("agents.clerk", arguments)
    return result.value, result.failure


async def test_an_agent_that_is_offered_answers_as_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await asked(monkeypatch, "Filed.", {"task": "File it."}) == ("Filed.", None)


async def test_its_answer_is_read_as_json_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"task": "File it.", "output": "json"}
    assert await asked(monkeypatch, '```json\n{"n": 1}\n```', given) == ({"n": 1}, None)
    value, failure = await asked(monkeypatch, "no", given)
    assert value is None
    assert "no JSON" in failure.message


async def test_an_agent_cannot_ask_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("agents__clerk", {"task": "You do it."})])
        told.append(str(messages[-1]))
        return ModelResponse(parts=[TextPart("done")])

    assert (await asked(monkeypatch, "", {"task": "Go."}, say))[0] == "done"
    assert "clerk > clerk" in told[0]


async def test_the_config_says_which_agents_are_tools(tmp_path: Path) -> None:
    from pegboard.config import load
    from pegboard.frameworks.agents.offered import offered_agents

    (tmp_path / "pegboard.toml").write_text('[agent.a]\nmodel = "m"\noffer = true\n[agent.b]\nmodel = "m"\n')
    [source] = offered_agents(load(tmp_path))
    assert [str(tool.name) for tool in (await source.listing()).tools] == ["agents.a"]
    (tmp_path / "pegboard.toml").write_text('[agent.b]\nmodel = "m"\n')
    assert offered_agents(load(tmp_path)) == []
