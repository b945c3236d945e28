"""Runs, tools and results as the plain data that passes between board, Temporal server and workers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pegboard.catalog.plain import spec_from_json, spec_to_json
from pegboard.chain.record import ChainRun, Checkpoint, RunStatus, StepStatus
from pegboard.core import Failure, FailureCode, Report, Result, Status, StepReport, ToolSpec
from pegboard.schema.types import Json, JsonObject

WORKFLOW = "pegboard.chain"
"""The workflow type that runs every chain."""
STEP = "pegboard.step"
"""The activity type that runs every step."""
HEARTBEAT = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a workflow is given.

    Parameters:
        run: the run with the steps that are over already, as data.
        tools: the specs of its tools by the names that the steps use, as data.
        heartbeat: seconds of silence after which a worker counts as dead.
    """

    run: JsonObject
    tools: JsonObject
    heartbeat: float = HEARTBEAT

    @classmethod
    def of(cls, run: ChainRun, tools: Mapping[str, ToolSpec], heartbeat: float) -> "Order":
        """The order for a run over the tools of a board."""
        return cls(run=run_data(run), tools={text: _short(spec) for text, spec in tools.items()}, heartbeat=heartbeat)

    @property
    def specs(self) -> dict[str, ToolSpec]:
        """The tools."""
        return {text: spec_from_json(row) for text, row in self.tools.items()}


def _short(spec: ToolSpec) -> JsonObject:
    """What a workflow needs of a tool: its name, effects and modes."""
    return spec_to_json(replace(spec, description="", output=None, examples=(), hints=(), icons=(), accepts=None))


def run_data(run: ChainRun) -> dict[str, Any]:
    """A run as data, whole."""
    plain = ("owner", "lease", "forked_from", "forked_at", "created", "updated", "principal", "session", "digest")
    return {
        **{name: getattr(run, name) for name in ("id", "chain", "definition", "input", "value", "failure", *plain)},
        "status": run.status.value,
        "steps": [point.to_json() for point in run.steps.values()],
    }


def run_of(data: JsonObject) -> ChainRun:
    """The run that `run_data` wrote."""
    points = [_point_of(row) for row in data["steps"]]
    fields: dict[str, Any] = {**data, "status": RunStatus(data["status"]), "steps": {p.step: p for p in points}}
    return ChainRun(**fields)


def _point_of(row: JsonObject) -> Checkpoint:
    fields: dict[str, Any] = {**row, "status": StepStatus(row["status"])}
    return Checkpoint(**fields)


def result_data(result: Result) -> dict[str, Any]:
    """A result with its report as data."""
    report = result.report or Report()
    return {
        "value": result.value,
        "failure": None if result.failure is None else result.failure.to_json(),
        "steps": [_step_data(step) for step in report.steps],
        "notes": list(report.notes),
        "data": dict(report.data),
    }


def result_of(data: JsonObject) -> Result:
    """The result that `result_data` wrote."""
    report = Report(
        steps=tuple(_step_of(row) for row in data["steps"]), notes=tuple(data["notes"]), data=dict(data["data"])
    )
    return Result(value=data["value"], failure=failure_of(data["failure"]), report=report)


def failure_of(data: Any) -> Failure | None:
    """The failure that `Failure.to_json` wrote."""
    if data is None:
        return None
    fields: dict[str, Any] = {**data, "code": FailureCode(data["code"])}
    return Failure(**fields)


def _step_data(step: StepReport) -> dict[str, Json]:
    failure = None if step.failure is None else step.failure.to_json()
    return {
        "id": step.id,
        "tool": step.tool,
        "status": step.status.value,
        "value": step.value,
        "failure": failure,
        "seconds": step.seconds,
    }


def _step_of(row: JsonObject) -> StepReport:
    fields: dict[str, Any] = {**row, "status": Status(row["status"]), "failure": failure_of(row["failure"])}
    return StepReport(**fields)
