"""Repeat a tool's hints where it fails: then is when they are needed."""

from dataclasses import replace

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Relation, Result, ToolSpec
from pegboard.invoke.lookup import SpecOf

_OF_THE_TOOL = frozenset(
    (
        FailureCode.FAILED,
        FailureCode.UPSTREAM,
        FailureCode.UNAVAILABLE,
        FailureCode.TIMEOUT,
        FailureCode.OUTCOME_UNKNOWN,
    )
)
"""Failures of the tool itself; the others say themselves what to do."""


def hints(spec_of: SpecOf) -> Middleware:
    """Add to a tool's failure what its hints say to call first or instead, in the next step and as data."""

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            if result.failure is None or result.failure.code not in _OF_THE_TOOL:
                return result
            spec = spec_of(call.tool)
            return result if spec is None else replace(result, failure=_hinted(result.failure, spec))

        return handle

    return wrap


def _hinted(failure: Failure, spec: ToolSpec) -> Failure:
    told = [str(hint) for hint in spec.hints if hint.relation is not Relation.THEN]
    if not told or "hints" in failure.details:
        return failure
    step = f"{failure.next_step} " if failure.next_step else ""
    return replace(failure, next_step=f"{step}Hints: {'; '.join(told)}.", details={**failure.details, "hints": told})
