"""Running a scatter-gather: every source at once, late and failed ones reported, the rest merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from pegboard.compose.fanout import Job, Outcome, Pace, fan_out
from pegboard.compose.inner import Inner, payload
from pegboard.compose.merge import Merged
from pegboard.compose.report import common_code, failure_json, notes_of
from pegboard.core import (
    Call,
    Failure,
    FailureCode,
    Handler,
    Mode,
    Report,
    Result,
    SourceReport,
    Status,
    ToolSpec,
    without_modes,
)
from pegboard.schema.expression import Expression, ExpressionError
from pegboard.schema.template import Template
from pegboard.schema.types import Json, JsonObject

if TYPE_CHECKING:
    from pegboard.compose.scatter import Scatter


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One source of a scatter-gather.

    Parameters:
        tool: the tool that asks it.
        args: the tool's arguments, over `input`; None: those of the tool's own parameters that the call has.
        records: where the records are in its result, over `result`; None: the result itself, or its only list.
        fields: the shape that its records take, each an expression over `record`; empty: as they are.
    """

    tool: str
    args: Template | None = None
    records: Template | None = None
    fields: Mapping[str, Expression] = field(default_factory=dict[str, Expression])


@dataclass(frozen=True)
class ScatterRun:
    """The handler of a scatter-gather."""

    scatter: "Scatter"
    inner: Mapping[str, ToolSpec] = field(repr=False)
    run: Handler

    async def __call__(self, call: Call) -> Result:
        """Ask every source and merge what they say."""
        inner = Inner.of(self.run, call)
        mode = call.mode or Mode.EXECUTE
        names = list(self.scatter.branches)
        pace = Pace(concurrency=len(names), retries=0, stop_hopeless=None, timeout=self.scatter.timeout)

        jobs = [self._job(inner, name) for name in names]
        outcomes = await fan_out(jobs, pace, done=inner.told)
        return self._gathered(dict(zip(names, outcomes, strict=True)), mode)

    def _job(self, inner: Inner, name: str) -> Job:
        branch = self.scatter.branches[name]
        spec = self.inner.get(branch.tool)

        async def job() -> Result:
            if spec is None:
                return _away(branch.tool, name)
            try:
                arguments = _rendered(branch, without_modes(spec), inner.outer.arguments)
                result = await inner.call(spec, arguments, key=name)
                if not result.ok or (inner.outer.mode or Mode.EXECUTE) is Mode.DRY_RUN:
                    return result
                return Result(value=_records(branch, payload(result)), report=result.report)
            except ExpressionError as error:
                return Result.failed(FailureCode.FAILED, str(error), where=name, next_step=error.next_step)

        return job

    def _gathered(self, outcomes: Mapping[str, Outcome], mode: Mode) -> Result:
        answers = {
            name: cast("Sequence[Json]", outcome.result.value or ())
            for name, outcome in outcomes.items()
            if outcome.result is not None and outcome.result.ok
        }
        merged = self.scatter.merge(answers) if mode is not Mode.DRY_RUN else Merged([])
        sources = {name: _source_report(name, outcome, self.scatter.timeout) for name, outcome in outcomes.items()}
        parts = [
            (name, outcome.result.report) for name, outcome in outcomes.items() if outcome.result and outcome.result.ok
        ]
        notes = (*merged.notes, *(notes_of(parts) if mode is Mode.EXECUTE else ()))
        value: dict[str, Json] = {
            "records": merged.records,
            "complete": len(answers) == len(outcomes),
            "sources": {name: _source_json(report) for name, report in sources.items()},
        }
        if notes:
            value["notes"] = list(notes)
        failure = self._failure(sources, len(answers))
        return Result(value=value, failure=failure, report=Report(sources=sources, notes=notes), mode=mode)

    def _failure(self, sources: Mapping[str, SourceReport], answered: int) -> Failure | None:
        if answered >= self.scatter.quorum:
            return None
        failures = [report.failure for report in sources.values() if report.failure]
        bad = ", ".join(f"{name} {report.status.value}" for name, report in sources.items() if report.failure)
        needed = f"{answered} of {len(sources)} sources answered and {self.scatter.quorum} are needed"
        return Failure(
            common_code(failures),
            f"{needed}: {bad}. The first: {failures[0].message}",
            next_step=failures[0].next_step or "Try again later, or ask one source directly.",
            retryable=any(failure.retryable for failure in failures),
        )


def _away(tool: str, source: str) -> Result:
    return Result.failed(
        FailureCode.UNAVAILABLE,
        f"{tool} is not on the board now: its source has never answered.",
        where=source,
        next_step="Use what the others say, or try again later; `pegboard doctor` shows the details.",
        retryable=True,
    )


def _rendered(branch: Branch, spec: ToolSpec, arguments: JsonObject) -> JsonObject:
    if branch.args is None:
        return {name: arguments[name] for name in spec.properties if name in arguments}
    rendered = cast("dict[str, Json]", branch.args.render({"input": dict(arguments)}))
    return {key: value for key, value in rendered.items() if value is not None}


def _records(branch: Branch, value: Json) -> list[Json]:
    found = branch.records.render({"result": value}) if branch.records is not None else _only_list(value)
    if found is None:
        return []
    rows = cast("list[Json]", found) if isinstance(found, list) else [found]
    if not branch.fields:
        return rows
    return [{key: expression.evaluate({"record": row}) for key, expression in branch.fields.items()} for row in rows]


def _only_list(value: Json) -> Json:
    if isinstance(value, Mapping):
        parts = cast("Mapping[str, Json]", value)
        lists = [name for name, part in parts.items() if isinstance(part, list)]
        return parts[lists[0]] if len(lists) == 1 else parts
    return value


def _source_report(name: str, outcome: Outcome, timeout: float | None) -> SourceReport:
    result = outcome.result
    failure = result.failure if result is not None else None
    if outcome.status is Status.TIMED_OUT and failure is None:
        step = "Use what the others say, or call again later."
        failure = Failure(FailureCode.TIMEOUT, f"No answer within {timeout:g} s.", next_step=step, retryable=True)
    count = len(cast("Sequence[Json]", result.value or ())) if result is not None and result.ok else None
    return SourceReport(name, outcome.status, count, failure, outcome.seconds)


def _source_json(report: SourceReport) -> dict[str, Json]:
    shown: dict[str, Json] = {"status": report.status.value, "count": report.count}
    if report.seconds is not None:
        shown["seconds"] = round(report.seconds, 3)
    if report.failure is not None:
        shown["error"] = failure_json(report.failure)
    return shown
