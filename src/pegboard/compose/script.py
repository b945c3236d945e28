"""A bundle as typed Python: `step` records each call and has the type of the tool that it calls."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_type_hints

from pegboard.compose.bind import tool_name
from pegboard.compose.bundle import composite_spec
from pegboard.compose.inner import Inner
from pegboard.compose.steprun import Course
from pegboard.compose.steps import Step as StepData
from pegboard.core import Failure, FailureCode, Handler, Hint, Relation, Result, Rung, Tool, ToolName, ToolSpec
from pegboard.core.call import Call
from pegboard.core.draft import Unbound
from pegboard.define import ToolError
from pegboard.errors import DefinitionError, PegboardError
from pegboard.schema.infer import Inferred, infer
from pegboard.schema.parameters import ArgumentsError
from pegboard.schema.template import Template
from pegboard.schema.types import Json

P = ParamSpec("P")
R = TypeVar("R")
_SAY = "Name every tool that the bundle calls in `replaces` (or `uses`), so that it can be found when it is loaded."


class Stopped(Exception):
    """Ends a bundle's function after a step failed or the bundle stopped; nobody has to catch it."""


@dataclass(frozen=True)
class Step:
    """What a bundle's function calls tools with: `await step(search_users, query=name)`.

    Parameters:
        course: what has been done so far.
        inner: the specs of the bundle's tools, by the name that it uses for them.
        options: how the next call treats a failure; set them with `step.on(...)`.
    """

    course: Course
    inner: Mapping[str, ToolSpec]
    options: StepData = field(default_factory=lambda: StepData(id=""))

    async def __call__(self, tool: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a tool as a step, through the board; its arguments and result have the tool's own types.

        Raises:
            Stopped: the step failed and the bundle ends; leave it alone, or use `step.on(on_error="continue")`.
        """
        signature = inspect.signature(getattr(tool, "function", tool))
        bound = signature.bind(*args, **kwargs)
        value = await self.by_name(tool_name(tool), **bound.arguments)
        return cast("R", _typed(tool, value))

    async def by_name(self, name: str, /, **arguments: Any) -> Json:
        """Call a tool that has no Python function, such as one of an MCP server; its value is plain data.

        Raises:
            Stopped: as above.
        """
        spec = self.inner.get(name)
        if spec is None:
            raise DefinitionError(f"The bundle did not say that it calls {name!r}.", where=name, next_step=_SAY)
        data = replace(self.options, id=self._id(name), tool=name, args=_literal(_plain(arguments)))
        if not await self.course.take(data, spec):
            raise Stopped
        if data.id in self.course.unknown:
            raise Stopped  # a preview goes no further than what it knows
        return self.course.scope[data.id]

    def on(self, **options: Any) -> "Step":
        """The same `step` with options for its calls: `on_error`, `default`, `retries`, `optional`, `id`, `mode`."""
        if "default" in options:
            options = {"on_error": "default", **options, "default": _literal(_plain(options["default"]))}
        return replace(self, options=replace(self.options, **options))

    def stop(self, message: str, *, next_step: str | None = None) -> Any:
        """End the bundle because of what was found; use it as `return step.stop("no such user")`."""
        self.course.stop("stop", message, next_step)
        raise Stopped

    def _id(self, name: str) -> str:
        if self.options.id:
            return self.options.id
        bare = name.rpartition(".")[2]
        taken = {report.id for report in self.course.reports}
        return next(each for each in (bare, *(f"{bare}_{n}" for n in range(2, len(taken) + 3))) if each not in taken)


@dataclass(frozen=True, kw_only=True)
class Script:
    """The definition of a bundle that is a Python function.

    Parameters:
        name: its name, after the task.
        function: the function.
        inferred: its signature, read; the parameter of type `Step` is left out of the input.
        tools: the tools that it calls, by name.
        replaces: those of them that agents called one after the other before.
        more: further fields of the spec.
    """

    name: ToolName
    function: Callable[..., Awaitable[Any]]
    inferred: Inferred
    tools: tuple[str, ...]
    replaces: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    optional_uses: frozenset[str] = frozenset()

    @property
    def uses(self) -> tuple[str, ...]:
        """The tools that it calls."""
        return self.tools

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, over what its names mean on a board."""
        called = [str(inner[name].name) for name in self.replaces]
        spec = ToolSpec(
            name=self.name,
            description=self.inferred.docstring.description,
            input=self.inferred.input,
            output=self.inferred.output,
            rung=Rung.HIGH,
            replaces=tuple(called),
            hints=tuple(Hint(Relation.INSTEAD, name, "you need only this part of it") for name in called[:4]),
        )
        spec = replace(composite_spec(spec, inner, kind="bundle"), **self.more)
        return Tool(spec, ScriptRun(self, inner, run))


@dataclass(frozen=True)
class ScriptRun:
    """The handler of a bundle that is a Python function."""

    script: Script
    inner: Mapping[str, ToolSpec] = field(repr=False)
    run: Handler

    async def __call__(self, call: Call) -> Result:
        """Run the function."""
        course = Course(Inner.of(self.run, call))
        inferred = self.script.inferred
        try:
            values = inferred.parameters.accept(call.arguments)
            values |= {name: Step(course, self.inner) for name in inferred.skipped}
            positional, named = inferred.parameters.bind(values)
            value = await self.script.function(*positional, **named)
        except Stopped:
            return course.stopped([]) if course.failure else course.ended(None)
        except Exception as error:
            course.failure = _failure_of(error)
            return course.stopped([])
        return course.ended(inferred.returns.render(value))


def _failure_of(error: Exception) -> Failure:
    match error:
        case ArgumentsError():
            return Failure(FailureCode.INVALID_ARGUMENTS, str(error), where=error.violations[0].pointer)
        case PegboardError():
            return Failure(FailureCode.FAILED, error.message, where=error.where, next_step=error.next_step)
        case ToolError():
            return error.failure
        case _:
            return Failure(FailureCode.FAILED, f"The bundle broke: {type(error).__name__}: {error}")


def bundle(
    *, replaces: Sequence[object] = (), uses: Sequence[object] = (), name: str | None = None, **more: Any
) -> Callable[[Callable[Concatenate[Step, P], Awaitable[object]]], Tool]:
    """Make a bundle of an async function whose first parameter is a `Step`.

    Parameters:
        replaces: the tools that it calls in place of the agent, in their order (functions, tools or names).
        uses: further tools that it may call.
        name: its name; by default the function's.
        more: further fields of the spec, such as `category`.

    Raises:
        DefinitionError: the function has no first parameter for the step.
    """

    def decorate(function: Callable[Concatenate[Step, P], Awaitable[R]]) -> Tool:
        inferred = infer(function, skip=lambda annotation: annotation is Step)
        if not inferred.skipped:
            raise DefinitionError(
                f"{function.__name__} takes no step.",
                where=function.__qualname__,
                next_step="Write `async def name(step: Step, ...)`.",
            )
        replaced = tuple(tool_name(tool) for tool in replaces)
        script = Script(
            name=ToolName.parse(name or function.__name__),
            function=function,
            inferred=inferred,
            tools=tuple(dict.fromkeys((*replaced, *(tool_name(tool) for tool in uses)))),
            replaces=replaced,
            more=more,
        )
        return Unbound.tool(script, inferred.docstring.description)

    return decorate


def _plain(value: Any) -> Json:
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)


def _literal(value: Json) -> Template:
    # Built by hand: a `${` in a value that a step hands on is text, not a reference.
    return Template(value, value)


def _typed(tool: object, value: Json) -> Any:
    """The value as the type that the tool's function returns."""
    function = getattr(tool, "function", tool)
    if value is None or not callable(function):
        return value
    annotation = _returned(function)
    return value if annotation in (None, Any) else _adapter(annotation).validate_python(value)


@lru_cache(maxsize=1024)
def _returned(function: Callable[..., object]) -> Any:
    return get_type_hints(function).get("return")


@lru_cache(maxsize=1024)
def _adapter(annotation: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(annotation)
