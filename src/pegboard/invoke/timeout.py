"""End a call that takes too long, and say truly what that means."""

from collections.abc import Callable

import anyio

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Mode, Result, ToolSpec
from pegboard.invoke.lookup import SpecOf


def timeout(spec_of: SpecOf, seconds_of: Callable[[ToolSpec], float | None]) -> Middleware:
    """Cancel a call after its tool's time.

    A tool that may be run twice without harm fails with `timeout`, retryable. Of any other nobody knows whether it
    took effect: `outcome_unknown`.

    Parameters:
        spec_of: the tools.
        seconds_of: how long a tool may take; None for as long as it likes.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool)
            seconds = seconds_of(spec) if spec is not None else None
            if spec is None or seconds is None:
                return await next_handler(call)
            with anyio.move_on_after(seconds):
                return await next_handler(call)
            return Result(failure=too_late(spec, call.mode, seconds), mode=call.mode or Mode.EXECUTE)

        return handle

    return wrap


def too_late(spec: ToolSpec, mode: Mode | None, seconds: float) -> Failure:
    """The failure of a call that was given up after so many seconds."""
    harmless = spec.effects.repeatable or mode not in (None, Mode.EXECUTE)
    if harmless:
        return Failure(
            FailureCode.TIMEOUT,
            f"{spec.name} did not answer within {seconds:g} s and was stopped.",
            next_step="Call it again, or ask for less at once.",
            retryable=True,
        )
    return Failure(
        FailureCode.OUTCOME_UNKNOWN,
        f"{spec.name} did not answer within {seconds:g} s; it may or may not have taken effect.",
        next_step="Look with a reading tool whether it took effect, before you call it again.",
    )
