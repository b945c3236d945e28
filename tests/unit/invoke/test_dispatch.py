"""A call reaches its tool; whatever a source does wrong costs that call alone."""

import pytest

from pegboard.core import Call, FailureCode, Tool, ToolName, ToolSpec
from pegboard.errors import PegboardError, SourceError
from pegboard.invoke.dispatch import dispatch
from pegboard.testing import RecordingHandler, Script

pytestmark = pytest.mark.anyio

NAME = ToolName("a", "b")


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        (SourceError("It is gone.", next_step="Wait."), FailureCode.UNAVAILABLE, "It is gone."),
        (PegboardError("Misused."), FailureCode.FAILED, "Misused."),
        (ZeroDivisionError("division"), FailureCode.FAILED, "ZeroDivisionError: division"),
    ],
)
async def test_what_a_handler_raises_becomes_a_failure(script: Script, code: FailureCode, message: str) -> None:
    tool = Tool(ToolSpec(name=NAME), RecordingHandler(script))
    failure = (await dispatch({NAME: tool}.get)(Call(tool=NAME, arguments={}))).failure
    assert failure is not None
    assert (failure.code, failure.message) == (code, message)


async def test_without_a_near_name_the_next_step_is_to_search() -> None:
    failure = (await dispatch({}.get)(Call(tool=NAME, arguments={}))).failure
    assert failure is not None
    assert failure.code == FailureCode.UNKNOWN_TOOL
    assert "tool_search" in str(failure.next_step)
