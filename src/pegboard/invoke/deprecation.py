"""Tell whoever calls a deprecated tool what to call instead; after its sunset, tell nothing else."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime

from pegboard.core import Call, FailureCode, Handler, Middleware, Report, Result, ToolSpec
from pegboard.invoke.lookup import SpecOf


def today() -> date:
    """The day, in UTC."""
    return datetime.now(UTC).date()


def deprecation(spec_of: SpecOf, day: Callable[[], date] = today) -> Middleware:
    """Add the migration note to each result of a deprecated tool; refuse calls after its sunset.

    Parameters:
        spec_of: the tools.
        day: which day it is.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool)
            if spec is None or spec.deprecated is None:
                return await next_handler(call)
            if ended(spec, day()):
                return _retired(spec)
            return _warned(spec, await next_handler(call))

        return handle

    return wrap


def ended(spec: ToolSpec, day: date) -> bool:
    """Whether a tool's sunset has passed."""
    return spec.sunset is not None and day > date.fromisoformat(spec.sunset)


def _retired(spec: ToolSpec) -> Result:
    other = f"Call {spec.successor} instead." if spec.successor else "Find another tool with tool_search."
    details = {"sunset": spec.sunset, "successor": spec.successor}
    return Result.failed(
        FailureCode.RETIRED,
        f"{spec.name} answered until {spec.sunset}. Nothing was done.",
        next_step=f"{other} {spec.deprecated}".strip(),
        details={key: value for key, value in details.items() if value},
    )


def _warned(spec: ToolSpec, result: Result) -> Result:
    note = f"{spec.name} is deprecated. {spec.deprecation}".strip()
    report = result.report or Report()
    return replace(result, report=replace(report, notes=(note, *report.notes)))
