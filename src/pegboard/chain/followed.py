"""One call of an agent in a chain that it follows itself: whether it is the next step, and what comes after it."""

import json
from dataclasses import dataclass, field, replace

from pegboard.chain.course import ChainCourse
from pegboard.chain.hold import Hold
from pegboard.compose.inner import Inner, child_mode
from pegboard.compose.steps import Step
from pegboard.core import Call, Failure, FailureCode, Handler, Mode, Result, ToolSpec
from pegboard.schema.types import Json, JsonObject, as_object

_NO_META: JsonObject = {}
SHOWN = 2000
"""Characters of the arguments that an instruction writes out."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A call that an agent makes while it follows a chain.

    Parameters:
        call: the call.
        mode: the mode that it will run in.
        run: runs it.
    """

    call: Call
    mode: Mode
    run: Handler = field(repr=False)


@dataclass(frozen=True, slots=True)
class Taken(Inner):
    """Makes of the agent's own call the call of a step."""

    offer: Offer | None = None

    async def call(
        self, tool: ToolSpec, arguments: JsonObject, *, key: str, mode: Mode | None = None, meta: JsonObject = _NO_META
    ) -> Result:
        """Run the agent's call; its arguments are the agent's, whatever the step proposes."""
        assert self.offer is not None, "a step runs only where a call is there for it"
        call = self.offer.call
        return await self.offer.run(replace(call, meta={**call.meta, **meta}))

    async def told(self, done: int, total: int) -> None:
        """Nothing: progress is that of the agent's own call."""


class Reached(Exception):
    """The run has come to a step that the agent has to call.

    Parameters:
        step: the step.
        spec: its tool.
        arguments: what it proposes, filled in.
    """

    def __init__(self, step: Step, spec: ToolSpec, arguments: JsonObject) -> None:
        super().__init__(step.id)
        self.step, self.spec, self.arguments = step, spec, arguments

    def to_json(self) -> dict[str, Json]:
        """The next step, as an agent reads it."""
        mode = child_mode(self.spec, self.step.mode)
        told: dict[str, Json] = {"mode": mode.value} if mode is not Mode.EXECUTE else {}
        if self.yours:
            told["fill_in"] = self.yours
        return {"step": self.step.id, "tool": str(self.spec.name), "arguments": dict(self.arguments), **told}

    @property
    def yours(self) -> list[str]:
        """The arguments that the tool needs and that the step leaves to the agent."""
        return [name for name in self.spec.input.get("required", ()) if name not in self.arguments]

    def said(self, run: str) -> str:
        """The next step as an instruction."""
        text = json.dumps(self.arguments, ensure_ascii=False, default=str)
        given = f"with {text}" if len(text) <= SHOWN else f"with the arguments that chain_progress shows for {run}"
        mode = child_mode(self.spec, self.step.mode)
        how = f" in mode {mode.value}" if mode is not Mode.EXECUTE else ""
        yours = f"; {', '.join(self.yours)} you fill in yourself" if self.yours else ""
        return f"step {self.step.id}: call {self.spec.name}{how} {given}{yours}."


class FollowedCourse(ChainCourse):
    """What each step came to so far, where the agent calls the tools.

    Parameters:
        call: what is being done: the agent's call, or one that only looks.
        run: the board's pipeline.
        hold: the run, held by this process.
        offer: the agent's call, where there is one.
    """

    def __init__(self, call: Call, run: Handler, hold: Hold, offer: Offer | None) -> None:
        super().__init__(Taken(run, replace(call, mode=Mode.EXECUTE), offer), hold)
        self.offer = offer
        self.answer: Result | None = None
        """What the agent's call came to, where it was the next step's."""
        self.at: Step | None = None
        self.differs: tuple[str, ...] = ()

    async def _run(self, step: Step, spec: ToolSpec, arguments: JsonObject) -> bool:
        offer = self.offer
        fits = offer is not None and (offer.call.tool, offer.mode) == (spec.name, child_mode(spec, step.mode))
        if offer is None or not fits or self.answer is not None:
            raise Reached(step, spec, arguments)
        self.at = step
        self.differs = _differing(arguments, offer.call.arguments)
        return await super()._run(step, spec, arguments)

    async def _once(self, step: Step, spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
        self.answer = await super()._once(step, spec, arguments, key)
        return self.answer

    def refused(self, offer: Offer, reached: Reached) -> Failure:
        """Why a call that is not the next step's does not run."""
        run = self.hold.run
        called = f"{offer.call.tool}" + (f" in mode {offer.mode.value}" if offer.mode is not Mode.EXECUTE else "")
        return Failure(
            FailureCode.PREREQUISITE,
            f"{called} is not next in the chain {run.chain} (run {run.id}). Nothing ran.",
            next_step=f"Next is {reached.said(run.id)} To leave the chain, call chain_progress with "
            f'{{"execution": "{run.id}", "end": true}}.',
            details={"execution": run.id, "next": reached.to_json()},
        )


def _differing(proposed: JsonObject, given: JsonObject) -> tuple[str, ...]:
    """The arguments in which a call differs from what its step proposes."""
    found = as_object(given)
    return tuple(key for key, value in proposed.items() if found.get(key) != value)
