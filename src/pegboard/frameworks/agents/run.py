"""One run of an agent over a board: its own session, its own budget, every call through the board's pipeline."""

from collections.abc import AsyncIterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import anyio

from pegboard.agent.definition import SPAWN, Definition
from pegboard.board import Board
from pegboard.core import Budget, FailureCode, Result, Session, ToolName
from pegboard.errors import MissingExtraError
from pegboard.frameworks.agents.model import model_of
from pegboard.frameworks.agents.outcome import Calling, Event, Hear, Made, Outcome, Said, Stop, Usage
from pegboard.frameworks.pydantic_ai import BoardToolset

try:
    from pydantic_ai import Agent, RunContext, UsageLimits
    from pydantic_ai.exceptions import (
        AgentRunError,
        ContentFilterError,
        IncompleteToolCall,
        ModelHTTPError,
        UsageLimitExceeded,
    )
    from pydantic_ai.messages import (
        FunctionToolCallEvent,
        PartDeltaEvent,
        PartStartEvent,
        TextPart,
        TextPartDelta,
    )
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RunUsage
except ImportError as error:
    raise MissingExtraError("agent", feature="Running an agent") from error


async def run_agent(
    board: Board,
    agent: Definition,
    task: str,
    *,
    hear: Hear | None = None,
    model: Model | None = None,
    within: Session | None = None,
) -> Outcome:
    """Give an agent a task, and follow it to its end. What goes wrong on the way is in the outcome.

    Parameters:
        board: the board, open.
        agent: the agent.
        task: what it is asked.
        hear: hears what it says and does meanwhile.
        model: a model in the place of the agent's own.
        within: the session of the caller that it runs for, whose principal it keeps.

    Raises:
        ConfigError: its model cannot be used.
        SourceError: a reference in its definition leads nowhere.
    """
    session = session_of(board, agent, within)
    following = _Following(hear)
    config = board.config
    chosen = model or model_of(agent, _plain if config is None else config.secrets.reveal)
    try:
        stop, error = await _follow(board, agent, task, chosen, session, following)
    finally:
        board.forget(session)
    return Outcome(
        agent=agent.name,
        version=agent.version,
        model=agent.model,
        run=session.id,
        output=following.said,
        stop=stop,
        calls=tuple(following.calls),
        usage=_usage(following.usage),
        error=error,
    )


def session_of(board: Board, agent: Definition, within: Session | None = None) -> Session:
    """A session for one run of an agent: the board's budget, with as many calls as the agent may make."""
    config = board.config
    budget = Budget() if config is None else Budget(**config.tables["budget"])
    return Session(
        f"agent-{uuid4().hex[:12]}",
        principal="local" if within is None else within.principal,
        agent=agent.label,
        budget=replace(budget, max_tool_calls=agent.max_tool_calls),
        tools=_pool(agent),
    )


def _pool(agent: Definition) -> tuple[str, ...] | None:
    """The agent's own tools, and `spawn_subagent` only where it may hand on."""
    if agent.subagents is None:
        return agent.tools if agent.tools == () else (*(agent.tools or ()), f"!{SPAWN}")
    return None if agent.tools is None else (*agent.tools, SPAWN)


@dataclass
class _Following:
    """What is known of a run while it lasts."""

    hear: Hear | None
    said: str = ""
    calls: list[Made] = field(default_factory=list[Made])
    usage: RunUsage = field(default_factory=RunUsage)

    def tell(self, event: Event) -> None:
        if self.hear is not None:
            self.hear(event)

    def made(self, id: str, tool: ToolName, arguments: Any, result: Result) -> None:
        self.calls.append(Made(id=id, tool=tool, arguments=arguments, result=result))
        self.tell(self.calls[-1])

    async def stream(self, _: RunContext[Any], events: AsyncIterable[Any]) -> None:
        async for event in events:
            match event:
                case PartStartEvent(part=TextPart(content=text), index=index):
                    self.said = text if index == 0 else self.said + text
                    self.tell(Said(text))
                case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                    self.said += text
                    self.tell(Said(text))
                case FunctionToolCallEvent(part=part):
                    self.tell(Calling(part.tool_name, part.args_as_json_str()))
                case _:
                    pass

    @property
    def spent(self) -> bool:
        """Whether a call was refused because the budget was used up."""
        failures = [call.result.failure for call in self.calls]
        return any(
            each is not None and each.code is FailureCode.BUDGET and each.details.get("limit") == "max_tool_calls"
            for each in failures
        )


async def _follow(
    board: Board, agent: Definition, task: str, model: Model, session: Session, following: _Following
) -> tuple[Stop, str | None]:
    """Run it to its end; why it ended, and what was wrong."""
    toolset: BoardToolset[object] = BoardToolset(
        board, session=session, hear=following.made, single_turn=agent.search == "off" or agent.max_turns == 1
    )
    # A call of a name that is nobody's is asked for again as often as there are turns: the turns are the limit.
    worker = Agent(
        model, name=agent.name, instructions=agent.instructions or None, toolsets=[toolset], retries=agent.max_turns
    )
    cost = None if agent.max_cost is None else Decimal(str(agent.max_cost))
    limits = UsageLimits(request_limit=agent.max_turns, cost_limit=cost)
    try:
        with anyio.fail_after(agent.timeout):
            found = await worker.run(
                task, usage_limits=limits, usage=following.usage, event_stream_handler=following.stream
            )
    except TimeoutError:
        return Stop.TIMEOUT, f"It was not done after {agent.timeout:g} seconds."
    except UsageLimitExceeded:
        if following.usage.requests >= agent.max_turns:
            return Stop.MAX_TURNS, f"It was not done after {agent.max_turns} answers of its model."
        return Stop.MAX_COST, f"It was not done when it had cost {agent.max_cost} dollars."
    except ContentFilterError as problem:
        return Stop.CONTENT_FILTER, str(problem)
    except IncompleteToolCall as problem:
        return Stop.LENGTH, str(problem)
    except ModelHTTPError as problem:
        told = " ".join(str(problem.body or "").split())[:300]
        step = _STEPS.get(problem.status_code, "")
        return Stop.ERROR, f"The model answered {problem.status_code}. {step} {told}".strip()
    except AgentRunError as problem:
        return Stop.ERROR, f"The model's answer cannot be used: {problem}"
    following.said = str(found.output)
    return _ended(found.response.finish_reason, following), None


_STEPS = {
    401: "Its key is wrong or missing.",
    403: "Its key may not do this.",
    404: "There is no such model, or no such API, at that address.",
    429: "It takes no more requests now: wait, or raise the limit with its provider.",
}
"""What to do next, by the HTTP status of a model's answer."""


def _ended(reason: str | None, following: _Following) -> Stop:
    if reason in ("length", "content_filter"):
        return Stop(reason)
    return Stop.MAX_TOOL_CALLS if following.spent else Stop.END_TURN


def _usage(usage: RunUsage) -> Usage:
    cost = usage.cost
    return Usage(
        turns=usage.requests,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=None if cost is None else float(cost),
    )


def _plain(value: Any, **_: Any) -> Any:
    return value
