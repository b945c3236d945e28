"""A deferred tool that was called unseen: when its arguments are guessed wrong, the failure brings its definition."""

from dataclasses import replace

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Result, ToolSpec
from pegboard.discovery.answers import definition, described
from pegboard.discovery.desk import Desk
from pegboard.surface import mcp


def hydrate(desk: Desk) -> Middleware:
    """Give the definition of a deferred tool with the refusal of its arguments, and load it.

    A session that has loaded the tool gets it too: a client that compacts its history no longer sees what was loaded.
    It comes once, until the tool has been called well.

    Parameters:
        desk: the board.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            failure, shown = result.failure, desk.shown_again(call.session)
            if failure is None:
                shown.discard(call.tool)
            if failure is None or failure.code is not FailureCode.INVALID_ARGUMENTS or call.tool in shown:
                return result
            spec = next((spec for spec in desk.view(call.session).deferred if spec.name == call.tool), None)
            if spec is None:
                return result
            shown.add(call.tool)
            return _with_definition(desk, call, result, failure, spec)

        return handle

    return wrap


def _with_definition(desk: Desk, call: Call, result: Result, failure: Failure, spec: ToolSpec) -> Result:
    view = desk.view(call.session)
    row = definition(spec, view)
    said = "Its definition follows again" if spec in view.loaded else "Its definition was not loaded yet"
    desk.load(call.session, [spec.name])
    told = replace(
        failure,
        message=f"{failure.message} {said}; nothing was called.",
        details={**failure.details, "definition": dict(row)},
    )
    return replace(result, failure=told, content=(mcp.text_block(str(told)), mcp.text_block(described(row))))
