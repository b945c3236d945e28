"""Why a model wants a call: an argument that any tool may be given, and that no tool ever sees."""

from collections.abc import Callable
from dataclasses import replace

from pegboard.core import Call, Handler, Middleware, Result, ToolName, ToolSpec

REASON_KEY = "requestReason"
"""The argument, and the key of a request's `_meta`."""
INSTRUCTION = (
    f"Some calls wait for a person's yes. Say why you want such a call in one sentence: as the argument {REASON_KEY},"
    " which every tool takes besides its own."
)


def reasons(spec_of: Callable[[ToolName], ToolSpec | None]) -> Middleware:
    """Take the reason out of a call's arguments, before they are checked; a tool with such an argument keeps it.

    Parameters:
        spec_of: the tools.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            if REASON_KEY not in call.arguments:
                return await next_handler(call)
            spec = spec_of(call.tool)
            if spec is None or REASON_KEY in spec.properties:
                return await next_handler(call)
            arguments = {key: value for key, value in call.arguments.items() if key != REASON_KEY}
            meta = {**call.meta, REASON_KEY: call.arguments[REASON_KEY]}
            return await next_handler(replace(call, arguments=arguments, meta=meta))

        return handle

    return wrap
