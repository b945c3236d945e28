"""Agents as tools: what an agent of the config does with one task, callable by steps, code and other agents."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from pegboard.agent.definition import Definition
from pegboard.board import Board
from pegboard.config import Config
from pegboard.core import Call, Effects, FailureCode, Handler, Listing, Result, SourceRef, Tool, ToolName, ToolSpec
from pegboard.errors import PegboardError
from pegboard.schema.types import Json
from pegboard.sources.still import Still

NAMESPACE = "agents"
KIND = "subagents"
DEEPEST = 3
"""How deep agents that are tools may stand in one another."""

_around: ContextVar[tuple[str, ...]] = ContextVar("pegboard_offered_agents", default=())


class OfferedAgents(Still):
    """The source of the agents that a config offers as tools; give it to the board beside its own sources.

    Parameters:
        tables: the config's `[agent.NAME]`.
    """

    name = NAMESPACE
    kind = KIND

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        self._agents = {name: Definition.of(name, tables) for name in tables if tables[name].get("offer")}
        self._board: Board | None = None

    def over(self, board: Board) -> None:
        """Name the board whose tools the agents have."""
        self._board = board

    async def listing(self) -> Listing:
        """One tool an agent."""
        return Listing(tuple(Tool(_spec(agent), self._handler(agent)) for agent in self._agents.values()))

    def _handler(self, agent: Definition) -> Handler:
        async def ask(call: Call) -> Result:
            assert self._board is not None
            around = _around.get()
            if agent.name in around or len(around) >= DEEPEST:
                return Result.failed(
                    FailureCode.BLOCKED,
                    f"{' > '.join((*around, agent.name))}: an agent may not be asked by itself, or too deep inside of "
                    "others.",
                    next_step="Do the task yourself.",
                )
            from pegboard.frameworks.agents.run import run_agent

            token = _around.set((*around, agent.name))
            try:
                outcome = await run_agent(self._board, agent, str(call.arguments["task"]), within=call.session)
            except PegboardError as problem:
                return Result.failed(FailureCode.FAILED, problem.message, next_step=problem.next_step)
            finally:
                _around.reset(token)
            if outcome.error is not None:
                return Result.failed(
                    FailureCode.FAILED,
                    f"{agent.name} ended with {outcome.stop}: {outcome.error}",
                    next_step=f"See what it did with: pegboard runs show {outcome.run}",
                )
            return _answer(outcome.output, str(call.arguments.get("output") or "text"))

        return ask


def offered_agents(config: Config) -> list[OfferedAgents]:
    """The source, where the config offers an agent as a tool, else none."""
    tables = config.tables["agent"]
    return [OfferedAgents(tables)] if any(table.get("offer") for table in tables.values()) else []


def _answer(said: str, form: str) -> Result:
    if form == "text":
        return Result(value=said)
    import json

    try:
        value: Json = json.loads(said.strip().removeprefix("```json").strip("`\n "))
    except ValueError:
        return Result.failed(
            FailureCode.FAILED, f"The answer is no JSON: {said[:500]}", next_step="Say in the task what JSON you want."
        )
    return Result(value=value)


def _spec(agent: Definition) -> ToolSpec:
    return ToolSpec(
        name=ToolName(NAMESPACE, agent.name),
        description=agent.description or f"Hand a task to the agent {agent.name}, and get its answer.",
        input={
            "type": "object",
            "properties": {
                "task": {"type": "string", "minLength": 1, "description": "The whole task: it sees nothing else."},
                "output": {"type": "string", "enum": ["text", "json"], "default": "text"},
            },
            "required": ["task"],
            "additionalProperties": False,
        },
        effects=Effects.UNKNOWN,
        category="agents",
        source=SourceRef(NAMESPACE, KIND),
    )
