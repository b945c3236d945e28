"""Hand a call to its tool; the innermost of the pipeline."""

from pegboard.core import Call, Failure, FailureCode, Handler, Mode, Result, ToolName
from pegboard.core.call import describe
from pegboard.errors import PegboardError, SourceError
from pegboard.invoke.lookup import Absent, ToolOf


def dispatch(tool_of: ToolOf, absent: Absent | None = None) -> Handler:
    """Run the tool that the current catalog has under the call's name.

    Parameters:
        tool_of: the current catalog.
        absent: why a name means no tool; without it, that there is none.
    """

    async def handle(call: Call) -> Result:
        tool = tool_of(call.tool)
        if tool is None:
            return Result(failure=(absent or unknown)(call.tool))
        try:
            return await tool.handler(call)
        except Exception as error:  # whatever a source does wrong costs this call alone
            return Result(failure=_failure(error), mode=call.mode or Mode.EXECUTE)

    return handle


def unknown(name: ToolName) -> Failure:
    """The failure of a call whose tool is not there."""
    step = "Find the tool with tool_search, or list what is there."
    return Failure(FailureCode.UNKNOWN_TOOL, f"There is no tool {str(name)!r}.", next_step=step)


def _failure(error: Exception) -> Failure:
    if isinstance(error, PegboardError):
        code = FailureCode.UNAVAILABLE if isinstance(error, SourceError) else FailureCode.FAILED
        return Failure(code, error.message, error.where, error.next_step)
    return Failure(FailureCode.FAILED, describe(error))
