"""A deprecated tool that works over its successor: the old name and arguments, the new tool behind them."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, ParamSpec, TypeAlias, cast

from pegboard.compose.bind import tool_name
from pegboard.compose.bundle import composite_spec
from pegboard.compose.inner import Inner, clock, payload, status_of
from pegboard.compose.inputs import check_arguments, derived_input
from pegboard.core import (
    Call,
    Failure,
    FailureCode,
    Handler,
    Report,
    Result,
    StepReport,
    Tool,
    ToolName,
    ToolSpec,
    without_modes,
)
from pegboard.core.draft import Unbound
from pegboard.errors import DefinitionError, PegboardError
from pegboard.schema.expression import ExpressionError
from pegboard.schema.infer import infer
from pegboard.schema.parameters import ArgumentsError
from pegboard.schema.template import Template
from pegboard.schema.types import Json, JsonObject, Schema

P = ParamSpec("P")
Adapt: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""From the old tool's arguments to the new one's."""


@dataclass(frozen=True, kw_only=True)
class Succession:
    """The definition of a deprecated tool that works over its successor.

    Parameters:
        name: the old name.
        successor: the tool that does the work now, by any of its names.
        args: its arguments, over `input`; or a function from the old arguments to the new ones.
        note: how to migrate.
        sunset: the last day on which the old name answers (ISO 8601).
        value: what the old name answers, over `input` and `result`; None: what the successor answers.
        old: what the tool was so far; None where it is not on the board any more.
        input: the JSON Schema of its arguments, where there is no `old`; None: made from what `args` reads.
        description: what it does, where there is no `old`.
    """

    name: ToolName
    successor: str
    args: Template | Adapt
    note: str = ""
    sunset: str | None = None
    value: Template | None = None
    old: ToolSpec | None = None
    input: Schema | None = None
    description: str = ""

    @property
    def uses(self) -> tuple[str, ...]:
        """The successor."""
        return (self.successor,)

    @property
    def optional_uses(self) -> frozenset[str]:
        """None: without a successor it does nothing."""
        return frozenset()

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, over what the successor's name means on a board.

        Raises:
            DefinitionError: it gives an argument that the successor does not have, or lacks one that it needs.
        """
        successor = inner[self.successor]
        if isinstance(self.args, Template):
            check_arguments(self.args, without_modes(successor), "args")
        old = ToolSpec(name=self.name, description=self.description or successor.description)
        old = without_modes(self.old) if self.old is not None else replace(old, input=self._input(successor))
        spec = replace(
            old,
            output=successor.output if self.value is None else None,
            deprecated=self.note,
            successor=str(successor.name),
            sunset=self.sunset,
        )
        spec = composite_spec(spec, inner, kind="succession")
        return Tool(spec, SuccessionRun(self, successor, run))

    def _input(self, successor: ToolSpec) -> Schema:
        if self.input is not None or not isinstance(self.args, Template):
            return self.input or {"type": "object"}
        return derived_input([(without_modes(successor), self.args)], self.args.expressions)


@dataclass(frozen=True)
class SuccessionRun:
    """The handler of a deprecated tool that works over its successor."""

    definition: Succession
    successor: ToolSpec = field(repr=False)
    run: Handler

    async def __call__(self, call: Call) -> Result:
        """Turn the arguments into the successor's, call it, and turn its answer back."""
        began = clock()
        try:
            arguments = await self._arguments(call.arguments)
        except (ExpressionError, ArgumentsError, PegboardError) as error:
            return self._not_adapted(str(error))
        except Exception as error:
            return self._not_adapted(f"{type(error).__name__}: {error}")
        result = await Inner.of(self.run, call).call(self.successor, arguments, key="successor")
        step = StepReport("successor", str(self.successor.name), status_of(result), seconds=clock() - began)
        report = replace(result.report or Report(), steps=(step,))
        if result.failure is not None:
            return replace(result, failure=self._over(result.failure), report=report)
        return self._answer(call, replace(result, report=report))

    async def _arguments(self, old: JsonObject) -> JsonObject:
        args = self.definition.args
        if not isinstance(args, Template):
            return await args(old)
        found = cast("dict[str, Json]", args.render({"input": _with_nulls(old, args)}))
        return {key: value for key, value in found.items() if value is not None}

    def _answer(self, call: Call, result: Result) -> Result:
        value = self.definition.value
        if value is None:
            return result
        scope: dict[str, Json] = {"input": dict(call.arguments), "result": payload(result)}
        try:
            return replace(result, value=value.render(scope), content=())
        except ExpressionError as error:
            note = f"The answer is {self.successor.name}'s own: it could not be turned into the old form ({error})."
            report = result.report or Report()
            return replace(result, report=replace(report, notes=(*report.notes, note)))

    def _over(self, failure: Failure) -> Failure:
        where = None if failure.code is FailureCode.INVALID_ARGUMENTS else failure.where
        return replace(failure, message=f"It works over {self.successor.name}: {failure.message}", where=where)

    def _not_adapted(self, reason: str) -> Result:
        return Result.failed(
            FailureCode.FAILED,
            f"These arguments could not be turned into those of {self.successor.name}: {reason} Nothing was done.",
            next_step=f"Call {self.successor.name} itself.",
        )


def _with_nulls(old: JsonObject, args: Template) -> dict[str, Json]:
    """The old arguments; those that the adapter reads and that were not given are null."""
    read = {str(path[0]): None for one in args.expressions for root, path in one.paths if root == "input" and path}
    return {**read, **old}


def succeeded_by(
    successor: object, *, note: str = "", sunset: str | date | None = None, name: str | None = None
) -> Callable[[Callable[P, object]], Tool]:
    """Make a deprecated tool of a function from its arguments to those of the tool that does the work now.

    Parameters:
        successor: the new tool (a function, a tool or a name).
        note: how to migrate; by default only what to call instead.
        sunset: the last day on which the old name answers.
        name: the old name; by default the function's.

    Raises:
        DefinitionError: the sunset is no day.
    """
    last = _day(sunset)

    def decorate(function: Callable[P, object]) -> Tool:
        inferred = infer(function)

        async def adapt(old: JsonObject) -> JsonObject:
            positional, named = inferred.parameters.bind(inferred.parameters.accept(old))
            found: Any = function(*positional, **named)  # pyright: ignore[reportCallIssue]
            return cast("JsonObject", _plain(await found if inspect.isawaitable(found) else found))

        definition = Succession(
            name=ToolName.parse(name or function.__name__),
            successor=tool_name(successor),
            args=adapt,
            note=note,
            sunset=last,
            input=inferred.input,
            description=inferred.docstring.description,
        )
        return Unbound.tool(definition, definition.description)

    return decorate


def _day(value: str | date | None) -> str | None:
    if value is None:
        return None
    try:
        return (date.fromisoformat(value) if isinstance(value, str) else value).isoformat()
    except ValueError:
        raise DefinitionError(
            f"The sunset {value!r} is no day.", where="sunset", next_step="Write it as 2027-01-31."
        ) from None


def _plain(value: Any) -> Json:
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)
