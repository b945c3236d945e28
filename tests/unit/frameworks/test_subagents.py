"""Subagents: saved and made up on the spot, each within its own caps."""

from pathlib import Path
from typing import Any

import pytest
from scripted_model import Body, Scripted, Turn, serving

from pegboard.agent.definition import Definition, Delegation
from pegboard.board import Board
from pegboard.config import parse
from pegboard.config.load import InvalidConfigError
from pegboard.errors import ConfigError
from pegboard.frameworks.agents.outcome import Outcome
from pegboard.frameworks.agents.run import run_agent
from pegboard.frameworks.agents.subagents import Subagents
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


def spawn(**arguments: Any) -> list[tuple[str, Body]]:
    return [("spawn_subagent", {"task": "sub: look", **arguments})]


def by_task(main: list[Turn], *inner: Turn) -> Any:
    """A model whose turns go by its task and by how many answers it has had: the main agent's, and its subagents'."""

    def turn(body: Body) -> Turn:
        task = next(row["content"] for row in body["messages"] if row["role"] == "user")
        made = sum(row["role"] == "assistant" for row in body["messages"])
        turns = inner if task.startswith("sub:") else main
        return turns[min(made, len(turns) - 1)]

    return turn


async def played(turns: Any, rules: Delegation, **saved: Any) -> tuple[Outcome, Scripted]:
    with serving(Scripted(turns)) as model:
        agent = Definition(name="boss", model="toy", base_url=model.url, subagents=rules)
        tables = {name: {"model": "toy", "base_url": model.url, **table} for name, table in saved.items()}
        subagents = Subagents(agent, tables)
        async with Board.of(FakeSource("crm", {"find": None, "drop": None}), subagents) as board:
            subagents.over(board)
            return await run_agent(board, agent, "Manage."), model


def of_tool(outcome: Outcome) -> list[Any]:
    return [call.result.value or (call.result.failure and call.result.failure.message) for call in outcome.calls]


@pytest.mark.requirement("R6.2", "R6.3")
async def test_a_saved_and_an_inline_subagent_work_with_tools_of_their_own() -> None:
    main: list[Turn] = [spawn(agent="reader"), spawn(tools=["crm.find"], instructions="Look well."), "Done."]
    rules = Delegation(agents=("reader",))
    inner = ([("crm__find", {})], "It is there.")
    outcome, model = await played(by_task(main, *inner), rules, reader={"tools": ("crm.drop", "crm.find")})
    assert [found["output"] for found in of_tool(outcome)] == ["It is there."] * 2
    lists = {tuple(sorted(model.names(at))) for at in range(len(model.requests))}
    assert lists == {
        ("crm__drop", "crm__find", "spawn_subagent"),
        ("crm__drop", "crm__find"),
        ("crm__find",),
    }
    systems = [body["messages"][0]["content"] for body in model.requests if body["messages"][0]["role"] == "system"]
    assert set(systems) == {"Look well."}


@pytest.mark.requirement("R6.3")
async def test_the_tool_is_listed_only_where_it_is_configured() -> None:
    with serving(Scripted(["Hello."])) as model:
        agent = Definition(name="boss", model="toy", base_url=model.url)
        async with Board.of(FakeSource("crm", {"find": None}), Subagents(agent, {})) as board:
            await run_agent(board, agent, "Manage.")
    assert model.names(0) == ["crm__find"]


@pytest.mark.requirement("R6.4")
@pytest.mark.parametrize(
    ("rules", "inner", "stop"),
    [
        (Delegation(max_turns=2), [[("crm__find", {})]], "max_turns"),
        (Delegation(max_tool_calls=1), [[("crm__find", {}), ("crm__find", {})], "Two."], "max_tool_calls"),
    ],
)
async def test_a_subagent_is_held_to_caps_of_its_own(rules: Delegation, inner: list[Turn], stop: str) -> None:
    outcome, _ = await played(by_task([spawn(), "Done."], *inner), rules)
    assert of_tool(outcome)[0]["stop_reason"] == stop
    assert outcome.output == "Done."


@pytest.mark.requirement("R6.4")
async def test_only_so_many_are_spawned_in_one_run() -> None:
    outcome, _ = await played(by_task([spawn(), spawn(), spawn(), "Done."], "Yes."), Delegation(max_spawns=2))
    assert ["handed on 2 tasks" in str(found) for found in of_tool(outcome)] == [False, False, True]


@pytest.mark.requirement("R6.4")
@pytest.mark.parametrize(("nesting", "said"), [(False, "unknown"), (True, "already at work around this call")])
async def test_a_subagent_that_spawns_itself_is_refused(nesting: bool, said: str) -> None:
    own = Delegation(agents=("reader",))
    rules = Delegation(agents=("reader",), nesting=nesting)
    inner: list[Turn] = [spawn(agent="reader"), "I could not."]
    outcome, model = await played(by_task([spawn(agent="reader"), "Done."], *inner), rules, reader={"subagents": own})
    assert of_tool(outcome)[0]["output"] == "I could not."
    answers = [text for at in range(len(model.requests)) for text in model.answers(at)]
    assert any(said in text.lower() for text in answers)


@pytest.mark.parametrize(
    ("output", "words", "found"),
    [
        ("json", '```json\n{"n": 1}\n```', {"n": 1}),
        ("json", "no json", "is no JSON"),
        ("last_message", "Plain.", "Plain."),
        ("text", "All of it.", "All of it."),
    ],
)
async def test_its_answer_comes_in_the_form_that_was_asked_for(output: str, words: str, found: Any) -> None:
    outcome, _ = await played(by_task([spawn(output=output), "Done."], words), Delegation())
    value = of_tool(outcome)[0]
    assert found in value if isinstance(value, str) else value["output"] == found


async def test_a_pool_that_holds_nothing_gives_no_tools() -> None:
    _, model = await played(by_task([spawn(tools=["nothing.*"]), "Done."], "Empty."), Delegation(tools=("crm.find",)))
    assert [] in [model.names(at) for at in range(len(model.requests))]


def test_a_saved_agent_that_is_not_there_is_a_mistake_of_the_config() -> None:
    boss = Definition(name="boss", model="toy", subagents=Delegation(agents=("raeder",)))
    with pytest.raises(ConfigError, match="There is no agent 'raeder'"):
        Subagents(boss, {"reader": {"model": "toy"}})


@pytest.mark.parametrize(
    "text", ['{ agent = ["a"] }', "{ max_spawns = 0 }", '{ tools = ["effects:odd"] }', "3", "{ nesting = 1 }"]
)
def test_a_mistake_in_the_table_is_told_with_its_key(text: str, tmp_path: Path) -> None:
    import tomllib

    document = tomllib.loads(f'[agent.boss]\nmodel = "m:n"\nsubagents = {text}\n')
    with pytest.raises(InvalidConfigError, match="agent.boss.subagents"):
        parse(document, folder=tmp_path)
