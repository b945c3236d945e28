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


_STEPS = {
    FailureCode.FAILED: "Compare the arguments with the tool's description and call again, or use another tool.",
    FailureCode.UPSTREAM: "Correct the arguments as the message says and call again, or use another tool.",
    FailureCode.UNAVAILABLE: "Use another tool, or try again later.",
    FailureCode.TIMEOUT: "Ask for less, or try again later.",
    FailureCode.OUTCOME_UNKNOWN: "Look whether it took effect before you call again.",
}


def hints(spec_of: SpecOf) -> Middleware:
    """Add to a tool's failure what its hints say to call first or instead, in the next step and as data.

    Where neither the tool nor a hint says what to do next, the failure's code does. Inside of a composed tool nothing
    is said of tools to call instead: that may be the very one that calls, which has its own way to go on.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            if result.failure is None or result.failure.code not in _OF_THE_TOOL:
                return result
            spec = spec_of(call.tool)
            failure = result.failure if spec is None else _hinted(result.failure, told(spec, call))
            if failure.next_step is None and call.parent is None:
                failure = replace(failure, next_step=_STEPS[failure.code])
            return replace(result, failure=failure)

        return handle

    return wrap


def told(spec: ToolSpec, call: Call) -> list[str]:
    """What a tool's hints say to whoever made a call that failed: what to call first, or in its place."""
    inside = call.parent is not None
    return [
        str(hint)
        for hint in spec.hints
        if hint.relation is Relation.FIRST or (hint.relation is Relation.INSTEAD and not inside)
    ]


def _hinted(failure: Failure, told: list[str]) -> Failure:
    if not told or "hints" in failure.details:
        return failure
    step = f"{failure.next_step} " if failure.next_step else ""
    return replace(failure, next_step=f"{step}Hints: {'; '.join(told)}.", details={**failure.details, "hints": told})
