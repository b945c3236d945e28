"""Chains and agents are published as versions that never change, and run by version; their runs record it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Scripted, serving

from pegboard.agent.definition import Definition
from pegboard.board import Board
from pegboard.board.issued import with_versions
from pegboard.board.passage import traces_of
from pegboard.cli.app import run
from pegboard.config import load

pytestmark = pytest.mark.requirement("R12.1")

TOOLS = '''
from pegboard import tool


@tool(effects="read_only")
def greet(name: str) -> str:
    """Greet a person."""
    return f"hello {name}"


@tool(effects="read_only")
def shout(name: str) -> str:
    """Greet a person loudly."""
    return f"HELLO {name}"
'''
CONFIG = """
[sources.desk]
python = "{module}"

[chain.welcome]
description = "Welcome a person."
steps = [{{ id = "said", tool = "greet", args = {{ name = "${{input.who}}" }} }}]

[agent.clerk]
model = "test"
instructions = "Be brief."
tools = ["desk.greet"]
subagents = {{ inline = true, max_spawns = 2 }}
"""
Pegboard = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def board(tmp_path: Path) -> Path:
    module = f"desk_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(TOOLS)
    (tmp_path / "pegboard.toml").write_text(CONFIG.format(module=module))
    return tmp_path


@pytest.fixture
def pegboard(board: Path, capsys: pytest.CaptureFixture[str]) -> Pegboard:
    def command(*arguments: str) -> tuple[int, Any, str]:
        code = run([*arguments, "--config", str(board), "--json"])
        seen = capsys.readouterr()
        return code, json.loads(seen.out), seen.err

    return command


def change(board: Path, before: str, after: str) -> None:
    config = board / "pegboard.toml"
    assert before in config.read_text()
    config.write_text(config.read_text().replace(before, after))


ARGUMENTS = ("--args", '{"who": "Ann"}')


def test_a_published_chain_runs_as_it_was_and_its_run_says_which_version_it_is(pegboard: Pegboard, board: Path) -> None:
    code, first, _ = pegboard("publish", "chain", "welcome", "--note", "The first.")
    assert (code, first["version"], first["new"]) == (0, "chain/welcome@1", True)
    change(board, 'tool = "greet"', 'tool = "shout"')
    assert pegboard("chain", "run", "welcome", *ARGUMENTS)[1]["value"] == "HELLO Ann"
    _, done, _ = pegboard("chain", "run", "welcome@1", *ARGUMENTS)
    assert done["value"] == "hello Ann"
    _, runs, _ = pegboard("chain", "list")
    assert {(one["chain"], one["version"]) for one in runs["runs"]} == {("welcome@1", "1"), ("welcome", None)}
    [old] = [one["id"] for one in runs["runs"] if one["version"]]
    assert pegboard("chain", "show", old)[1]["version"] == "1"
    assert pegboard("chain", "resume", old)[1]["value"] == "hello Ann"


def test_the_next_version_says_what_changed_and_what_its_callers_must_do(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "chain", "welcome")
    change(board, "${input.who}", "${input.whom}")
    _, second, _ = pegboard("publish", "chain", "welcome")
    assert second["version"] == "chain/welcome@2"
    assert [place["where"] for place in second["changes"]] == ["/steps/0/args/name"]
    assert "breaking" in {place["weight"] for place in second["migration"]}
    code, compared, _ = pegboard("versions", "diff", "chain/welcome@1")
    assert code == 1
    assert "/table/steps/0/args/name" in [place["where"] for place in compared["places"]]


def test_what_is_published_already_is_not_published_again(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "chain", "welcome")
    assert pegboard("publish", "chain", "welcome")[1]["new"] is False
    assert len(pegboard("versions", "list", "--kind", "chain")[1]["versions"]) == 1


def test_a_version_of_a_name_holds_one_thing_for_good(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "chain", "welcome", "--as", "spring")
    change(board, 'tool = "greet"', 'tool = "shout"')
    code, problem, _ = pegboard("publish", "chain", "welcome", "--as", "spring")
    assert code == 1
    assert "holds something else" in problem["error"]["message"]


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (("publish", "chain", "welcom"), "welcome"),
        (("publish", "agent", "clark"), "clerk"),
        (("publish", "chain", "welcome", "--as", "a b"), "letters"),
        (("chain", "run", "welcome@7"), "pegboard publish"),
        (("agent", "run", "clerk@7", "Go."), "pegboard publish"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_what_to_do(
    pegboard: Pegboard, command: tuple[str, ...], hint: str
) -> None:
    code, problem, _ = pegboard(*command)
    assert code == 1
    assert hint in json.dumps(problem)


def test_a_chosen_version_stands_in_the_place_of_what_the_config_says(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "chain", "welcome")
    change(board, 'tool = "greet"', 'tool = "shout"')
    pegboard("versions", "use", "chain/welcome@1")
    _, done, _ = pegboard("chain", "run", "welcome", *ARGUMENTS)
    assert done["value"] == "hello Ann"
    assert [(one["chain"], one["version"]) for one in pegboard("chain", "list")[1]["runs"]] == [("welcome", "1")]
    pegboard("versions", "use", "chain/welcome@live")
    assert pegboard("chain", "run", "welcome", *ARGUMENTS)[1]["value"] == "HELLO Ann"


def test_what_is_published_while_a_version_is_chosen_is_what_the_config_says(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "chain", "welcome")
    pegboard("versions", "use", "chain/welcome@1")
    change(board, 'tool = "greet"', 'tool = "shout"')
    _, second, _ = pegboard("publish", "chain", "welcome")
    assert second["version"] == "chain/welcome@2"
    assert pegboard("chain", "run", "welcome@2", *ARGUMENTS)[1]["value"] == "HELLO Ann"


def test_a_published_agent_is_what_it_was(pegboard: Pegboard, board: Path) -> None:
    _, first, _ = pegboard("publish", "agent", "clerk")
    assert first["version"] == "agent/clerk@1"
    change(board, "Be brief.", "Be thorough.")
    config = with_versions(load(board), ["agent/clerk@1"])
    old, new = (Definition.of(name, config.tables["agent"]) for name in ("clerk@1", "clerk"))
    assert (old.instructions, new.instructions) == ("Be brief.", "Be thorough.")
    assert old.tools == ("desk.greet",)
    assert old.subagents is not None
    assert old.subagents == new.subagents
    _, second, _ = pegboard("publish", "agent", "clerk")
    assert [place["where"] for place in second["changes"]] == ["/instructions"]
    _, compared, _ = pegboard("versions", "diff", "agent/clerk@1", "agent/clerk@2")
    assert [place["where"] for place in compared["places"]] == ["/table/instructions"]


def test_a_published_agent_runs_by_its_version_and_the_run_says_so(pegboard: Pegboard, board: Path) -> None:
    with serving(Scripted(["One.", "Two."])) as model:
        change(board, 'model = "test"', f'model = "toy"\nbase_url = "{model.url}"')
        pegboard("publish", "agent", "clerk")
        change(board, "Be brief.", "Be thorough.")
        code, old, _ = pegboard("agent", "run", "clerk@1", "Greet Ann.")
        _, new, _ = pegboard("agent", "run", "clerk", "Greet Ann.")
    assert (code, old["version"], new["version"]) == (0, "1", None)
    assert [first(request) for request in model.requests] == ["Be brief.", "Be thorough."]


def first(request: Any) -> str:
    """What the model was told first."""
    return str(request["messages"][0]["content"])


@pytest.mark.anyio
async def test_the_trace_and_the_outcome_of_a_run_name_the_version_of_the_agent(board: Path) -> None:
    from pydantic_ai.models.test import TestModel

    from pegboard.frameworks.agents.run import run_agent

    async with Board.open(board) as opened:
        clerk = Definition(name="clerk", model="test", tools=("desk.greet",), version="3")
        outcome = await run_agent(opened, clerk, "Greet Ann.", model=TestModel(call_tools=["desk__greet"]))
    assert outcome.to_json()["version"] == "3"
    traces = traces_of(load(board))
    assert traces is not None
    [trace] = traces.scan()
    assert trace.agent == "clerk@3"


@pytest.mark.anyio
@pytest.mark.parametrize(("kind", "name"), [("agent", "clerk"), ("flow", "welcome")])
async def test_an_agent_that_builds_boards_publishes_only_where_it_may(board: Path, kind: str, name: str) -> None:
    tool = f"builder.publish_{kind}_version"
    asked = {"agent" if kind == "agent" else "chain": name}
    change(board, "[chain.welcome]", "[builder]\nenabled = true\n\n[chain.welcome]")
    async with Board.open(board) as opened:
        shown = (await opened.call(tool, asked, mode="preview")).value
        refused = (await opened.call(tool, asked, mode="execute")).failure
    assert shown["version"].endswith(f"/{name}@1")
    assert shown["published"] is False
    assert refused is not None
    assert f"pegboard publish {'agent' if kind == 'agent' else 'chain'} {name}" in str(refused.next_step)
    change(board, "enabled = true", "enabled = true\nwrite = true")
    async with Board.open(board) as opened:
        done = (await opened.call(tool, asked, mode="execute")).value
        again = (await opened.call(tool, asked, mode="execute")).value
        unknown = (await opened.call(tool, {next(iter(asked)): "nobody"}, mode="execute")).failure
    assert (done["published"], again["published"]) == (True, False)
    assert unknown is not None
    assert name in str(unknown.next_step)


def test_a_version_says_which_of_its_tools_are_others_by_now(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "chain", "welcome")
    [module] = board.glob("desk_*.py")
    module.write_text(module.read_text().replace("Greet a person.", "Greet somebody."))
    sys.modules.pop(module.stem, None)
    _, _, told = pegboard("chain", "run", "welcome@1", *ARGUMENTS)
    assert "desk.greet has changed since chain/welcome@1 was published" in told
