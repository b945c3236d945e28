"""One run of a chain: a checkpoint before and after each step, and none that is over runs again."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from pegboard.approval.pause import pausing
from pegboard.approval.request import Request
from pegboard.chain.fault import ChainError
from pegboard.chain.hold import Hold
from pegboard.chain.record import Checkpoint, RunStatus, StepStatus
from pegboard.compose.inner import IDEMPOTENCY_KEY, Inner, child_mode
from pegboard.compose.steprun import Course
from pegboard.compose.steps import Step
from pegboard.core import Effects, Failure, FailureCode, Mode, Result, Status, StepReport, ToolSpec
from pegboard.errors import StoreError, nearest
from pegboard.schema.types import JsonObject

_UNCLEAR = (FailureCode.TIMEOUT, FailureCode.OUTCOME_UNKNOWN, FailureCode.CANCELLED)


class ChainCourse(Course):
    """What each step of one run came to so far.

    Parameters:
        inner: makes the child calls.
        hold: the run, held by this process.
    """

    def __init__(self, inner: Inner, hold: Hold) -> None:
        super().__init__(inner)
        self.scope["input"] = dict(hold.run.input)
        self.hold = hold
        self.status = RunStatus.FAILED
        self.assigned: set[str] = set()
        self._skipped: set[str] = set()
        self._trouble: ChainError | StoreError | None = None

    async def take(self, step: Step, spec: ToolSpec | None) -> bool:
        """Run one step, unless it is over already; False where the whole ends here."""
        known = self.hold.known.get(step.id)
        if known is not None and known.status.is_over:
            self._recall(step, spec, known)
            return True
        if known is not None and known.status is StepStatus.STARTED and spec and not _harmless(step, spec):
            self._in_doubt(step, spec, None)
            return False
        count = len(self.reports)
        go_on = await super().take(step, spec)
        report = self.reports[-1] if len(self.reports) > count else None
        if go_on and not step.stop:
            await self._passed(step, spec, report)
        elif not go_on:
            await self._ended(step, spec, report)
        return go_on

    def meta_of(self, step: Step) -> JsonObject:
        """The key by which the step's tool can tell that it was called before."""
        return {IDEMPOTENCY_KEY: f"{self.hold.run.id}:{step.id}"}

    async def _attempts(self, step: Step, spec: ToolSpec, arguments: JsonObject) -> Result:
        tool = str(spec.name)
        await self.hold.start(step.id, tool)

        @contextmanager
        def asking(request: Request) -> Generator[None]:
            if request.subject != tool:  # a part of the step asks, when others of its parts may have run
                yield
                return
            with self._stands_open(step):
                yield

        with pausing(asking):
            return await super()._attempts(step, spec, arguments)

    async def _once(self, step: Step, spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
        result = await super()._once(step, spec, arguments, key)
        if self._trouble is not None:
            raise self._trouble
        return result

    @contextmanager
    def _stands_open(self, step: Step) -> Generator[None]:
        """A person is asked about a step: nothing of it runs, and whoever goes on with the run may ask again."""
        try:
            self.hold.mark(step.id, StepStatus.WAITING)
            yield
            self.hold.mark(step.id, StepStatus.STARTED)
        except (ChainError, StoreError) as error:
            self._trouble = error  # kept: the pipeline makes a failure of the step's tool of it
            raise

    def _skip(self, step: Step, tool: str, why: str | None) -> None:
        self._skipped.add(step.id)
        super()._skip(step, tool, why)

    async def _passed(self, step: Step, spec: ToolSpec | None, report: StepReport | None) -> None:
        failure = report.failure if report is not None else None
        status = StepStatus.SKIPPED if step.id in self._skipped else StepStatus.OK
        if failure is not None and status is StepStatus.OK:
            status = StepStatus.PASSED_OVER
        self._assign(step, status)
        tool = str(spec.name) if spec is not None else ""
        told = None if failure is None else failure.to_json()
        point = Checkpoint(step=step.id, tool=tool, status=status, value=self.scope[step.id], failure=told)
        await self.hold.end(point)

    async def _ended(self, step: Step, spec: ToolSpec | None, report: StepReport | None) -> None:
        failure = self.failure
        if spec is None or report is None or failure is None:
            return
        if failure.code in _UNCLEAR and not _harmless(step, spec):
            self.reports.pop()
            self._in_doubt(step, spec, failure)
            return
        waits = failure.code is FailureCode.APPROVAL_NEEDED
        self.status = RunStatus.WAITING_APPROVAL if waits else RunStatus.FAILED
        status = StepStatus.WAITING if waits else StepStatus.FAILED
        await self.hold.end(Checkpoint(step=step.id, tool=str(spec.name), status=status, failure=failure.to_json()))

    def _assign(self, step: Step, status: StepStatus) -> None:
        if status is StepStatus.OK or (status is StepStatus.PASSED_OVER and step.default is not None):
            self.assigned.add(step.id)

    def _recall(self, step: Step, spec: ToolSpec | None, known: Checkpoint) -> None:
        """Go past a step that is over, with what it came to then."""
        self._assign(step, known.status)
        self.scope[step.id] = known.value
        if known.status is not StepStatus.SKIPPED:
            self.last = known.value
        if spec is None:
            return
        ran_in = child_mode(spec, step.mode)
        if ran_in is Mode.DRY_RUN:
            self.unknown.add(step.id)
        took_effect = ran_in is Mode.EXECUTE and spec.effects is not Effects.READ_ONLY
        if known.status is StepStatus.OK and took_effect:
            self.changed.append(step.id)
        self.reports.append(_report_of(known))

    def _in_doubt(self, step: Step, spec: ToolSpec, failure: Failure | None) -> None:
        """End here: the step may have taken effect, and running it again may do it twice."""
        run = self.hold.run.id
        why = failure.message if failure is not None else "The process that called it ended before it answered."
        self.status = RunStatus.NEEDS_OPERATOR
        self.failure = Failure(
            FailureCode.OUTCOME_UNKNOWN,
            f"{spec.name} may or may not have taken effect, and it is not known to bear a second call. {why}",
            next_step=f"Look whether it took effect. If not: pegboard chain resume {run} --redo {step.id}. If it "
            f"did: pegboard chain resume {run} --skip {step.id} --output JSON, with what it would have returned.",
            details={"run": run, "step": step.id, "choices": ["redo", "skip"]},
        )
        self.reports.append(StepReport(step.id, str(spec.name), Status.FAILED, failure=self.failure))

    def came_to(self, variable: str | None) -> bool:
        """Whether the run has what it is to return; else the failure says what is missing."""
        if variable is None or variable in self.assigned:
            self.status = RunStatus.DONE
            return True
        near = nearest(variable, self.assigned) or sorted(self.assigned)
        self.failure = Failure(
            FailureCode.FAILED,
            f"The output variable {variable!r} was never assigned.",
            where="output_variable",
            next_step=f"Assigned were: {', '.join(near)}." if near else "No step assigned anything.",
        )
        return False

    def _next_step(self, failure: Failure, failed: StepReport | None) -> str:
        run = self.hold.run.id
        if self.status is RunStatus.NEEDS_OPERATOR:
            return failure.next_step or ""
        if failed is None:
            return super()._next_step(failure, failed)
        again = f"The run goes on from {failed.id} with: pegboard chain resume {run}"
        return f"{failure.next_step} {again}" if failure.next_step else again


def _harmless(step: Step, spec: ToolSpec) -> bool:
    """Whether calling a step's tool twice does no more than calling it once."""
    return spec.effects.repeatable or child_mode(spec, step.mode) is not Mode.EXECUTE


def _report_of(known: Checkpoint) -> StepReport:
    status = {StepStatus.OK: Status.OK, StepStatus.SKIPPED: Status.SKIPPED}.get(known.status, Status.FAILED)
    failure = None
    if known.failure is not None:
        row = dict(known.failure)
        failure = replace(Failure(FailureCode(row["code"]), str(row["message"])), next_step=row.get("next_step"))
    return StepReport(known.step, known.tool, status, known.value, failure=failure)
