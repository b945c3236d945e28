"""Subagents: saved and made up on the spot, each within its own caps."""

import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Body, Scripted, Turn, serving

from pegboard.agent.definition import Definition, Delegation
from pegboard.board import Board
from pegboard.config import parse
from pegboard.config.load import InvalidConfigError
from pegboard.config.subagents import delegation_of
from pegboard.core import FailureCode, Session
from pegboard.errors import ConfigError
from pegboard.frameworks.agents.outcome import Outcome
from pegboard.frameworks.agents.run import run_agent
from pegboard.frameworks.agents.subagents import Subagents, delegating
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


GATEWAY = """
[subagents]
agents = ["reader"]
model = "toy"
base_url = "{url}"
max_spawns = 2
max_tool_calls = 1
[agent.reader]
model = "toy"
base_url = "{url}"
tools = ["crm.find"]
[agent.plain]
model = "toy"
base_url = "{url}"
"""


@asynccontextmanager
async def gateway(model: Scripted) -> AsyncIterator[Board]:
    """A board as a gateway serves it, whose clients may hand tasks on."""
    config = parse(tomllib.loads(GATEWAY.replace("{url}", model.url)), folder=Path())
    [subagents] = delegating(config, ())
    crm = FakeSource("crm", {"find": None, "drop": None})
    async with Board.open(config, beside=[crm, subagents]) as board:
        subagents.over(board)
        yield board


@pytest.mark.requirement("R6.3")
@pytest.mark.requirement("R6.4")
async def test_a_client_of_the_gateway_hands_tasks_on_within_its_caps() -> None:
    turns: list[Turn] = [[("crm__find", {}), ("crm__find", {})], "Found."]
    with serving(Scripted(by_task([], *turns))) as model:
        async with gateway(model) as board:
            session = Session("client-1")
            assert "spawn_subagent" in [str(spec.name) for spec in board.view(session).listed]
            saved = await board.call("spawn_subagent", {"task": "sub: a", "agent": "reader"}, session=session)
            assert saved.value["output"] == "Found."
            assert saved.value["stop_reason"] == "max_tool_calls"
            made = await board.call("spawn_subagent", {"task": "sub: b", "tools": ["crm.*"]}, session=session)
            assert made.ok
            third = await board.call("spawn_subagent", {"task": "sub: c"}, session=session)
            assert third.failure is not None
            assert third.failure.code is FailureCode.BUDGET
            other = await board.call("spawn_subagent", {"task": "sub: d"}, session=Session("client-2"))
            assert other.ok
    lists = [sorted(model.names(at)) for at in range(len(model.requests))]
    assert ["crm__find"] in lists
    assert not any("spawn_subagent" in names for names in lists)


async def test_a_subagent_that_a_client_makes_up_has_no_tool_that_the_client_has_not() -> None:
    with serving(Scripted(by_task([], "Done."))) as model:
        async with gateway(model) as board:
            session = Session("narrow", tools=("crm.find", "spawn_subagent"))
            found = await board.call("spawn_subagent", {"task": "sub: a", "tools": ["crm.*"]}, session=session)
            assert found.ok, found.failure
    assert model.names(0) == ["crm__find"]


async def test_an_agent_that_may_hand_nothing_on_sees_no_tool_of_the_gateways_clients() -> None:
    with serving(Scripted(by_task(["Done."]))) as model:
        async with gateway(model) as board:
            assert board.config is not None
            await run_agent(board, Definition.of("plain", board.config.tables["agent"]), "Look.")
    assert "spawn_subagent" not in model.names(0)


@pytest.mark.parametrize(
    ("table", "allowed"),
    [({}, None), ({"max_spawns": 3}, None), ({"agents": ["a"]}, (("a",), False)), ({"model": "m"}, ((), True)),
     ({"model": "m", "inline": False}, None), ({"agents": ["a"], "inline": True}, (("a",), False))],
)  # fmt: skip
def test_clients_may_hand_on_what_the_table_names(table: dict[str, Any], allowed: Any) -> None:
    document = {"subagents": table, "agent": {"a": {"model": "m"}}}
    rules = delegation_of(parse(document, folder=Path()).tables["subagents"])
    assert (None if rules is None else (rules.agents, rules.inline)) == allowed
