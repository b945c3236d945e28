"""Hand a call to its tool; the innermost of the pipeline."""

from pegboard.core import Call, FailureCode, Handler, Result, ToolName
from pegboard.invoke.lookup import Nearest, ToolOf


def dispatch(tool_of: ToolOf, nearest: Nearest = lambda name: ()) -> Handler:
    """Run the tool that the current catalog has under the call's name.

    Parameters:
        tool_of: the current catalog.
        nearest: what an unknown name may have meant.
    """

    async def handle(call: Call) -> Result:
        tool = tool_of(call.tool)
        return unknown(call.tool, nearest) if tool is None else await tool.handler(call)

    return handle


def unknown(name: ToolName, nearest: Nearest) -> Result:
    """The failure of a call whose tool is not there."""
    near = list(nearest(name))
    step = f"Did you mean {' or '.join(near)}?" if near else "Find the tool with tool_search, or list what is there."
    return Result.failed(
        FailureCode.UNKNOWN_TOOL, f"There is no tool {str(name)!r}.", next_step=step, details={"nearest": near}
    )
