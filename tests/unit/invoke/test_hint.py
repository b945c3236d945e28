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


@pytest.mark.parametrize("code", ["failed", "upstream", "unavailable", "timeout", "outcome_unknown"])
async def test_a_failure_that_says_no_more_than_its_message_gets_a_next_step(code: str) -> None:
    plain = ToolSpec(name=ToolName("a", "b"))
    failure = (await failed(Result.failed(FailureCode(code), "no"), plain)).failure
    assert failure is not None
    assert failure.next_step
    said = Result.failed(FailureCode(code), "no", next_step="Ask Ann.")
    assert await failed(said, plain) == said


async def test_inside_of_a_composed_tool_nothing_points_back_to_it() -> None:
    handler = pipeline(RecordingHandler(Result.failed(FailureCode.FAILED, "no")), hints({SPEC.name: SPEC}.get))
    failure = (await handler(Call(tool=SPEC.name, arguments={}, parent="outer"))).failure
    assert failure is not None
    assert failure.next_step == "Hints: call chat.open_dm first if you only have a user."


async def test_without_failures_nothing_is_added() -> None:
    ok = Result(value=1)
    assert await failed(ok) is ok
