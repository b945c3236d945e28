"""Agents run over a board, by a model that speaks over real HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from scripted_model import Body, Scripted, Turn, serving

from pegboard.agent.definition import Definition
from pegboard.approval import Choice, Decision, Request
from pegboard.approval.decision import By
from pegboard.board import Board
from pegboard.config import Config, parse
from pegboard.core import Effects, ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.errors import ConfigError
from pegboard.frameworks.agents.model import model_of
from pegboard.frameworks.agents.outcome import Calling, Made, Outcome, Said, Stop
from pegboard.frameworks.agents.run import run_agent
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio

ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
BUSY = """
[board]
threshold = 5
always = ["crm.find"]
[approval]
require = ["effects:destructive"]
[batch."crm.get_many"]
tool = "crm.get"
over = "id"
[agent.clerk]
model = "toy"
instructions = "Be brief."
"""


def crm(*more: ToolSpec) -> FakeSource:
    names = {"find": Effects.READ_ONLY, "get": Effects.READ_ONLY, "delete": Effects.DESTRUCTIVE}
    specs = [
        ToolSpec(name=ToolName("crm", name), description=f"{name.title()} a customer.", input=ID, effects=effects)
        for name, effects in names.items()
    ]
    return FakeSource("crm", [*specs, *more])


def config(text: str, folder: Path) -> Config:
    import tomllib

    return parse(tomllib.loads(text), folder=folder)


def agent(model: Scripted, **more: Any) -> Definition:
    return Definition(**{"name": "clerk", "model": "toy", "base_url": model.url, **more})


async def yes(_: Request) -> Decision:
    return Decision(choice=Choice.ALLOW_ONCE, by=By.CLI)


@asynccontextmanager
async def played(turns: Any, **more: Any) -> AsyncIterator[tuple[Outcome, Scripted]]:
    """A run over three tools of a customer register."""
    with serving(Scripted(turns)) as model:
        async with Board.of(crm()) as board:
            yield await run_agent(board, agent(model, **more), "Tidy up."), model


def finding(*ids: str) -> list[tuple[str, Body]]:
    return [("crm__find", {"id": id}) for id in ids]


@pytest.mark.slow
@pytest.mark.requirement("R2.1")
async def test_a_ten_call_task_with_a_deferred_tool_an_approval_and_a_batch_and_the_eleventh_call_refused(
    tmp_path: Path,
) -> None:
    turns: list[Turn] = [
        finding("1", "2", "3"),
        [("tool_search", {"query": "delete a customer"}), ("tool_search", {"query": "get many customers"})],
        [("crm__delete", {"id": "1"})],
        [("crm__get_many", {"id": ["1", "2", "3"]})],
        finding("4", "5", "6", "7", "8"),
        finding("9"),
        "Ten calls were made, and customer 9 is left.",
    ]
    found = config(BUSY, tmp_path)
    with serving(Scripted(turns)) as model:
        async with Board.open(found, beside=[crm(), FakeSource("other", dict.fromkeys("abc"))], approvers=[yes]) as b:
            made = Definition.of("clerk", {"clerk": {**found.tables["agent"]["clerk"], "base_url": model.url}})
            outcome = await run_agent(b, made, "Tidy up.")
        async with Board.open(found, beside=[crm()]):
            from pegboard.board.passage import traces_of

            store = traces_of(found)
            run = store.run(outcome.run) if store is not None else None
    assert "crm__delete" not in model.names(0) and {"crm__delete", "crm__get_many"} <= set(model.names(2))
    assert [call.result.ok for call in outcome.calls if str(call.tool) == "crm.delete"] == [True]
    done = [call for call in outcome.calls if call.tool.namespace]
    assert [call.result.ok for call in done] == [True] * 10 + [False]
    refusal = done[-1].result.failure
    assert refusal is not None and "crm.find 8" in refusal.message and "crm.get_many 1" in refusal.message
    assert "Answer with what there is" in model.answers()[-1]
    assert (outcome.stop, outcome.output) == (Stop.MAX_TOOL_CALLS, turns[-1])
    assert run is not None and run.agent == "clerk"
    assert {call.tool for call in run.calls} >= {"tool_search", "crm.find", "crm.delete", "crm.get_many", "crm.get"}


async def test_a_run_is_heard_while_it_lasts_and_told_as_data() -> None:
    heard: list[object] = []
    with serving(Scripted([finding("1"), "All done."])) as model:
        async with Board.of(crm()) as board:
            outcome = await run_agent(board, agent(model, instructions="Be brief."), "Tidy up.", hear=heard.append)
    assert [type(event) for event in heard] == [Calling, Made, Said, Said]
    assert model.requests[0]["messages"][:2] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Tidy up."},
    ]
    row = outcome.to_json()
    assert (row["output"], row["stop_reason"], row["usage"]["turns"]) == ("All done.", "end_turn", 2)
    assert row["calls"] == [{"id": "call_1_0", "tool": "crm.find", "arguments": {"id": "1"}, "ok": True}]


async def test_an_agent_sees_and_calls_no_tools_but_its_own() -> None:
    turns: list[Turn] = [[("tool_call", {"name": "crm.delete", "arguments": {"id": "1"}})], "No."]
    with serving(Scripted(turns)) as model:
        async with Board.of(crm(), residency=Residency(search="on", threshold=2)) as board:
            outcome = await run_agent(board, agent(model, tools=("*.find",)), "Delete it.")
    assert [name for name in model.names(0) if name.startswith("crm")] == ["crm__find"]
    assert outcome.calls[0].result.failure is not None
    assert "not among the tools of this agent" in outcome.calls[0].result.failure.message


async def test_search_finds_no_tool_outside_of_an_agents_own() -> None:
    turns: list[Turn] = [[("tool_search", {"query": "customer"}), ("list_available_tools", {})], "Done."]
    with serving(Scripted(turns)) as model:
        async with Board.of(crm(), residency=Residency(search="on", threshold=1)) as board:
            await run_agent(board, agent(model, tools=("crm.get", "crm.find")), "Look.")
    searched, listed = model.answers()
    assert all("delete" not in text and "find" in text for text in (searched, listed))


@pytest.mark.parametrize(
    ("turns", "limits", "stop"),
    [
        ([finding("1")], {"max_turns": 3}, Stop.MAX_TURNS),
        ([finding("1"), finding("2"), "Over."], {"max_tool_calls": 1}, Stop.MAX_TOOL_CALLS),
        ([[("crm__nothing", {})], [("crm__nothing", {})], [("crm__nothing", {})], "Well."], {}, Stop.END_TURN),
        ([[("crm__find", {"wrong": 1})], "It does not work."], {}, Stop.END_TURN),
    ],
)
async def test_each_run_ends_and_says_why(turns: list[Turn], limits: dict[str, Any], stop: Stop) -> None:
    async with played(turns, **limits) as (outcome, _):
        assert outcome.stop is stop
        assert outcome.ok is (stop is Stop.END_TURN)


async def test_words_that_were_cut_are_told_as_such() -> None:
    with serving(Scripted(["Half a sen"], finish="length")) as model:
        async with Board.of(crm()) as board:
            outcome = await run_agent(board, agent(model), "Talk.")
    assert (outcome.stop, outcome.output) == (Stop.LENGTH, "Half a sen")


@pytest.mark.slow
async def test_a_run_that_takes_too_long_is_ended_and_what_it_did_is_told() -> None:
    source = crm()
    with serving(Scripted([finding("1"), [("crm__get", {"id": "1"})], "Done."])) as model:
        async with Board.of(source) as board:

            async def hang(_: object) -> Any:
                await anyio.sleep_forever()

            source.handlers["get"].script = hang
            outcome = await run_agent(board, agent(model, timeout=0.7), "Tidy up.")
    assert outcome.stop is Stop.TIMEOUT
    assert [str(call.tool) for call in outcome.calls] == ["crm.find"]


@pytest.mark.slow
async def test_a_model_that_is_not_there_ends_the_run_with_an_error() -> None:
    async with Board.of(crm()) as board:
        nowhere = Definition(name="a", model="toy", base_url="http://127.0.0.1:9/v1", timeout=30)
        outcome = await run_agent(board, nowhere, "Hello?")
    assert outcome.stop is Stop.ERROR
    assert outcome.error


@pytest.mark.parametrize("model", ["toy", "nobody:toy", "", "openai:gpt-5"])
def test_a_model_that_cannot_be_used_is_a_mistake_of_the_config(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="model"):
        model_of(Definition(name="a", model=model), lambda value, **_: value)


def test_an_agent_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="clerk"):
        Definition.of("clark", {"clerk": {"model": "toy"}})
