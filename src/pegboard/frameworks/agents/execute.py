"""`execute_agent` of the namespace `builder`: an agent that builds boards tries out an agent of the config."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from pegboard.agent.definition import Definition
from pegboard.board import Board
from pegboard.config import Config
from pegboard.core import Call, Effects, FailureCode, Listing, Result, SourceRef, Tool, ToolName
from pegboard.core.spec import ToolSpec
from pegboard.errors import PegboardError
from pegboard.sources.still import Still

KIND = "subagents"
_inside: ContextVar[bool] = ContextVar("pegboard_execute_agent", default=False)


class Agents(Still):
    """The source of `execute_agent`; give it to the board beside its own sources.

    Parameters:
        config: the config, whose `[agent.NAME]` can be run.
    """

    name = "builder-agents"
    kind = KIND

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._tables: Mapping[str, Any] = config.tables["agent"]
        self._board: Board | None = None

    def over(self, board: Board) -> None:
        """Name the board whose tools the agents have."""
        self._board = board

    async def listing(self) -> Listing:
        """The one tool."""
        return Listing((Tool(_spec(list(self._tables)), self._execute),))

    async def _execute(self, call: Call) -> Result:
        assert self._board is not None
        if _inside.get():
            return Result.failed(
                FailureCode.BLOCKED,
                "An agent that is tried out may not try out another.",
                next_step="Do the task yourself.",
            )
        token = _inside.set(True)
        try:
            from pegboard.frameworks.agents.run import run_agent

            agent = Definition.of(str(call.arguments["agent"]), self._tables)
            outcome = await run_agent(self._board, agent, str(call.arguments["task"]), within=call.session)
        except PegboardError as problem:
            return Result.failed(FailureCode.FAILED, problem.message, next_step=problem.next_step)
        finally:
            _inside.reset(token)
        return Result(value=outcome.to_json())


def agents_of(config: Config) -> list[Agents]:
    """The source, where the config has agents and the namespace `builder`, else none."""
    return [Agents(config)] if config.tables["builder"]["enabled"] and config.tables["agent"] else []


def _spec(names: list[str]) -> ToolSpec:
    return ToolSpec(
        name=ToolName("builder", "execute_agent"),
        description="Run an agent of this board on a task, to see what it does: its words, its calls, why it ended, and"
        " the run to look at with trace_execution. Its tools do what they do; approvals and limits hold.",
        input={
            "type": "object",
            "properties": {
                "agent": {"type": "string", "enum": names, "description": "Which agent."},
                "task": {"type": "string", "minLength": 1, "description": "What it is asked."},
            },
            "required": ["agent", "task"],
            "additionalProperties": False,
        },
        effects=Effects.UNKNOWN,
        category="building",
        source=SourceRef("builder-agents", KIND),
    )
