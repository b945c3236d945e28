"""One tool alone: recorded examples come to what they came to, or it is said in what they differ."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from pegboard.core import FailureCode, Result, ToolName, ToolSpec
from pegboard.insight.trial import Example, differences, examples_of, faults, holds, trial
from pegboard.trace import CallRecord, Run

SPEC = ToolSpec(name=ToolName("crm", "find"), examples=({"q": "a"},))


def test_examples_come_from_cases_definition_and_traces_each_once() -> None:
    cases = {"cases": [{"arguments": {"q": "c"}, "gives": ["x", None]}]}
    calls = (
        CallRecord(id="1", tool="crm.find", arguments={"q": "a"}, ok=True, result="late"),
        CallRecord(id="2", tool="crm__find", arguments={"q": "t"}, ok=True, result="r"),
        CallRecord(id="3", tool="crm.other", arguments={"q": "o"}, ok=True),
        CallRecord(id="4", tool="find", arguments=None, ok=True),
    )
    found = examples_of(SPEC, cases, [Run(id="r", calls=calls)])
    assert [(each.origin, each.arguments["q"]) for each in found] == [("case", "c"), ("example", "a"), ("trace", "t")]
    assert (found[0].gives, found[2].result) == (("x",), "r")


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        ({"rows": [{"id": 1}]}, {"id": 1}, True),
        ({"text": 'it says {"id":1}'}, {"id": 1}, True),
        ({"text": "a long answer"}, "long", True),
        ({"rows": [{"id": 1}]}, '{"id": 1}', True),
        ({"rows": [{"id": 2}]}, {"id": 1}, False),
        ([], "x", False),
    ],
)
def test_an_answer_holds_a_recorded_result_in_whatever_form(whole: Any, part: Any, expected: bool) -> None:
    assert holds(whole, part) is expected


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"a": 1, "b": "x"}, {"a": 2.5, "b": "y", "c": 3}, []),
        ({"a": 1}, {"b": 1}, ["/a is gone"]),
        ({"a": {"b": [1]}}, {"a": {"b": ["x"]}}, ["/a/b/0 was a number and is a text"]),
        ('{"a": 1}', {"a": "x"}, ["/a was a number and is a text"]),
        ([], [1], []),
        (1, None, []),
    ],
)
def test_shapes_are_compared_and_values_are_not(before: Any, after: Any, told: list[str]) -> None:
    assert list(differences(before, after)) == told


def test_a_failure_is_right_only_where_it_failed_before() -> None:
    failed = Result.failed(FailureCode.FAILED, "no")
    assert faults(Example(arguments={}, origin="trace", ok=False), failed) == ()
    assert faults(Example(arguments={}, origin="trace", ok=True), failed) == ("it fails: no",)
    assert faults(Example(arguments={}, origin="trace", ok=False), Result(value=1)) != ()


def test_each_example_is_tried_and_told() -> None:
    async def call(arguments: Mapping[str, Any]) -> Result:
        return Result(value={"q": arguments["q"]})

    examples = [
        Example(arguments={"q": "a"}, origin="case", gives=("a",)),
        Example(arguments={"q": "b"}, origin="case", gives=("a",)),
    ]
    tried = anyio.run(trial, examples, call)
    assert [each.to_json()["passed"] for each in tried] == [True, False]
