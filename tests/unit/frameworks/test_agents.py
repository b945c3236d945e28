"""Agents run over a board, by a model that speaks over real HTTP."""

from collections import Counter
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
from pegboard.core import Effects, FailureCode, ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.errors import ConfigError
from pegboard.frameworks.agents.model import model_of
from pegboard.frameworks.agents.outcome import Calling, Made, Outcome, Said, Stop
from pegboard.frameworks.agents.run import run_agent
from pegboard.testing import FakeSource
from pegboard.trace.record import Run

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
[chain."crm.look_twice"]
description = "Find a customer, and get it."
input = { type = "object", properties = { id = { type = "string" } }, required = ["id"] }
steps = [
  { id = "found", tool = "crm.find", args = { id = "${input.id}" } },
  { id = "got", tool = "crm.get", args = { id = "${input.id}" } },
]
[codemode]
tools = ["crm.get"]
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


def agent(model: Scripted, /, **more: Any) -> Definition:
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


SCRIPT = "const all = await Promise.all(['1', '2', '3'].map((id) => tools.crm.get({ id }))); return all.length"
TEN_CALLS: list[Turn] = [
    finding("1", "2", "3"),
    [("tool_search", {"query": "delete a customer"}), ("tool_search", {"query": "get many customers"})],
    [("tool_search", {"query": "find a customer and get it"})],
    [("crm__delete", {"id": "1"})],
    [("crm__get_many", {"id": ["1", "2", "3"]})],
    [("crm__look_twice", {"id": "2"})],
    [("run_code", {"code": SCRIPT})],
    finding("4", "5", "6"),
    finding("9"),
    "Ten calls were made, and customer 9 is left.",
]


@pytest.mark.slow
@pytest.mark.requirement("R2.1")
async def test_a_ten_call_task_of_every_kind_is_traced_and_the_eleventh_call_is_refused_with_what_was_done(
    tmp_path: Path,
) -> None:
    found = config(BUSY, tmp_path)
    asked: list[str] = []

    async def person(request: Request) -> Decision:
        asked.append(request.subject)
        return await yes(request)

    with serving(Scripted(TEN_CALLS)) as model:
        others = FakeSource("other", dict.fromkeys("abc"))
        async with Board.open(found, beside=[crm(), others], approvers=[person]) as b:
            made = Definition.of("clerk", {"clerk": {**found.tables["agent"]["clerk"], "base_url": model.url}})
            outcome = await run_agent(b, made, "Tidy up.")
        from pegboard.board.passage import traces_of

        store = traces_of(found)
        run = store.run(outcome.run) if store is not None else None
    assert "crm__delete" not in model.names(0)  # deferred, and found
    assert {"crm__delete", "crm__get_many", "crm__look_twice"} <= set(model.names(3))
    assert asked == ["crm.delete"]
    done = [call for call in outcome.calls if call.tool.name != "tool_search"]
    assert [call.result.ok for call in done] == [True] * 10 + [False]
    refusal = done[-1].result.failure
    assert refusal is not None
    assert all(
        told in refusal.message
        for told in ("crm.find 6", "crm.delete 1", "crm.get_many 1", "crm.look_twice 1", "run_code 1")
    )
    assert "Answer with what there is" in model.answers()[-1]
    assert (outcome.stop, outcome.output) == (Stop.MAX_TOOL_CALLS, TEN_CALLS[-1])
    assert run is not None and run.agent == "clerk"
    inside = Counter((parents(run)[call.parent], str(call.tool)) for call in run.calls if call.parent is not None)
    assert inside == {
        ("crm.get_many", "crm.get"): 3,
        ("crm.look_twice", "crm.find"): 1,
        ("crm.look_twice", "crm.get"): 1,
        ("run_code", "crm.get"): 3,
    }
    outer = Counter(str(call.tool) for call in run.calls if call.parent is None and call.ok)
    assert outer == {
        "crm.find": 6, "tool_search": 3, "crm.delete": 1, "crm.get_many": 1, "crm.look_twice": 1, "run_code": 1,
    }  # fmt: skip
    [deleted] = [call for call in run.calls if str(call.tool) == "crm.delete"]
    assert deleted.meta["approval"]["choice"] == "allow_once"


