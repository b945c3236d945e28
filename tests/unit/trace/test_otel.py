"""A call goes out under the names of the OpenTelemetry conventions."""

from dataclasses import replace

import pytest

from pegboard.trace import CallRecord, Run
from pegboard.trace.otel import span_attributes, span_name

CALL = CallRecord(id="c1", tool="git.diff", arguments={"a": 1}, result=[1], ok=False, failure="timeout", turn=0)


def test_a_span_is_named_after_the_operation_and_the_tool() -> None:
    assert span_name(CALL) == "execute_tool git.diff"


def test_what_is_not_known_is_left_out_and_content_stays_in_unless_asked_for() -> None:
    assert span_attributes(CALL, Run(id="r", agent="coder")) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "git.diff",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.agent.name": "coder",
        "gen_ai.conversation.id": "r",
        "error.type": "timeout",
        "pegboard.failure": "timeout",
        "pegboard.run.id": "r",
        "pegboard.turn": 0,
    }


def test_content_goes_out_as_json_texts_when_asked_for() -> None:
    found = span_attributes(CALL, content=True)
    assert found["gen_ai.tool.call.arguments"] == '{"a":1}'
    assert found["gen_ai.tool.call.result"] == "[1]"


@pytest.mark.case("px-10")
@pytest.mark.parametrize("code", ["failed", "upstream"])
def test_an_error_that_the_tool_itself_reports_has_the_conventions_type_and_our_code_beside_it(code: str) -> None:
    found = span_attributes(replace(CALL, failure=code))
    assert (found["error.type"], found["pegboard.failure"]) == ("tool_error", code)
