"""The nouns of a call: results, failures, reports, and handlers wrapped in handlers."""

import pytest

from pegboard.core import (
    Call,
    Failure,
    FailureCode,
    Handler,
    ItemReport,
    Report,
    Result,
    Session,
    SourceReport,
    Status,
    StepReport,
    ToolName,
    pipeline,
)
from pegboard.core.call import describe

pytestmark = pytest.mark.anyio


async def test_the_first_middleware_is_outermost() -> None:
    passed: list[str] = []

    def named(name: str):  # noqa: ANN202
        def wrap(handler: Handler) -> Handler:
            async def handle(call: Call) -> Result:
                passed.append(name)
                return await handler(call)

            return handle

        return wrap

    async def inner(call: Call) -> Result:
        return Result(value=passed)

    handler = pipeline(inner, named("outer"), named("middle"))
    await handler(Call(tool=ToolName("a", "b"), arguments={}))
    assert passed == ["outer", "middle"]


def test_a_failure_reads_as_one_line_and_travels_as_data() -> None:
    failure = Failure(FailureCode.TIMEOUT, "It took too long.", where="/n", next_step="Try again.", retryable=True)
    assert str(failure) == "timeout at /n: It took too long. Next: Try again."
    assert failure.to_json() == {
        "code": "timeout",
        "message": "It took too long.",
        "where": "/n",
        "next_step": "Try again.",
        "retryable": True,
        "details": {},
    }


def test_a_failed_result_is_not_ok() -> None:
    assert Result(value=None).ok
    result = Result.failed(FailureCode.BLOCKED, "no", next_step="ask")
    assert not result.ok
    assert result.failure == Failure(FailureCode.BLOCKED, "no", next_step="ask")


def test_a_report_counts_its_parts_by_how_they_ended() -> None:
    report = Report(
        items=(ItemReport(0, 1, Status.FAILED), ItemReport(1, 2, Status.OK)),
        steps=(StepReport("a", "t", Status.OK),),
        sources={"crm": SourceReport("crm", Status.TIMED_OUT)},
    )
    assert list(report.counts.items()) == [("ok", 2), ("failed", 1), ("timed_out", 1)]
    assert Report().counts == {}


def test_a_sessions_run_is_its_own_id_unless_it_names_one() -> None:
    assert Session(id="s").run_id == "s"
    assert Session(id="s", run="r").run_id == "r"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("x"), "ValueError: x"),
        (ValueError(), "ValueError"),
        (ExceptionGroup("g", [ExceptionGroup("h", [KeyError("k")])]), "KeyError: 'k'"),
        (ExceptionGroup("g", [ValueError("a"), ValueError("b")]), "ExceptionGroup: g (2 sub-exceptions)"),
        (ValueError("x" * 5000), f"ValueError: {'x' * 2000}…"),
    ],
)
def test_an_exception_is_told_in_one_clean_sentence(error: BaseException, told: str) -> None:
    assert describe(error) == told
