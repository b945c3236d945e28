"""A decorated function stays a function and carries a tool."""

import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from pegboard import (
    Call,
    Effects,
    FailureCode,
    Log,
    Mode,
    Progress,
    Result,
    Session,
    ToolError,
    first,
    instead,
    then,
    tool,
)
from pegboard.define import ToolFunction
from pegboard.errors import DefinitionError

pytestmark = pytest.mark.anyio


async def run(made: "ToolFunction[..., Any]", mode: Mode | None = None, **arguments: Any) -> Result:
    return await made.tool.handler(Call(tool=made.name, arguments=arguments, mode=mode))


@dataclass
class Changes:
    paths: list[str]
    done: bool


@tool(
    effects=Effects.DESTRUCTIVE,
    category="files",
    hints=[first("list_files", when="you only have a folder"), then("audit"), instead("move_files")],
    examples=[{"paths": ["a.txt"]}],
    aliases=["rm"],
)
async def delete_files(paths: list[str]) -> Changes:
    """Delete files."""
    return Changes(paths, done=True)


@delete_files.preview
async def _(paths: list[str]) -> Changes:
    return Changes(paths, done=False)


async def test_it_is_still_the_plain_function() -> None:
    assert await delete_files(["a"]) == Changes(["a"], done=True)
    assert delete_files.__name__ == "delete_files"
    assert delete_files.__doc__ == "Delete files."


async def test_it_carries_what_its_author_says() -> None:
    spec = delete_files.spec
    assert (str(spec.name), spec.description, spec.category, spec.aliases) == (
        "delete_files",
        "Delete files.",
        "files",
        ("rm",),
    )
    assert [str(hint) for hint in spec.hints] == [
        "call list_files first if you only have a folder",
        "then call audit",
        "use move_files instead",
    ]


async def test_the_result_is_json() -> None:
    result = await run(delete_files, Mode.EXECUTE, paths=["a"])
    assert result.value == {"paths": ["a"], "done": True}


@pytest.mark.requirement("C5.1", "C5.2", "C5.7")
async def test_a_destructive_tool_with_a_preview_previews_unless_told_otherwise() -> None:
    result = await run(delete_files, paths=["a"])
    assert (result.value, result.mode) == ({"paths": ["a"], "done": False}, Mode.PREVIEW)
    assert delete_files.spec.properties["mode"]["default"] == "preview"
    assert await delete_files.using(Mode.PREVIEW)(["a"]) == Changes(["a"], done=False)


async def test_a_mode_that_is_not_offered_is_refused() -> None:
    result = await run(delete_files, Mode.EXPLORE, paths=["a"])
    assert result.failure is not None
    assert result.failure.code == FailureCode.INVALID_ARGUMENTS
    with pytest.raises(DefinitionError):
        delete_files.using("explore")


@pytest.mark.requirement("C5.8")
async def test_a_preview_that_takes_or_gives_something_else_is_refused() -> None:
    @tool
    def remove(path: str, force: bool = False) -> int:
        return 1

    def other_type(path: int, force: bool = False) -> int:
        return 1

    def other_default(path: str, force: bool = True) -> int:
        return 1

    def other_result(path: str, force: bool = False) -> str:
        return ""

    def fewer(path: str) -> int:
        return 1

    async def asynchronous(path: str, force: bool = False) -> int:
        return 1

    for wrong in (other_type, other_default, other_result, fewer, asynchronous):
        with pytest.raises(DefinitionError):
            remove.preview(wrong)  # type: ignore[arg-type]
    assert remove.spec.modes == ()


async def test_a_synchronous_function_runs_in_another_thread() -> None:
    @tool
    def where() -> int:
        return threading.get_ident()

    assert (await run(where)).value != threading.get_ident()


