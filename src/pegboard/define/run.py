"""Run a function as a tool: give it what it asks for, and turn what comes out into a result."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, cast, get_args, get_origin

import anyio
import anyio.lowlevel
import anyio.to_thread

from pegboard.core import Call, Failure, FailureCode, Handler, Log, Mode, Progress, Result, Session
from pegboard.core.call import describe
from pegboard.define.content import Content, blocks_of
from pegboard.define.error import ToolError
from pegboard.schema.infer import Inferred
from pegboard.schema.parameters import ArgumentsError
from pegboard.schema.types import Json, JsonObject

THREADS = 32
"""How many calls of one synchronous function run at once; a function that hangs never holds up another."""


async def _no_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    await anyio.lowlevel.checkpoint()


async def _no_log(level: str, data: Json, logger: str | None = None) -> None:
    await anyio.lowlevel.checkpoint()


_GIVEN: dict[Any, Callable[[Call], Any]] = {
    Call: lambda call: call,
    Session: lambda call: call.session,
    Progress: lambda call: call.progress or _no_progress,
    Log: lambda call: call.log or _no_log,
}


def is_given(annotation: Any) -> bool:
    """Whether a parameter of this type is given by the board (Call, Session, Progress, Log), not sent by the model."""
    return _wanted(annotation) is not None


def _wanted(annotation: Any) -> Any:
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and one in _GIVEN:
            return one
    return None


def is_opaque(annotation: Any) -> bool:
    """Whether a return type is content or a ready result, or holds one: it has no JSON Schema."""
    if isinstance(annotation, type) and not get_args(annotation):
        return issubclass(annotation, (Result, bytes, Content)) or _is_sdk_content(annotation)
    origin = get_origin(annotation)
    keyed = isinstance(origin, type) and issubclass(origin, Mapping)
    return not keyed and any(is_opaque(part) for part in get_args(annotation))


def _is_sdk_content(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("mcp", "mcp_types")


def handler_of(
    functions: Mapping[Mode, Callable[..., Any]], inferred: Inferred, default: Callable[[], Mode]
) -> Handler:
    """The handler that runs one function for each mode.

    Parameters:
        functions: the function of each mode, all of one signature.
        inferred: that signature, read.
        default: the mode of a call that names none.
    """
    limiter: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("pegboard_threads")

    async def handle(call: Call) -> Result:
        mode = call.mode or default()
        function = functions.get(mode)
        if function is None:
            return _not_offered(mode, functions)
        try:
            given = _filled(inferred, call.arguments) if mode is Mode.EXPLORE else call.arguments
            values = inferred.parameters.accept(given)
        except ArgumentsError as error:
            return _invalid(error, mode)
        values |= {name: _GIVEN[_wanted(kind)](call) for name, kind in inferred.skipped.items()}
        positional, named = inferred.parameters.bind(values)
        try:
            value = await _run(partial(function, *positional, **named), limiter)
            return to_result(value, inferred.returns.render, mode)
        except ToolError as error:
            return Result(failure=error.failure, mode=mode)
        except (Exception, SystemExit) as error:
            return Result(failure=Failure(FailureCode.FAILED, describe(error)), mode=mode)

    return handle


_EMPTY: Mapping[str, Json] = {"array": [], "object": {}, "string": "", "boolean": False}


def _filled(inferred: Inferred, given: JsonObject) -> JsonObject:
    """The arguments of an exploration, which needs none: what is missing is there, and empty."""
    missing = (name for name in inferred.input.get("required", ()) if name not in given)
    return {**{name: _EMPTY.get(str(inferred.input["properties"][name].get("type"))) for name in missing}, **given}


async def _run(call: "partial[Any]", limiter: "anyio.lowlevel.RunVar[anyio.CapacityLimiter]") -> Any:
    if inspect.isasyncgenfunction(call.func):
        return [item async for item in call()]
    if inspect.iscoroutinefunction(call.func) or inspect.iscoroutinefunction(getattr(call.func, "__call__", None)):  # noqa: B004
        return await cast("Coroutine[Any, Any, Any]", call())
    try:
        threads = limiter.get()
    except LookupError:
        threads = anyio.CapacityLimiter(THREADS)
        limiter.set(threads)
    value = await anyio.to_thread.run_sync(partial(_finish, call), abandon_on_cancel=True, limiter=threads)
    return await value if inspect.isawaitable(value) else value


def _finish(call: "partial[Any]") -> Any:
    """Run to the end, a generator's items included."""
    value = call()
    return list(value) if inspect.isgenerator(value) else value


def to_result(value: Any, render: Callable[[Any], Json], mode: Mode) -> Result:
    """What a function returned, as a result: a ready result as it is, content as blocks, all else as JSON."""
    if isinstance(value, Result):
        return value
    blocks = blocks_of(value)
    if blocks is not None:
        return Result(content=blocks, mode=mode)
    return Result(value=None if value is None else render(value), mode=mode)


def _not_offered(mode: Mode, functions: Mapping[Mode, Callable[..., Any]]) -> Result:
    known = ", ".join(one.value for one in functions)
    return Result.failed(
        FailureCode.INVALID_ARGUMENTS,
        f"This tool does not offer the mode {mode.value!r}.",
        next_step=f"Call it with one of the modes that it offers: {known}.",
    )


def _invalid(error: ArgumentsError, mode: Mode) -> Result:
    failure = Failure(
        FailureCode.INVALID_ARGUMENTS,
        str(error),
        where=error.violations[0].pointer,
        next_step="Correct the arguments and call again.",
        details={"violations": [violation.to_json() for violation in error.violations]},
    )
    return Result(failure=failure, mode=mode)
