"""A model at work on one task: it calls tools until it is done, or its budget is spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pegboard.agent.model import Model, Reply, ToolCall
from pegboard.schema.types import Json, JsonObject
from pegboard.trace.record import CallRecord, Run

BUDGET = 10
"""Calls of one run: what most runtimes allow by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a call came to.

    Parameters:
        tool: the tool's full name, or what the model called it where there is none.
        arguments: what it got.
        ok: whether it succeeded.
        message: the message that tells the model.
        failure: the failure's code, where it failed.
    """

    tool: str
    arguments: Json
    ok: bool
    message: JsonObject
    failure: str | None = None


class Kit(Protocol):
    """The tools that a model has, as its API wants them."""

    def tools(self) -> Sequence[JsonObject]:
        """The definitions as they are now; they may grow after a search."""
        ...

    async def call(self, call: ToolCall, group: str) -> Answered:
        """Make a call that the model asks for; a failure is an answer."""
        ...


async def play(
    prompt: str,
    model: Model,
    kit: Kit,
    *,
    run: str,
    task: str | None = None,
    agent: str | None = None,
    instructions: str = "",
    budget: int = BUDGET,
) -> Run:
    """One run of a model on a task.

    Parameters:
        prompt: what is asked.
        model: the model.
        kit: its tools.
        run: the run's id.
        task: the task's id.
        agent: what the run calls its agent.
        instructions: what the model is told first.
        budget: how many calls it may make.

    Raises:
        SourceError: the model cannot be reached.
    """
    messages: list[JsonObject] = [{"role": "system", "content": instructions}] if instructions else []
    messages.append({"role": "user", "content": prompt})
    records: list[CallRecord] = []
    stop, turn = "end_turn", 0
    while True:
        reply = await model(messages, kit.tools())
        messages.append(_message(reply))
        if not reply.calls:
            break
        wanted = reply.calls[: budget - len(records)]
        for call in wanted:
            answered = await kit.call(call, f"turn-{turn}")
            records.append(_record(call, answered, turn, grouped=len(reply.calls) > 1))
            messages.append(answered.message)
        turn += 1
        if len(wanted) < len(reply.calls) or len(records) >= budget:
            stop = "max_tool_calls"
            break
    meta: dict[str, Any] = {"stop_reason": stop, "output": str(messages[-1].get("content") or "")}
    return Run(id=run, calls=tuple(records), task=task, agent=agent, user_messages=(prompt,), source="agent", meta=meta)


def _message(reply: Reply) -> JsonObject:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [call.to_openai() for call in reply.calls]
    return message


def _record(call: ToolCall, answered: Answered, turn: int, *, grouped: bool) -> CallRecord:
    return CallRecord(
        id=call.id,
        tool=answered.tool,
        arguments=answered.arguments,
        result=answered.message.get("content"),
        ok=answered.ok,
        failure=answered.failure,
        turn=turn,
        segment=1,
        group=f"turn-{turn}" if grouped else None,
    )
