"""Only valid arguments reach a tool; what has one reading is mended, the rest explained."""

from typing import Any

import pytest

from pegboard.core import (
    Call,
    FailureCode,
    Freeform,
    Handler,
    Hint,
    Mode,
    Relation,
    Result,
    ToolName,
    ToolSpec,
    pipeline,
)
from pegboard.invoke.dispatch import dispatch
from pegboard.invoke.guard import guard

pytestmark = pytest.mark.anyio

DIFF = ToolSpec(
    name=ToolName("git", "git_diff"),
    input={
        "type": "object",
        "properties": {"repo_path": {"type": "string"}, "lines": {"type": "integer", "minimum": 0}},
        "required": ["repo_path"],
    },
    hints=(Hint(Relation.FIRST, "git.list_repos", "you do not know the path", "repo_path"),),
)


async def echo(call: Call) -> Result:
    return Result(value=call.arguments)


def guarded(spec: ToolSpec, handler: Handler = echo) -> Handler:
    return pipeline(handler, guard({spec.name: spec}.get))


async def sent(arguments: Any, spec: ToolSpec = DIFF, mode: Mode | None = None) -> Result:
    return await guarded(spec)(Call(tool=spec.name, arguments=arguments, mode=mode))


async def test_valid_arguments_pass_untouched() -> None:
    arguments = {"repo_path": ".", "lines": 3}
    result = await sent(arguments)
    assert result.value is arguments
    assert result.report is None


async def test_what_has_one_reading_is_mended_and_reported() -> None:
    result = await sent({"repo_path": ".", "lines": "3"})
    assert result.value == {"repo_path": ".", "lines": 3}
    assert result.report is not None
    assert [(change.kind, change.where) for change in result.report.changes] == [("mended", "/lines")]


async def test_arguments_sent_as_one_text_are_read() -> None:
    assert (await sent('{"repo_path": "."}')).value == {"repo_path": "."}


@pytest.mark.parametrize("arguments", ["no object", [], 5, None, "[1]"])
async def test_what_is_no_object_is_refused_even_by_an_open_schema(arguments: Any) -> None:
    result = await sent(arguments, ToolSpec(name=ToolName("a", "b"), input={}))
    assert result.failure is not None
    assert result.failure.code == FailureCode.INVALID_ARGUMENTS


@pytest.mark.requirement("C8.4")
async def test_a_wrong_name_is_answered_with_the_right_one_and_the_hints() -> None:
    failure = (await sent({"repoPath": ".", "lines": -1})).failure
    assert failure is not None
    assert failure.code == FailureCode.INVALID_ARGUMENTS
    assert "repo_path" in failure.message
    assert "at least 0" in failure.message
    assert failure.next_step is not None
    assert "call git.list_repos first if you do not know the path" in failure.next_step
    assert {one["pointer"] for one in failure.details["violations"]} == {"/repo_path", "/lines"}
    assert failure.details["hints"] == ["repo_path: call git.list_repos first if you do not know the path"]


async def test_a_key_that_an_open_schema_lets_pass_is_noted() -> None:
    result = await sent({"repo_path": ".", "line": 3})
    assert result.value == {"repo_path": ".", "line": 3}
    assert result.report is not None
    assert '"lines"' in result.report.notes[0]


async def test_what_a_composed_tool_accepts_is_what_counts() -> None:
    spec = ToolSpec(name=ToolName("a", "b"), input={"required": ["x"]}, accepts={"type": "object"})
    assert (await sent({}, spec)).ok


async def test_exploring_needs_no_arguments() -> None:
    assert (await sent({}, mode=Mode.EXPLORE)).ok


async def test_a_text_alone_is_the_input_of_a_freeform_tool() -> None:
    spec = ToolSpec(
        name=ToolName("a", "sh"),
        freeform=Freeform(),
        input={"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]},
    )
    assert (await sent("ls", spec)).value == {"input": "ls"}


async def test_a_tool_that_is_not_there_is_dispatchs_to_tell() -> None:
    handler = pipeline(dispatch({}.get), guard({}.get))
    failure = (await handler(Call(tool=ToolName("git", "dif"), arguments={}))).failure
    assert failure is not None
    assert failure.code == FailureCode.UNKNOWN_TOOL
