"""What a run of an agent came to, and what can be heard of it while it runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from pegboard.core import Result, ToolName
from pegboard.schema.types import Json


class Stop(StrEnum):
    """Why a run ended."""

    END_TURN = "end_turn"
    """The model was done."""
    MAX_TOOL_CALLS = "max_tool_calls"
    """A call was refused because the budget was spent; the model answered with what there was."""
    MAX_TURNS = "max_turns"
    MAX_COST = "max_cost"
    TIMEOUT = "timeout"
    LENGTH = "length"
    """The model's answer was cut at its own limit."""
    CONTENT_FILTER = "content_filter"
    ERROR = "error"
    """The model could not be reached, or answered what cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One call that an agent made.

    Parameters:
        id: the provider's id of the call.
        tool: the tool.
        arguments: what the model sent.
        result: what came of it.
    """

    id: str
    tool: ToolName
    arguments: Json
    result: Result

    def to_json(self) -> dict[str, Any]:
        """As plain data, without the result itself, which the trace holds."""
        failure = self.result.failure
        row = {"id": self.id, "tool": str(self.tool), "arguments": self.arguments, "ok": self.result.ok}
        return row if failure is None else {**row, "failure": failure.code.value, "message": failure.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run took.

    Parameters:
        turns: answers of the model.
        input_tokens: tokens that it read.
        output_tokens: tokens that it wrote.
        cost: dollars, where the prices are known.
    """

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A whole run.

    Parameters:
        agent: the agent's name.
        model: the model's name.
        run: the id under which its calls are traced.
        output: the model's last words.
        stop: why it ended.
        calls: the calls that it made, in the order in which they ended.
        usage: what it took.
        error: what was wrong, where something was.
        version: the published version of the agent that ran, where it is one.
    """

    agent: str
    model: str
    run: str
    output: str
    stop: Stop
    calls: tuple[Made, ...] = ()
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    version: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the model was done, within every limit."""
        return self.stop is Stop.END_TURN

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        usage = self.usage
        return {
            "agent": self.agent,
            "version": self.version,
            "model": self.model,
            "run": self.run,
            "output": self.output,
            "stop_reason": self.stop.value,
            "error": self.error,
            "calls": [call.to_json() for call in self.calls],
            "usage": {
                "turns": usage.turns,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cost": usage.cost,
            },
        }


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of what the model says.

    Parameters:
        text: the piece.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Calling:
    """A call that is about to be made.

    Parameters:
        name: the tool's wire name, as the model wrote it.
        arguments: what the model sent, as text.
    """

    name: str
    arguments: str


Event: TypeAlias = Said | Calling | Made
"""What can be heard of a run while it lasts."""

Hear: TypeAlias = Callable[[Event], object]
"""Hears it."""