def parents(run: Run) -> dict[str | None, str]:
    """The names of the tools by the ids of their calls."""
    return {call.id: str(call.tool) for call in run.calls}


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


@pytest.mark.parametrize(
    "arguments", ['{"id": "1"', "[1]", "", "null", "[" * 3000, '```json\n{"id": "1"}\n```', "{'id': '1'}", '"1"']
)
async def test_arguments_that_are_no_object_are_refused_recorded_and_counted(arguments: str) -> None:
    turns: list[Turn] = [[("crm__find", arguments)], finding("1"), "Over."]
    async with played(turns, max_tool_calls=1) as (outcome, model):
        codes = [call.result.failure.code for call in outcome.calls if call.result.failure is not None]
        assert codes == [FailureCode.INVALID_ARGUMENTS, FailureCode.BUDGET]
        assert "invalid_arguments" in model.answers(1)[0]


async def test_a_model_that_never_sends_an_object_ends_at_its_turns() -> None:
    async with played([[("crm__find", "{")]], max_turns=4) as (outcome, _):
        assert (outcome.stop, outcome.error) == (Stop.MAX_TURNS, "It was not done after 4 answers of its model.")
        assert len(outcome.calls) == 4


async def test_calls_of_one_turn_run_at_once_and_are_answered_each() -> None:
    async with played([finding("1", "2", "3"), "Over."]) as (outcome, model):
        assert [call.result.ok for call in outcome.calls] == [True] * 3
        assert len(model.answers()) == 3


@pytest.mark.parametrize("status", [429, 500])
async def test_a_model_that_is_busy_for_a_moment_is_asked_again(status: int) -> None:
    with serving(Scripted(["Hello."], refusals=[status])) as model:
        async with Board.of(crm()) as board:
            outcome = await run_agent(board, agent(model), "Hello?")
    assert (outcome.stop, outcome.output) == (Stop.END_TURN, "Hello.")


@pytest.mark.parametrize(
    ("status", "told"),
    [(401, "Its key is wrong"), (404, "no such model"), (400, "answered 400")],
)
async def test_a_model_that_refuses_is_told_with_what_to_do(status: int, told: str) -> None:
    with serving(Scripted(["Hello."], refusals=[status] * 5)) as model:
        async with Board.of(crm()) as board:
            outcome = await run_agent(board, agent(model), "Hello?")
    assert outcome.stop is Stop.ERROR
    assert outcome.error is not None and told in outcome.error and "\n" not in outcome.error


@pytest.mark.parametrize(
    "instead",
    [b"", b"<html>no</html>", b"data: {no}\n\n", b"data: \xff\n\n", b'data: {"error": {"message": "no"}}\n\n'],
)
async def test_an_answer_that_cannot_be_read_ends_the_run_with_an_error(instead: bytes) -> None:
    with serving(Scripted(["Hello."], instead=instead)) as model:
        async with Board.of(crm()) as board:
            outcome = await run_agent(board, agent(model), "Hello?")
    assert outcome.stop is Stop.ERROR
    assert outcome.error


async def test_an_unknown_reason_for_ending_is_an_ending() -> None:
    with serving(Scripted(["Hello."], finish="because")) as model:
        async with Board.of(crm()) as board:
            assert (await run_agent(board, agent(model), "Hello?")).stop is Stop.END_TURN


async def test_a_model_that_speaks_the_responses_api_alone_runs_too() -> None:
    with serving(Scripted([finding("1", "2"), "Both are there."])) as model:
        async with Board.of(crm()) as board:
            outcome = await run_agent(board, agent(model, model="openai-responses:toy"), "Find two.")
    assert (outcome.stop, outcome.output) == (Stop.END_TURN, "Both are there.")
    assert [call.result.ok for call in outcome.calls] == [True, True]
    assert model.requests[0]["model"] == "toy"
    assert len(model.answers()) == 2


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
            outcome = await run_agent(board, agent(model, timeout=2), "Tidy up.")
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
