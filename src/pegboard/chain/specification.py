"""A chain as a specification: the agent calls the tools itself, one step after the other, and the next is enforced."""

from dataclasses import dataclass, replace
from typing import Any

from pegboard.chain.followed import FollowedCourse, Offer, Reached
from pegboard.chain.hold import Hold
from pegboard.chain.record import ChainRun, RunStatus, StepStatus
from pegboard.chain.tool import ChainTool
from pegboard.compose.steps import Step
from pegboard.core import Call, Effects, Failure, FailureCode, Mode, Report, Result, ToolSpec, without_modes
from pegboard.schema.types import Json, as_object

SPECIFICATION = "specification"
FORMS = ("tool", SPECIFICATION)
"""How a chain is offered: one tool that runs it, or instructions that the agent follows."""
FORM_KEY = "pegboard/form"
USES_KEY = "pegboard/uses"

_SAYS = (
    " Returns its steps as instructions: call each tool yourself, in this order. Until the last one is done the next"
    " step is enforced: calls of other tools are refused."
)


def specification_spec(spec: ToolSpec) -> ToolSpec:
    """What a chain's tool says of itself where the agent follows it: it runs nothing, so it needs no yes."""
    bare = without_modes(spec)
    meta = {key: value for key, value in bare.meta.items() if key not in (USES_KEY, "pegboard/own_modes")}
    return replace(
        bare,
        description=bare.description.rstrip(". ") + "." + _SAYS,
        effects=Effects.READ_ONLY,
        costly=False,
        auth=None,
        output=None,
        modes=(),
        meta={**meta, FORM_KEY: SPECIFICATION},
    )


@dataclass(frozen=True, kw_only=True)
class SpecificationTool(ChainTool):
    """The handler of a chain that the agent follows; its parameters are those of a `ChainTool`."""

    async def __call__(self, call: Call) -> Result:
        """Begin an execution, and return the steps with the first instruction."""
        if call.parent is not None and "pegboard/path" in call.meta:
            return _only_agents(self.name)
        if not call.session.id:
            return _no_session(self.name)
        if self.ledger is None or call.mode not in (None, Mode.EXECUTE):
            return Result(value={"chain": self.name, "steps": self.outline()}, mode=call.mode or Mode.EXECUTE)
        return await super().__call__(call)

    async def go(self, call: Call, hold: Hold) -> Result:
        """Where an execution is: what is done without a call is done, and the next instruction told."""
        return await self.follow(call, hold, None)

    async def follow(self, call: Call, hold: Hold, offer: Offer | None) -> Result:
        """Take a call of the agent for the next step, or refuse it and say what the next step is.

        Parameters:
            call: the call, or one that only looks.
            hold: the execution, held by this process.
            offer: the call, where it is to be judged.
        """
        course = FollowedCourse(call, self.run, hold, offer)
        result = await self.run_held(course)
        if course.answer is None:
            return result
        return _answered(course, result)

    async def take_steps(self, course: Any) -> Result:
        """Take the steps that need no call of the agent, and the one whose call it makes."""
        try:
            result = await super().take_steps(course)
        except Reached as reached:
            return self._reached(course, reached)
        failed = course.at is not None and course.failure is not None and not result.ok
        if failed and course.status in (RunStatus.FAILED, RunStatus.WAITING_APPROVAL):
            course.status = RunStatus.WAITING_AGENT  # the step failed, and is still the next one
        return result

    def _reached(self, course: FollowedCourse, reached: Reached) -> Result:
        course.status = RunStatus.WAITING_AGENT
        if course.offer is not None and course.answer is None:
            return Result(failure=course.refused(course.offer, reached))
        run = course.hold.run.id
        value = {"execution": run, **progress_of(self, course), "next": reached.to_json()}
        return Result(value=value, report=Report(notes=(f"Next is {reached.said(run)}",)))

    def outline(self) -> list[dict[str, Json]]:
        """The steps as they were written."""
        return [_outlined(step, self.inner) for step in self.steps]


def progress_of(tool: SpecificationTool, course: FollowedCourse) -> dict[str, Json]:
    """The chain with how far each of its steps has come."""
    known = course.hold.known
    rows = [
        {**row, "status": _words(known[str(row["id"])].status) if row["id"] in known else "open"}
        for row in tool.outline()
    ]
    return {"chain": tool.name, "steps": rows}


def _words(status: StepStatus) -> str:
    return {StepStatus.OK: "done", StepStatus.STARTED: "under way"}.get(status, status.value.replace("_", " "))


def _outlined(step: Step, inner: Any) -> dict[str, Json]:
    row: dict[str, Any] = {"id": step.id}
    if step.tool:
        row |= {"tool": str(inner[step.tool].name), "arguments": step.args.source}
    elif step.set is not None:
        row["set"] = step.set.source
    elif step.stop is not None:
        row["stop"] = step.stop.source
    if step.when is not None:
        row["when"] = step.when.text
    return {**row, "optional": True} if step.optional or step.on_error in ("continue", "default") else row


def _answered(course: FollowedCourse, result: Result) -> Result:
    """What the step's tool answered, with how the chain goes on."""
    answer, run = course.answer, course.hold.run
    assert answer is not None
    report, told = answer.report or Report(), result.report or Report()
    about: dict[str, Any] = {"id": run.id, "status": course.status.value}
    value = as_object(result.value)
    if course.status is RunStatus.WAITING_AGENT and "next" in value:
        about["next"] = value["next"]
    if course.status is RunStatus.DONE:
        about["value"] = result.value
    notes = list(told.notes)
    if course.differs:
        notes.insert(0, f"Other than step {course.at.id if course.at else ''} proposes: {', '.join(course.differs)}.")
    report = replace(report, notes=(*report.notes, *notes), data={**report.data, "chain_run": about})
    failure = answer.failure
    if failure is not None and result.failure is not None:
        step = failure.next_step or ""
        on = _after(course, result.failure)
        failure = replace(failure, next_step=f"{step} {on}".strip(), details={**failure.details, "chain_run": about})
    return replace(answer, report=report, failure=failure)


def _after(course: FollowedCourse, failure: Failure) -> str:
    run, step = course.hold.run.id, course.at.id if course.at else ""
    if course.status is RunStatus.NEEDS_OPERATOR:
        return failure.next_step or ""
    if course.status is RunStatus.WAITING_AGENT:
        return (
            f"Step {step} of the chain is still next; to leave the chain, call chain_progress with "
            f'{{"execution": "{run}", "end": true}}.'
        )
    return ""


def _only_agents(name: str) -> Result:
    return Result.failed(
        FailureCode.BLOCKED,
        f"{name} is a specification that an agent follows; no other tool can call it. Nothing ran.",
        next_step='Leave out `form = "specification"`, and it is one tool that runs the steps itself.',
    )


def _no_session(name: str) -> Result:
    return Result.failed(
        FailureCode.BLOCKED,
        f"{name} is followed over several calls, and this one belongs to no session. Nothing ran.",
        next_step='Name one in the `_meta` of each request: "pegboard/session", an id that nobody can guess.',
    )


def is_followed(run: ChainRun) -> bool:
    """Whether the agent calls the tools of a run."""
    return run.definition.get("form") == SPECIFICATION
