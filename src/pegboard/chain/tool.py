"""What runs a chain: begins a run in the store, or goes on with one, and says what became of it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

import anyio
import anyio.to_thread

from pegboard.chain.course import ChainCourse
from pegboard.chain.fault import ChainError
from pegboard.chain.hold import Hold
from pegboard.chain.mapping import Mapped
from pegboard.chain.record import ChainRun, RunStatus
from pegboard.compose.inner import Inner
from pegboard.compose.steprun import StepRun
from pegboard.compose.steps import Step
from pegboard.core import Call, Failure, FailureCode, Handler, Mode, Report, Result, ToolSpec
from pegboard.errors import StoreError
from pegboard.schema.template import Template
from pegboard.schema.types import JsonObject

if TYPE_CHECKING:
    from pegboard.chain.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class ChainTool:
    """The handler of a chain.

    Parameters:
        name: the chain's full name.
        steps: its steps.
        output: what it returns; None: `variable`, or the value of the last step that was executed.
        variable: the step whose value it returns.
        frozen: the definition, as it is kept in each run.
        digest: of that.
        shape: how the chain's input is made of the call's arguments.
        inner: what the steps' tools are on this board.
        run: the board's pipeline.
        ledger: gives the runs, called in a thread; None where nothing is kept, so that nothing can be resumed.
    """

    name: str
    steps: tuple[Step, ...]
    output: Template | None
    variable: str | None
    frozen: JsonObject = field(repr=False)
    digest: str
    shape: Mapped
    inner: Mapping[str, ToolSpec] = field(repr=False)
    run: Handler
    ledger: "Callable[[], Ledger] | None" = None

    async def __call__(self, call: Call) -> Result:
        """Begin a run; without effect (a preview, a dry run) nothing is kept."""
        given = replace(call, arguments=self.shape.into(call.arguments))
        if self.ledger is None or call.mode not in (None, Mode.EXECUTE):
            return await StepRun(self.steps, self.output, self.inner, self.run)(given)
        return await self.begin(self.new_run(given), given, self.ledger)

    def new_run(self, call: Call) -> ChainRun:
        """A run that has not begun, for a call whose arguments are the chain's input."""
        return ChainRun(
            id=uuid4().hex[:12],
            chain=self.name,
            digest=self.digest,
            definition=self.frozen,
            input=call.arguments,
            principal=call.session.principal,
            session=call.session.id,
        )

    async def begin(self, new: ChainRun, call: Call, ledger: "Callable[[], Ledger]") -> Result:
        """Begin a run, from the steps that it has already."""
        try:
            kept = await anyio.to_thread.run_sync(ledger)
            begun, ticket = await anyio.to_thread.run_sync(lambda: kept.open(new, new.steps.values()))
        except StoreError as error:
            return Result(
                failure=Failure(FailureCode.UNAVAILABLE, f"{error.message} Nothing ran.", next_step=error.next_step)
            )
        return await self.go(call, Hold(kept, begun, ticket))

    async def go(self, call: Call, hold: Hold) -> Result:
        """Run the steps of a run that this process holds, but those that are over."""
        return await self.run_held(ChainCourse(Inner.of(self.run, replace(call, mode=Mode.EXECUTE)), hold))

    async def run_held(self, course: ChainCourse) -> Result:
        """Take the steps of a course, and let others know meanwhile that this process lives."""
        hold = course.hold
        result: Result | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(hold.pulse, tasks.cancel_scope.cancel)
                result = await self._walk(course)
                tasks.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            await hold.release()
            raise
        if result is None:
            course.status = RunStatus.CANCELLED
            result = self._stop(course, _taken(hold.run.id))
        return told(result, hold.run.id, course.status)

    async def _walk(self, course: ChainCourse) -> Result:
        try:
            result = await self.take_steps(course)
            failure = None if result.failure is None else result.failure.to_json()
            await course.hold.settle(course.status, value=result.value, failure=failure)
        except ChainError as error:
            course.status = RunStatus.CANCELLED
            return self._stop(course, Failure(FailureCode.CANCELLED, error.message, next_step=error.next_step))
        except StoreError as error:
            course.status = RunStatus.RUNNING
            with suppress(ChainError, StoreError):
                await course.hold.release()
            return self._stop(course, Failure(FailureCode.UNAVAILABLE, error.message, next_step=error.next_step))
        return result

    async def take_steps(self, course: ChainCourse) -> Result:
        """Take the steps in order; how the run is then stands in the course."""
        for at, step in enumerate(self.steps):
            spec = self.inner[step.tool] if step.tool else None
            if not await course.take(step, spec):
                return course.stopped([each.id for each in self.steps[at + 1 :] if each.tool])
            await course.inner.told(at + 1, len(self.steps))
        if not course.came_to(self.variable):
            course.status = RunStatus.FAILED
            return course.stopped([])
        result = course.ended(course.scope[self.variable]) if self.variable else course.finished(self.output)
        course.status = RunStatus.DONE if result.ok else RunStatus.FAILED
        return result

    def _stop(self, course: ChainCourse, failure: Failure) -> Result:
        course.failure = failure
        reached = {report.id for report in course.reports}
        return course.stopped([step.id for step in self.steps if step.tool and step.id not in reached])


def _taken(run: str) -> Failure:
    return Failure(
        FailureCode.CANCELLED,
        f"The run {run} was cancelled, or taken by another process, while a step was under way, which may have "
        "taken effect.",
        next_step=f"See it with: pegboard chain show {run}",
    )


def told(result: Result, run: str, status: RunStatus) -> Result:
    """The result with the run that it belongs to."""
    report = result.report or Report()
    about = {"id": run, "status": status.value}
    told = replace(
        report, notes=(*report.notes, f"Chain run {run}: {status.value}."), data={**report.data, "chain_run": about}
    )
    failure = result.failure
    if failure is not None:
        failure = replace(failure, details={**failure.details, "chain_run": about})
    return replace(result, report=told, failure=failure)
