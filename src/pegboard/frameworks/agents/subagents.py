"""`spawn_subagent`: an agent hands a task on to another, which works by itself and gives its answer back."""

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from pegboard.agent.definition import SPAWN, Definition, Delegation
from pegboard.board import Board
from pegboard.config import Config
from pegboard.config.subagents import delegation_of
from pegboard.core import (
    Call,
    Effects,
    FailureCode,
    Listing,
    Result,
    Selection,
    Source,
    SourceRef,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.errors import PegboardError
from pegboard.frameworks.agents.outcome import Event, Outcome, Said, Stop
from pegboard.sources.still import Still

KIND = "subagents"
DEEPEST = 3
"""How deep subagents may stand in one another, where nesting is allowed."""

CLIENT = "client"
"""What stands for a client of the gateway that hands a task on."""
_MOST_RUNS = 10_000
"""Of so many runs it is remembered how many subagents they have had."""

_around: ContextVar[tuple[Definition, ...]] = ContextVar("pegboard_agents_around", default=())
_outermost: ContextVar[str] = ContextVar("pegboard_agents_outermost", default="")


def delegating(config: Config, beside: Sequence[Source]) -> list["Subagents"]:
    """The source by which clients of a gateway hand tasks on, where the config has `[subagents]`, else none.

    Parameters:
        config: the config.
        beside: the sources that the board has beside its own: a run of an agent brings its own `spawn_subagent`.

    Raises:
        ConfigError: they may hand on to an agent that is not there.
    """
    table = config.tables["subagents"]
    rules = delegation_of(table)
    if rules is None or any(source.kind == KIND and source.name == Subagents.name for source in beside):
        return []
    own = {name: table[name] for name in ("model", "base_url", "key")}
    return [Subagents(Definition(name=CLIENT, subagents=rules, **own), config.tables["agent"])]


class Subagents(Still):
    """The source of `spawn_subagent`, of one run of an agent or of a gateway; give it to the board beside its own.

    Parameters:
        agent: the agent that runs, or what stands for the clients of a gateway.
        tables: the config's `[agent.NAME]`, for those that are saved.

    Raises:
        ConfigError: it may hand on to an agent that is not there.
    """

    name = "subagents"
    kind = KIND

    def __init__(self, agent: Definition, tables: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        self._agent, self._tables = agent, tables
        for name in () if agent.subagents is None else agent.subagents.agents:
            Definition.of(name, tables)
        self._board: Board | None = None
        self._spawned: dict[str, int] = {}

    def over(self, board: Board) -> None:
        """Name the board whose tools they have."""
        self._board = board

    async def listing(self) -> Listing:
        """The one tool, where the agent may hand on."""
        rules = self._agent.subagents
        return Listing(() if rules is None else (Tool(_spec(rules), self._spawn),))

    async def _spawn(self, call: Call) -> Result:
        around = _around.get() or (self._agent,)
        rules, run = around[-1].subagents, _outermost.get() or call.session.run_id
        refusal = self._refusal(around, rules, str(call.arguments.get("agent") or ""), run)
        if refusal is not None or rules is None:
            return refusal or _blocked("This agent may not hand tasks on.")
        try:
            worker = self._worker(around[-1], rules, call)
        except PegboardError as problem:
            return Result.failed(FailureCode.INVALID_ARGUMENTS, problem.message, next_step=problem.next_step)
        self._count(run)
        token = _outermost.set(run)
        try:
            return await self._work(worker, around, call)
        finally:
            _outermost.reset(token)

    def _count(self, run: str) -> None:
        if len(self._spawned) >= _MOST_RUNS:
            del self._spawned[next(iter(self._spawned))]
        self._spawned[run] = self._spawned.pop(run, 0) + 1

    def _refusal(self, around: Sequence[Definition], rules: Delegation | None, name: str, run: str) -> Result | None:
        if rules is None or (len(around) > 1 and not self._allows_nesting) or len(around) > DEEPEST:
            return _blocked("A subagent may not hand its task on here.")
        if name in [one.name for one in around]:
            return _blocked(f"{name} is already at work around this call: it would hand the task to itself.")
        if name and name not in rules.agents:
            known = ", ".join(rules.agents) or "none"
            return Result.failed(
                FailureCode.INVALID_ARGUMENTS, f"There is no agent {name!r} to hand on to: {known}.", where="/agent"
            )
        if not name and not rules.inline:
            return _blocked(f"Name one of the agents that there are: {', '.join(rules.agents)}.")
        most = self._agent.subagents.max_spawns if self._agent.subagents is not None else 0
        if self._spawned.get(run, 0) >= most:
            return Result.failed(
                FailureCode.BUDGET,
                f"This run has handed on {most} tasks, and may hand on no more.",
                next_step="Do the rest yourself, or answer with what there is.",
            )
        return None

    @property
    def _allows_nesting(self) -> bool:
        return self._agent.subagents is not None and self._agent.subagents.nesting

    def _worker(self, outer: Definition, rules: Delegation, call: Call) -> Definition:
        """The subagent, held to the caps of whoever spawns it."""
        name = str(call.arguments.get("agent") or "")
        found = (
            Definition.of(name, self._tables)
            if name
            else replace(outer, name=f"{outer.name}/inline", instructions=str(call.arguments.get("instructions") or ""))
        )
        return replace(
            found,
            tools=found.tools if name else self._narrowed(outer, rules, call),
            max_tool_calls=min(rules.max_tool_calls, found.max_tool_calls),
            max_turns=min(rules.max_turns, found.max_turns),
            timeout=min(rules.timeout, found.timeout),
            max_cost=min((cost for cost in (rules.max_cost, found.max_cost) if cost is not None), default=None),
            subagents=found.subagents if self._allows_nesting else None,
        )

    def _narrowed(self, outer: Definition, rules: Delegation, call: Call) -> tuple[str, ...]:
        """The full names of the tools that all of these pick: the spawner's own, what it may give, what it gives."""
        assert self._board is not None
        wanted = call.arguments.get("tools")
        given = [outer.tools, self._of_caller(call), rules.tools, tuple(wanted) if wanted else None]
        picks = [Selection.parse(each) for each in given if each is not None]
        specs = [spec for spec in self._board.catalog.specs if spec.name.name != SPAWN]
        return tuple(spec.name.qualified for spec in specs if all(spec in pick for pick in picks))

    def _of_caller(self, call: Call) -> Sequence[str] | None:
        """What the session itself may call, `spawn_subagent` aside: no subagent that it makes up may call more."""
        return call.session.tools if self._agent.name == CLIENT else None

    async def _work(self, worker: Definition, around: tuple[Definition, ...], call: Call) -> Result:
        assert self._board is not None
        said: list[str] = []

        def hear(event: Event) -> None:
            if isinstance(event, Said):
                said.append(event.text)

        token = _around.set((*around, worker))
        try:
            from pegboard.frameworks.agents.run import run_agent

            outcome = await run_agent(self._board, worker, str(call.arguments["task"]), hear=hear, within=call.session)
        except PegboardError as problem:
            return Result.failed(FailureCode.FAILED, problem.message, next_step=problem.next_step)
        finally:
            _around.reset(token)
        return _given_back(outcome, str(call.arguments.get("output") or "last_message"), "".join(said))


def _given_back(outcome: Outcome, form: str, said: str) -> Result:
    """A subagent's answer in the form that was asked for, and why it ended."""
    if outcome.stop is Stop.ERROR:
        return Result.failed(
            FailureCode.FAILED, f"The subagent broke: {outcome.error}", next_step="Do the task yourself."
        )
    output: Any = said if form == "text" else outcome.output
    if form == "json":
        try:
            output = json.loads(outcome.output.strip().removeprefix("```json").strip("`\n "))
        except ValueError:
            return Result.failed(
                FailureCode.FAILED,
                f"The subagent's answer is no JSON: {outcome.output[:500]}",
                next_step="Ask for last_message, or say in the task what JSON you want.",
            )
    return Result(value={"output": output, "stop_reason": outcome.stop.value, "run": outcome.run})


def _blocked(message: str) -> Result:
    return Result.failed(FailureCode.BLOCKED, message, next_step="Do the task yourself.")


def _spec(rules: Delegation) -> ToolSpec:
    saved: dict[str, Any] = {"type": "string", "enum": list(rules.agents), "description": "Who shall do it."}
    inline: dict[str, Any] = {
        "instructions": {"type": "string", "description": "What a subagent without a name is told first."},
        "tools": {
            "type": "array",
            "items": {"type": "string"},
            "description": 'Which tools such a one gets, by name or selector, such as "crm.*"; by default yours.',
        },
    }
    properties: dict[str, Any] = {
        "task": {"type": "string", "minLength": 1, "description": "The whole task: it sees nothing else of yours."},
        **({"agent": saved} if rules.agents else {}),
        **(inline if rules.inline else {}),
        "output": {
            "type": "string",
            "enum": ["last_message", "text", "json"],
            "default": "last_message",
            "description": "Its last message, all that it said, or its last message read as JSON.",
        },
    }
    return ToolSpec(
        name=ToolName("", SPAWN),
        description="Hand a task on to a subagent that works by itself with tools of its own, and get its answer. For"
        " work that would fill your context or can be done apart. You may do so a few times only.",
        input={
            "type": "object",
            "properties": properties,
            "required": ["task", *([] if rules.inline else ["agent"])],
            "additionalProperties": False,
        },
        effects=Effects.UNKNOWN,
        defer=False,
        source=SourceRef("subagents", KIND),
    )
