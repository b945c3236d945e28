"""A deprecated tool says what to call instead, and after its sunset nothing else."""

from datetime import date

import pytest

from pegboard.core import Call, FailureCode, Result, ToolName, ToolSpec, pipeline
from pegboard.invoke.deprecation import deprecation
from pegboard.surface import mcp
from pegboard.surface.describing import describe
from pegboard.testing import RecordingHandler

pytestmark = pytest.mark.anyio

OLD = ToolSpec(
    name=ToolName("mail", "send_email"),
    description="Send an e-mail.",
    deprecated="Recipients are a list now.",
    successor="mail.send_email_v2",
    sunset="2027-01-31",
)


async def called(spec: ToolSpec, day: date, result: Result = Result(value="sent")) -> tuple[Result, int]:
    handler = RecordingHandler(result)
    run = pipeline(handler, deprecation({spec.name: spec}.get, lambda: day))
    return await run(Call(tool=spec.name, arguments={})), len(handler.calls)


@pytest.mark.requirement("C15.3")
@pytest.mark.parametrize("day", [date(2026, 1, 1), date(2027, 1, 31)])
async def test_until_its_sunset_the_result_holds_the_migration_note(day: date) -> None:
    result, ran = await called(OLD, day)
    assert (result.value, ran) == ("sent", 1)
    assert result.report is not None
    assert result.report.notes == (
        "mail.send_email is deprecated. Recipients are a list now. Call mail.send_email_v2 instead. "
        "It answers until 2027-01-31.",
    )
    assert "Recipients are a list now." in str(mcp.output(result, OLD)["content"])


@pytest.mark.requirement("C15.3")
async def test_after_its_sunset_it_fails_with_the_replacement_and_does_not_run() -> None:
    result, ran = await called(OLD, date(2027, 2, 1))
    assert ran == 0
    assert result.failure is not None
    assert result.failure.code is FailureCode.RETIRED
    assert result.failure.next_step == "Call mail.send_email_v2 instead. Recipients are a list now."
    assert result.failure.details == {"sunset": "2027-01-31", "successor": "mail.send_email_v2"}


async def test_a_failure_of_the_tool_holds_the_note_too() -> None:
    result, _ = await called(OLD, date(2026, 1, 1), Result.failed(FailureCode.FAILED, "no"))
    assert result.report is not None
    assert "Call mail.send_email_v2 instead." in result.report.notes[0]


async def test_a_tool_that_is_not_deprecated_answers_as_before() -> None:
    given = Result(value=1)
    result, _ = await called(ToolSpec(name=ToolName("mail", "send")), date(2027, 2, 1), given)
    assert result is given


@pytest.mark.requirement("C15.3")
async def test_the_description_says_how_to_migrate_on_every_wire() -> None:
    said = "Deprecated: Recipients are a list now. Call mail.send_email_v2 instead. It answers until 2027-01-31."
    assert mcp.tool(OLD, "mail__send_email")["description"] == f"{said}\nSend an e-mail."
    assert describe(OLD).text.startswith(said)


@pytest.mark.parametrize(
    ("note", "successor", "sunset", "says"),
    [
        (None, None, None, None),
        ("", None, None, ""),
        ("use b", "x.b", None, "use b"),
        ("", "x.b", None, "Call x.b instead."),
        ("slow", None, "2027-01-31", "slow. It answers until 2027-01-31."),
    ],
)
async def test_what_is_said_of_it_repeats_nothing(
    note: str | None, successor: str | None, sunset: str | None, says: str | None
) -> None:
    spec = ToolSpec(name=ToolName("x", "a"), deprecated=note, successor=successor, sunset=sunset)
    assert spec.deprecation == says
