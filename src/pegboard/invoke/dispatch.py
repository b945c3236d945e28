"""Hand a call to its tool; the innermost of the pipeline."""

from pegboard.core import Call, Failure, FailureCode, Handler, Mode, Result, ToolName
from pegboard.core.call import describe
from pegboard.errors import PegboardError, SourceError
from pegboard.invoke.lookup import Nearest, ToolOf


def dispatch(tool_of: ToolOf, nearest: Nearest = lambda name: ()) -> Handler:
    """Run the tool that the current catalog has under the call's name.

    Parameters:
        tool_of: the current catalog.
        nearest: what an unknown name may have meant.
    """

    async def handle(call: Call) -> Result:
        tool = tool_of(call.tool)
        if tool is None:
            return unknown(call.tool, nearest)
        try:
            return await tool.handler(call)
        except Exception as error:  # whatever a source does wrong costs this call alone
            return Result(failure=_failure(error), mode=call.mode or Mode.EXECUTE)

    return handle


def _failure(error: Exception) -> Failure:
    if isinstance(error, PegboardError):
        code = FailureCode.UNAVAILABLE if isinstance(error, SourceError) else FailureCode.FAILED
        return Failure(code, error.message, error.where, error.next_step)
    return Failure(FailureCode.FAILED, describe(error))


def unknown(name: ToolName, nearest: Nearest) -> Result:
    """The failure of a call whose tool is not there."""
    near = list(nearest(name))
    step = f"Did you mean {' or '.join(near)}?" if near else "Find the tool with tool_search, or list what is there."
    return Result.failed(
        FailureCode.UNKNOWN_TOOL, f"There is no tool {str(name)!r}.", next_step=step, details={"nearest": near}
    )
