"""The run of a chain, as it is kept: the frozen definition, how far each step has come, and who holds it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pegboard.schema.types import Json, JsonObject


class RunStatus(StrEnum):
    """How a run of a chain is."""

    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    """A step waits for a person's yes; `resume` goes on once it is there."""
    WAITING_AGENT = "waiting_agent"
    """The agent that follows the chain has to call the next step's tool."""
    NEEDS_OPERATOR = "needs_operator"
    """A step may have taken effect, and nobody knows: somebody has to look, and to choose."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepStatus(StrEnum):
    """How far a step has come."""

    STARTED = "started"
    """Its tool was called, and nothing came back yet: what is written before a step."""
    OK = "ok"
    SKIPPED = "skipped"
    PASSED_OVER = "passed_over"
    """It failed, and the chain went on without it."""
    WAITING = "waiting"
    """It waits for a person's yes; nothing ran."""
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether the step never runs again in this run."""
        return self in (StepStatus.OK, StepStatus.SKIPPED, StepStatus.PASSED_OVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How far one step has come.

    Parameters:
        step: the step's id.
        tool: the full name of its tool; empty for a step that sets a value.
        status: how far.
        attempts: how often the run has come to it.
        value: what later steps read of it.
        failure: why it failed, as data.
        started: Unix time in seconds.
        ended: Unix time in seconds; None while it is under way.
    """

    step: str
    tool: str = ""
    status: StepStatus = StepStatus.STARTED
    attempts: int = 1
    value: Json = None
    failure: JsonObject | None = None
    started: float = 0.0
    ended: float | None = None

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "step": self.step,
            "tool": self.tool,
            "status": self.status.value,
            "attempts": self.attempts,
            "value": self.value,
            "failure": None if self.failure is None else dict(self.failure),
            "started": self.started,
            "ended": self.ended,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRun:
    """One run of a chain.

    Parameters:
        id: its name.
        chain: the chain's full name.
        digest: of the definition that is frozen into it.
        definition: that definition.
        input: the chain's input.
        status: how it is.
        principal: on whose behalf it runs.
        session: the session of the call that began it.
        owner: the process that holds it; empty where none does.
        lease: until when, as Unix time in seconds, unless the owner renews it.
        created: Unix time in seconds.
        updated: Unix time in seconds.
        forked_from: the run whose steps it began with.
        forked_at: the first step that it ran itself.
        value: what it came to.
        failure: why it stopped.
        steps: the checkpoints by step.
    """

    id: str
    chain: str
    digest: str
    definition: JsonObject
    input: JsonObject
    status: RunStatus = RunStatus.RUNNING
    principal: str = "local"
    session: str = "local"
    owner: str = ""
    lease: float = 0.0
    created: float = 0.0
    updated: float = 0.0
    forked_from: str | None = None
    forked_at: str | None = None
    value: Json = None
    failure: JsonObject | None = None
    steps: Mapping[str, Checkpoint] = field(default_factory=dict[str, Checkpoint])

    @property
    def in_flight(self) -> tuple[str, ...]:
        """The steps that were called, and of which nothing came back."""
        return tuple(point.step for point in self.steps.values() if point.status is StepStatus.STARTED)

    @property
    def version(self) -> str | None:
        """The published version that it runs, where it is one."""
        return self.definition.get("version")

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "id": self.id,
            "chain": self.chain,
            "version": self.version,
            "status": self.status.value,
            "digest": self.digest,
            "input": dict(self.input),
            "principal": self.principal,
            "owner": self.owner or None,
            "lease": max(self.lease, 0.0) or None,
            "created": self.created,
            "updated": self.updated,
            "forked_from": self.forked_from,
            "forked_at": self.forked_at,
            "value": self.value,
            "failure": None if self.failure is None else dict(self.failure),
            "steps": [point.to_json() for point in self.steps.values()],
        }
