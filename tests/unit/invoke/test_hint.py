"""A tool that fails says what to call first or instead."""

import pytest

from pegboard.core import Call, FailureCode, Hint, Relation, Result, ToolName, ToolSpec, pipeline
from pegboard.invoke.hint import hints
from pegboard.testing import RecordingHandler

pytestmark = pytest.mark.anyio

SPEC = ToolSpec(
    name=ToolName("chat", "send"),
    hints=(
        Hint(Relation.FIRST, "chat.open_dm", "you only have a user"),
        Hint(Relation.THEN, "chat.mark_read"),
        Hint(Relation.INSTEAD, "mail.send"),
    ),
)


async def failed(result: Result, spec: ToolSpec = SPEC) -> Result:
    handler = pipeline(RecordingHandler(result), hints({spec.name: spec}.get))
    return await handler(Call(tool=spec.name, arguments={}))


@pytest.mark.requirement("C8.3", "C8.4")
async def test_a_failure_repeats_what_to_call_first_and_instead() -> None:
    failure = (await failed(Result.failed(FailureCode.FAILED, "no such room", next_step="Check the id."))).failure
    assert failure is not None
    assert failure.next_step == (
        "Check the id. Hints: call chat.open_dm first if you only have a user; use mail.send instead."
    )
    assert len(failure.details["hints"]) == 2


@pytest.mark.parametrize("code", [FailureCode.BLOCKED, FailureCode.CANCELLED, FailureCode.BUDGET])
async def test_a_failure_that_is_not_the_tools_stays_as_it_is(code: FailureCode) -> None:
    result = Result.failed(code, "no")
    assert await failed(result) is result


async def test_without_hints_and_without_failures_nothing_is_added() -> None:
    plain = ToolSpec(name=ToolName("a", "b"))
    result = await failed(Result.failed(FailureCode.FAILED, "no"), plain)
    assert result == Result.failed(FailureCode.FAILED, "no")
    ok = Result(value=1)
    assert await failed(ok) is ok