async def test_what_the_board_gives_is_no_argument() -> None:
    said: list[Any] = []

    @tool
    async def f(text: str, session: Session, call: Call, progress: Progress, log: Log | None = None) -> str:
        await progress(0.5, 1, "half")
        assert log is not None
        await log("info", "logged")
        return f"{text} {session.id} {call.arguments['text']}"

    async def progress(progress: float, total: float | None = None, message: str | None = None) -> None:
        said.append((progress, total, message))

    async def log(level: str, data: Any, logger: str | None = None) -> None:
        said.append((level, data))

    assert list(f.spec.properties) == ["text"]
    call = Call(tool=f.name, arguments={"text": "hi"}, session=Session(id="s"), progress=progress, log=log)
    assert (await f.tool.handler(call)).value == "hi s hi"
    assert said == [(0.5, 1, "half"), ("info", "logged")]
    quiet = Call(tool=f.name, arguments={"text": "hi"})
    assert (await f.tool.handler(quiet)).ok


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no such city"), "ValueError: no such city"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError(), "RuntimeError"),
        (SystemExit(2), "SystemExit: 2"),
        (ExceptionGroup("several", [ValueError("one")]), "ValueError: one"),
    ],
)
@pytest.mark.parametrize("asynchronous", [True, False])
async def test_what_a_body_raises_is_a_failure_without_a_traceback(
    error: BaseException, message: str, asynchronous: bool
) -> None:
    async def slow() -> None:
        raise error

    def quick() -> None:
        raise error

    result = await run(tool(slow if asynchronous else quick))
    assert result.failure is not None
    assert (result.failure.code, result.failure.message) == (FailureCode.FAILED, message)


async def test_a_tool_error_says_what_to_do_next() -> None:
    @tool
    def find(city: str) -> str:
        raise ToolError(
            f"There is no {city}.", next_step="list_cities", code="unavailable", where="/city", retryable=True
        )

    failure = (await run(find, city="Atlantis")).failure
    assert failure is not None
    assert failure.to_json() == {
        "code": "unavailable",
        "message": "There is no Atlantis.",
        "where": "/city",
        "next_step": "list_cities",
        "retryable": True,
        "details": {},
    }


async def test_arguments_that_do_not_become_parameters_are_told_by_place() -> None:
    failure = (await run(delete_files, paths=[1])).failure
    assert failure is not None
    assert (failure.code, failure.where) == (FailureCode.INVALID_ARGUMENTS, "/paths/0")


async def test_cancelling_reaches_an_asynchronous_body() -> None:
    ended = anyio.Event()

    @tool
    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, wait)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert ended.is_set()


async def test_a_body_that_hangs_in_its_thread_does_not_hold_the_caller() -> None:
    let_go = threading.Event()

    @tool
    def hang() -> None:
        let_go.wait()

    with anyio.move_on_after(0.05) as scope:
        await run(hang)
    let_go.set()
    assert scope.cancelled_caught


async def test_the_items_of_a_generator_are_collected() -> None:
    @tool
    def numbers() -> Iterator[int]:
        yield from (1, 2)

    @tool
    async def later() -> AsyncIterator[int]:
        yield 3

    assert (await run(numbers)).value == [1, 2]
    assert (await run(later)).value == [3]
    assert numbers.spec.output == {"type": "array", "items": {"type": "integer"}}


async def test_a_ready_result_passes_as_it_is() -> None:
    ready = Result(value=1, assets=("a",))

    @tool
    async def f() -> Result:
        return ready

    assert await run(f) is ready
    assert f.spec.output is None


async def test_a_freeform_tool_takes_one_text() -> None:
    @tool(freeform=True)
    async def shell(script: str) -> str:
        """Run it.

        Args:
            script: What to run.
        """
        return script.upper()

    assert shell.spec.input["properties"] == {"input": {"type": "string", "description": "What to run."}}
    assert (await run(shell, input="ls")).value == "LS"

    @tool(freeform=True)
    def two(a: str, b: str) -> None: ...

    with pytest.raises(DefinitionError):
        _ = two.spec


@pytest.mark.parametrize(
    "options",
    [{"effects": "destroying"}, {"rung": "middle"}, {"examples": [{"n": "x"}]}, {"default_mode": "prevew"}],
)
async def test_an_option_that_cannot_work_is_refused_when_the_tool_is_asked_for(options: dict[str, Any]) -> None:
    @tool(**options)
    def f(n: int) -> int:
        return n

    f.preview(f.function)
    with pytest.raises(DefinitionError) as caught:
        _ = f.spec
    assert caught.value.next_step


async def test_a_method_needs_its_object() -> None:
    class Shelf:
        def put(self, thing: str) -> str:
            return thing

    with pytest.raises(DefinitionError, match="without its object"):
        _ = tool(Shelf.put).spec
    assert list(tool(Shelf().put).spec.properties) == ["thing"]


async def test_annotations_may_name_what_is_local_or_defined_later() -> None:
    @dataclass
    class Local:
        n: int

    @tool
    def f(local: "Local") -> "Local":
        return local

    assert (await run(f, local={"n": 1})).value == {"n": 1}


async def test_a_tool_that_replaces_others_names_them() -> None:
    @tool(replaces=[delete_files, "files.move"])
    def tidy() -> None: ...

    assert tidy.spec.replaces == ("delete_files", "files.move")
