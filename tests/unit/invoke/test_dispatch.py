"""A call reaches its tool; whatever a source does wrong costs that call alone."""

import pytest

from pegboard.core import Call, Failure, FailureCode, Tool, ToolName, ToolSpec
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


async def test_a_tool_that_is_not_there_fails_with_a_next_step() -> None:
    failure = (await dispatch({}.get)(Call(tool=NAME, arguments={}))).failure
    assert failure is not None
    assert failure.code == FailureCode.UNKNOWN_TOOL
    assert "tool_search" in str(failure.next_step)


async def test_whoever_knows_more_says_why_it_is_not_there() -> None:
    handler = dispatch({}.get, lambda name: Failure(FailureCode.BLOCKED, f"{name} is not allowed."))
    failure = (await handler(Call(tool=NAME, arguments={}))).failure
    assert failure == Failure(FailureCode.BLOCKED, "a.b is not allowed.")
