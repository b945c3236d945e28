"""Running the steps of a bundle: each is reported, and a failure says what was done, what was not, and how to go on."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import cast

import anyio

from pegboard.approval.pause import Standing, pausing
from pegboard.compose.inner import Inner, child_mode, clock, payload, retry_after, status_of
from pegboard.compose.report import notes_of, steps_line
from pegboard.compose.steps import Step
from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Handler,
    Mode,
    Report,
    Result,
    Status,
    StepReport,
    ToolSpec,
)
from pegboard.invoke.timeout import too_late
from pegboard.schema.expression import ExpressionError
from pegboard.schema.template import Template
from pegboard.schema.types import Json, JsonObject


@dataclass(frozen=True)
class StepRun:
    """The handler of a bundle that is data.

    Parameters:
        steps: the steps.
        output: what it returns; None: the last step's value.
        inner: what the steps' tools are on this board.
        run: the board's pipeline.
    """

    steps: tuple[Step, ...]
    output: Template | None
    inner: Mapping[str, ToolSpec] = field(repr=False)
    run: Handler

    async def __call__(self, call: Call) -> Result:
        """Run the steps in order."""
        course = Course(Inner.of(self.run, call))
        for at, step in enumerate(self.steps):
            spec = self.inner[step.tool] if step.tool else None
            if not await course.take(step, spec):
                return course.stopped([each.id for each in self.steps[at + 1 :] if each.tool])
            await course.inner.told(at + 1, len(self.steps))
        return course.finished(self.output)


class Course:
    """One run of a sequence of steps: what each came to so far.

    Parameters:
        inner: makes the child calls.
    """

    def __init__(self, inner: Inner) -> None:
        self.inner = inner
        self.mode = inner.outer.mode or Mode.EXECUTE
        self.scope: dict[str, Json] = {"input": dict(inner.outer.arguments)}
        self.reports: list[StepReport] = []
        self.unknown: set[str] = set()
        self.changed: list[str] = []
        self.said: list[tuple[str, Report | None]] = []
        self.failure: Failure | None = None
        self.last: Json = None

    async def take(self, step: Step, spec: ToolSpec | None) -> bool:
        """Run one step; False where the whole ends here."""
        tool = str(spec.name) if spec is not None else ""
        unknown = [name for name in step.reads if name in self.unknown]
        if unknown:
            self._skip(
                step, tool, f"It needs what {' and '.join(unknown)} gives, which is not known without executing."
            )
            self.unknown.add(step.id)
            return True
        try:
            if step.when is not None and not step.when.evaluate(self.scope):
                self._skip(step, tool, None)
                return True
            if step.set is not None:
                self._keep(step, step.set.render(self.scope))
                return True
            if spec is None:
                return self._stop(step)
            arguments = _arguments(step, self.scope)
        except ExpressionError as error:
            return self._judge(step, tool, _failure_of(error), clock())
        return await self._run(step, spec, arguments)

    async def _run(self, step: Step, spec: ToolSpec, arguments: JsonObject) -> bool:
        began = clock()
        result = await self._attempts(step, spec, arguments)
        if result.failure is not None:
            return self._judge(step, str(spec.name), result.failure, began)
        value = payload(result)
        ran_in = child_mode(spec, self._mode_of(step))
        if ran_in is Mode.EXECUTE and spec.effects is not Effects.READ_ONLY:
            self.changed.append(step.id)
        if ran_in is Mode.DRY_RUN:
            self.unknown.add(step.id)
        self._keep(step, value)
        if ran_in is Mode.EXECUTE:
            self.said.append((step.id, result.report))
        self.reports.append(StepReport(step.id, str(spec.name), Status.OK, value, seconds=clock() - began))
        return True

    def _mode_of(self, step: Step) -> Mode:
        return step.mode if self.mode is Mode.EXECUTE else self.mode

    async def _attempts(self, step: Step, spec: ToolSpec, arguments: JsonObject) -> Result:
        attempt = 0
        while True:
            key = step.id if attempt == 0 else f"{step.id}/{attempt + 1}"
            result = await self._once(step, spec, arguments, key)
            again = result.failure is not None and attempt < step.retries
            # What may have taken effect is not tried again, unless trying again does no harm.
            unclear = result.failure is not None and result.failure.code in (
                FailureCode.TIMEOUT,
                FailureCode.OUTCOME_UNKNOWN,
            )
            if not again or (unclear and not spec.effects.repeatable):
                return result
            attempt += 1
            failure = cast("Failure", result.failure)
            await self.pause(min(30.0, retry_after(failure) or 0.05 * 2**attempt))

    async def _once(self, step: Step, spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
        mode, meta = self._mode_of(step), self.meta_of(step)
        with in_time(step.timeout):
            return await self.inner.call(spec, arguments, key=key, mode=mode, meta=meta)
        return Result(failure=too_late(spec, child_mode(spec, mode), step.timeout or 0.0))

    async def pause(self, seconds: float) -> None:
        """Wait between two attempts."""
        await anyio.sleep(seconds)

    def meta_of(self, step: Step) -> JsonObject:
        """What a step's call carries in its `_meta` besides what is handed on."""
        return {}

    def _judge(self, step: Step, tool: str, failure: Failure, began: float) -> bool:
        seconds = clock() - began
        status = status_of(Result(failure=failure))
        self.reports.append(StepReport(step.id, tool, status, failure=failure, seconds=seconds))
        if step.on_error == "continue" or step.optional:
            self._keep(step, None)
            return True
        if step.on_error == "default" and step.default is not None:
            self._keep(step, step.default.render(self.scope))
            return True
        self.failure = failure
        return False

    def _stop(self, step: Step) -> bool:
        message = str(step.stop.render(self.scope)) if step.stop else "Stopped."
        remedy = str(step.next_step.render(self.scope)) if step.next_step else None
        self.stop(step.id, message, remedy)
        return False

    def stop(self, id: str, message: str, next_step: str | None) -> None:
        """End the whole because of what was found, not because of a fault."""
        self.failure = Failure(FailureCode.FAILED, message, where=f"/steps/{id}", next_step=next_step)

    def _skip(self, step: Step, tool: str, why: str | None) -> None:
        self.scope[step.id] = None
        if tool:
            failure = Failure(FailureCode.CANCELLED, why) if why else None
            self.reports.append(StepReport(step.id, tool, Status.SKIPPED, failure=failure))

    def _keep(self, step: Step, value: Json) -> None:
        self.scope[step.id] = value
        self.last = value

    def finished(self, output: Template | None) -> Result:
        """The result after the last step."""
        if output is None:
            return self.ended(self.last)
        if any(name in self.unknown for name in output.names):
            return self.ended(None)
        try:
            return self.ended(output.render(self.scope))
        except ExpressionError as error:
            self.failure = _failure_of(error)
            return self.stopped([])

    def ended(self, value: Json) -> Result:
        """A result that succeeded."""
        return Result(value=value, report=self.report(), mode=self.mode)

    def stopped(self, rest: Sequence[str]) -> Result:
        """A result that failed: what was done, what was not, and how to go on.

        Parameters:
            rest: the ids of the steps that were not reached.
        """
        failure = self.failure or Failure(FailureCode.FAILED, "It stopped.")
        failed = self.reports[-1] if self.reports and self.reports[-1].failure is failure else None
        place = f"Step {failed.id} ({failed.tool}) failed: " if failed else ""
        done = [report.id for report in self.reports if report.status is Status.OK]
        parts = [f"{place}{failure.message}"]
        open_ = [failed.id] if failed and failure.code is FailureCode.OUTCOME_UNKNOWN else []
        parts.append(f"Done: {', '.join(done)}." if done else "" if open_ else "Nothing was done.")
        if self.changed:
            parts.append(f"Took effect: {', '.join(self.changed)}.")
        if open_:
            parts.append(f"Not known: {failed.id if failed else ''}.")
        not_done = [*([failed.id] if failed and not open_ else []), *rest]
        if not_done:
            parts.append(f"Not done: {', '.join(not_done)}.")
        told = replace(
            failure,
            message=" ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts if part),
            where=f"/steps/{failed.id}" if failed else failure.where,
            next_step=self._next_step(failure, failed),
            details={**failure.details, "steps": [_step_json(report) for report in self.reports], "not_done": not_done},
        )
        return Result(failure=told, report=self.report(rest), mode=self.mode)

    def _next_step(self, failure: Failure, failed: StepReport | None) -> str:
        if self.changed and failed is not None:
            go_on = f"Do not repeat the whole: go on from {failed.id} by calling {failed.tool} yourself."
            return f"{failure.next_step} {go_on}" if failure.next_step else go_on
        return failure.next_step or "Put it right and call again; nothing has taken effect."

    def report(self, rest: Sequence[str] = ()) -> Report:
        """The report so far; steps that were not reached are skipped."""
        skipped = [StepReport(id, "", Status.SKIPPED) for id in rest]
        steps = (*self.reports, *skipped)
        line = (f"Steps: {steps_line(steps)}.",) if steps else ()
        return Report(steps=steps, notes=(*line, *notes_of(self.said, kind="Step")))


@contextmanager
def in_time(seconds: float | None) -> Generator[None]:
    """Cancel what runs in here after so many seconds, those left out in which a person is asked; None: never."""
    if seconds is None:
        yield
        return
    with anyio.move_on_after(seconds) as scope, pausing(Standing(scope).asking):
        yield


def _arguments(step: Step, scope: Mapping[str, Json]) -> JsonObject:
    rendered = cast("dict[str, Json]", step.args.render(scope))
    return {key: value for key, value in rendered.items() if value is not None or _says_null(step, key)}


def _says_null(step: Step, key: str) -> bool:
    # A null that a step passes on means "not given"; one that is written there is meant.
    return cast("Mapping[str, Json]", step.args.parsed).get(key, 0) is None


def _failure_of(error: ExpressionError) -> Failure:
    return Failure(FailureCode.FAILED, str(error), where=error.where, next_step=error.next_step)


def _step_json(report: StepReport) -> dict[str, Json]:
    shown: dict[str, Json] = {"id": report.id, "tool": report.tool, "status": report.status.value}
    if report.failure is not None:
        shown["error"] = report.failure.message
    return shown
