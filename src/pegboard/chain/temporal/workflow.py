"""One run of a chain as a Temporal workflow: it decides by recorded results alone, and each step is an activity."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from pegboard.chain.course import ChainCourse
from pegboard.chain.definition import Chain
from pegboard.chain.record import ChainRun, Checkpoint, RunStatus, StepStatus
from pegboard.chain.temporal.order import STEP, WORKFLOW, Order, failure_of, result_data, run_data, run_of
from pegboard.chain.tool import ChainTool, told
from pegboard.compose.inner import Inner, child_mode
from pegboard.compose.steps import Step
from pegboard.core import Call, Failure, FailureCode, Mode, Report, Result, Session, ToolName, ToolSpec
from pegboard.schema.types import Json, JsonObject, as_object

LONGEST = timedelta(days=30)
"""How long one attempt of a step may take; a worker that dies is noticed by its silence, long before."""
MOST_DEATHS = 10
"""How many workers may die over a step that does no harm to call again."""
OPEN = (RunStatus.WAITING_APPROVAL, RunStatus.NEEDS_OPERATOR)
_AGAIN = RetryPolicy(
    maximum_attempts=MOST_DEATHS,
    initial_interval=timedelta(seconds=0.5),
    backoff_coefficient=1.5,
    maximum_interval=timedelta(seconds=10),
)
_NO_META: JsonObject = {}
_ONCE = RetryPolicy(maximum_attempts=1)


class Notebook:
    """How far a run has come: what a `Hold` is to a run in a store. The workflow's history is what keeps it.

    Parameters:
        run: the run as it began, with the steps that are over already.
    """

    def __init__(self, run: ChainRun) -> None:
        self.run, self.known = run, dict(run.steps)

    def mark(self, step: str, status: StepStatus) -> None:
        """How a step is that was begun."""
        self.known[step] = replace(self.known[step], status=status)

    async def start(self, step: str, tool: str) -> None:
        """A tool is about to be called."""
        attempts = self.known[step].attempts + 1 if step in self.known else 1
        self.known[step] = Checkpoint(step=step, tool=tool, attempts=attempts, started=workflow.time())

    async def end(self, point: Checkpoint) -> None:
        """What a step came to."""
        before, now = self.known.get(point.step, point), workflow.time()
        started = before.started or now
        self.known[point.step] = replace(point, attempts=before.attempts, started=started, ended=now)

    def choose(self, choice: JsonObject) -> None:
        """What an operator has decided of a step whose outcome is unknown."""
        redo, skip = choice.get("redo"), choice.get("skip")
        if skip in self.known:
            done = replace(self.known[skip], status=StepStatus.OK, value=choice.get("output"), failure=None)
            self.known[skip] = replace(done, ended=workflow.time())
        if redo in self.known:
            self.known[redo] = replace(self.known[redo], status=StepStatus.FAILED)


@dataclass(frozen=True, slots=True)
class Remote(Inner):
    """Makes each call of a step an activity."""

    heartbeat: float = 15.0
    timeout: float | None = None

    async def call(
        self,
        tool: ToolSpec,
        arguments: JsonObject,
        *,
        key: str,
        mode: Mode | None = None,
        meta: JsonObject = _NO_META,
    ) -> Result:
        """Have a worker call the tool. What is not known to bear a second call is given out once."""
        outer = self.outer
        order = {
            "tool": str(tool.name),
            "arguments": arguments,
            "key": key,
            "mode": (mode or Mode.EXECUTE).value,
            "meta": dict(meta),
            "run": outer.id,
            "chain": str(outer.tool),
            "session": [outer.session.id, outer.session.principal],
            "timeout": self.timeout,
        }
        harmless = tool.effects.repeatable or child_mode(tool, mode or Mode.EXECUTE) is not Mode.EXECUTE
        try:
            answer: Any = await workflow.execute_activity(
                STEP,
                order,
                summary=f"{key}: {tool.name}",
                start_to_close_timeout=LONGEST,
                heartbeat_timeout=timedelta(seconds=self.heartbeat),
                retry_policy=_AGAIN if harmless else _ONCE,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return Result(failure=_lost(tool, error, harmless))
        return Result(
            value=answer["value"], failure=failure_of(answer["failure"]), report=Report(notes=tuple(answer["notes"]))
        )

    async def told(self, done: int, total: int) -> None:
        """Nothing: progress stands in the history."""


class RemoteCourse(ChainCourse):
    """What each step came to so far, the calls made by workers.

    Parameters:
        inner: makes the activities.
        book: the run.
    """

    def __init__(self, inner: Remote, book: Notebook) -> None:
        super().__init__(inner, book)  # type: ignore[arg-type]  # it is to a workflow what a Hold is to a store
        self.remote = inner

    async def _once(self, step: Step, spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
        remote = replace(self.remote, timeout=step.timeout)
        return await remote.call(spec, arguments, key=key, mode=self._mode_of(step), meta=self.meta_of(step))

    async def pause(self, seconds: float) -> None:
        """Wait between two attempts, by a timer that outlives the worker."""
        await workflow.sleep(seconds)


@workflow.defn(name=WORKFLOW)
class ChainWorkflow:
    """Runs one chain."""

    def __init__(self) -> None:
        self._run: ChainRun | None = None
        self._book: Notebook | None = None
        self._outcome: JsonObject | None = None
        self._choices: list[JsonObject] = []
        self._stops = 0

    @workflow.run
    async def run(self, order: Order) -> JsonObject:
        """Take the steps that are not over; where a person or an operator is needed, wait for the word to go on."""
        run = run_of(order.run)
        self._run, self._book = run, Notebook(run)
        tool = _tool_of(run, order.specs)
        while True:
            try:
                result, status = await self._walk(tool, order)
            except (asyncio.CancelledError, ActivityError):  # the second: of a step that was under way
                told_so = told(Result(failure=_cancelled(run.id)), run.id, RunStatus.CANCELLED)
                self._stop(RunStatus.CANCELLED, told_so)
                await workflow.wait_condition(workflow.all_handlers_finished)
                raise
            self._stop(status, result)
            if status not in OPEN:
                break
            await self._go_on()
        await workflow.wait_condition(workflow.all_handlers_finished)
        if status is RunStatus.FAILED:
            raise ApplicationError(str(result.failure), self._outcome, type="ChainFailed", non_retryable=True)
        assert self._outcome is not None
        return self._outcome

    async def _walk(self, tool: ChainTool, order: Order) -> tuple[Result, RunStatus]:
        assert self._run is not None
        assert self._book is not None
        run = self._run
        outer = Call(
            tool=ToolName.parse(run.chain),
            arguments=run.input,
            mode=Mode.EXECUTE,
            session=Session(id=run.session, principal=run.principal),
            id=run.id,
        )
        course = RemoteCourse(Remote(_nobody, outer, order.heartbeat), self._book)
        result = await tool.take_steps(course)
        return told(result, run.id, course.status), course.status

    def _stop(self, status: RunStatus, result: Result) -> None:
        assert self._run is not None
        failure = None if result.failure is None else result.failure.to_json()
        self._run = replace(self._run, status=status, value=result.value, failure=failure, updated=workflow.time())
        self._outcome = {"run": self._shown(), "result": result_data(result)}
        self._stops += 1
        if status in OPEN:
            workflow.upsert_memo({"status": status.value, "failure": failure})

    async def _go_on(self) -> None:
        await workflow.wait_condition(lambda: bool(self._choices))
        assert self._run is not None
        assert self._book is not None
        self._book.choose(self._choices.pop(0))
        self._run = replace(self._run, status=RunStatus.RUNNING, failure=None)
        workflow.upsert_memo({"status": RunStatus.RUNNING.value, "failure": None})

    @workflow.signal
    async def go_on(self, choice: JsonObject) -> None:
        """Go on with a run that waits: `redo` or `skip` with `output`, or nothing where a person has answered."""
        if self._run is not None and self._run.status in OPEN:
            self._choices.append(choice)

    @workflow.update
    async def stopped(self, seen: int) -> JsonObject:
        """What the run came to, once it has stopped more often than `seen`: done, failed or waiting."""
        await workflow.wait_condition(lambda: self._stops > seen)
        assert self._outcome is not None
        return {**self._outcome, "stops": self._stops}

    @workflow.query
    def progress(self) -> JsonObject:
        """The run with its checkpoints as they are now, and how often it has stopped."""
        return {"run": self._shown(), "stops": self._stops}

    def _shown(self) -> dict[str, Json]:
        assert self._run is not None
        assert self._book is not None
        return run_data(replace(self._run, steps=self._book.known))


def _tool_of(run: ChainRun, specs: dict[str, ToolSpec]) -> ChainTool:
    definition = dict(run.definition)
    as_object(definition.pop("tools", {}))
    return Chain.read(run.chain, definition, where=f"run {run.id}").over(specs, _nobody)


async def _nobody(call: Call) -> Result:
    raise AssertionError(f"{call.tool} is called by a worker's activity")


def _lost(tool: ToolSpec, error: ActivityError, harmless: bool) -> Failure:
    reason = error.cause or error
    code = FailureCode.UNAVAILABLE if harmless else FailureCode.OUTCOME_UNKNOWN
    return Failure(
        code,
        f"The worker that called {tool.name} was lost: {reason}.",
        next_step="See that workers run: pegboard chain worker.",
        retryable=harmless,
    )


def _cancelled(run: str) -> Failure:
    return Failure(
        FailureCode.CANCELLED,
        f"The run {run} was cancelled; a step that was under way may have taken effect.",
        next_step=f"See it with: pegboard chain show {run}",
    )
