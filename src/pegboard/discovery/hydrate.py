"""A deferred tool that was called unseen: when its arguments are guessed wrong, the failure brings its definition."""

from dataclasses import replace

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Result, ToolSpec
from pegboard.discovery.answers import definition, described
from pegboard.discovery.desk import Desk
from pegboard.surface import mcp


def hydrate(desk: Desk) -> Middleware:
    """Load a tool whose arguments were refused before its session has ever seen its definition.

    Parameters:
        desk: the board.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            failure = result.failure
            if failure is None or failure.code is not FailureCode.INVALID_ARGUMENTS:
                return result
            view = desk.view(call.session)
            spec = next((spec for spec in view.deferred if spec.name == call.tool), None)
            return (
                result if spec is None or spec in view.loaded else _with_definition(desk, call, result, failure, spec)
            )

        return handle

    return wrap


def _with_definition(desk: Desk, call: Call, result: Result, failure: Failure, spec: ToolSpec) -> Result:
    row = definition(spec, desk.view(call.session))
    desk.load(call.session, [spec.name])
    told = replace(
        failure,
        message=f"{failure.message} Its definition was not loaded yet; nothing was called.",
        details={**failure.details, "definition": dict(row)},
    )
    return replace(result, failure=told, content=(mcp.text_block(str(told)), mcp.text_block(described(row))))
