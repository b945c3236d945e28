"""A foreign tool whose preview or exploration another one answers, which only reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import cast

from pegboard.catalog import AliasTable, Catalog, Unknown, resolve
from pegboard.compose.inputs import check_arguments
from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Handler,
    Mode,
    Report,
    Result,
    Tool,
    ToolName,
    ToolSpec,
    offers,
    with_modes,
    without_modes,
)
from pegboard.core.mode import own_modes
from pegboard.core.wish import Wish
from pegboard.errors import DefinitionError, PegboardError
from pegboard.schema.expression import ExpressionError
from pegboard.schema.template import Template
from pegboard.schema.types import Json, as_object


@dataclass(frozen=True)
class PairedRun:
    """The handler of a tool of which another one answers a mode.

    Parameters:
        inner: runs it in all other modes.
        run: the board's pipeline.
        mode: the mode that the other tool answers.
        other: the tool that shows what this one would change, or could do.
        args: that tool's arguments, over `input`.
        value: what is shown of its answer, over `result` and `input`; None: all of it.
    """

    inner: Handler
    run: Handler
    mode: Mode
    other: ToolName
    args: Template
    value: Template | None = None

    async def __call__(self, call: Call) -> Result:
        """Ask the other tool in its mode, through the board's pipeline; run in all other modes."""
        if call.mode is not self.mode:
            return await self.inner(call)
        scope = {"input": dict(call.arguments)}
        try:
            arguments = cast("dict[str, Json]", self.args.render(scope))
        except ExpressionError as problem:
            return self._failed(
                f"The {self.mode} cannot be asked for: {problem}", Failure(FailureCode.INVALID_ARGUMENTS, "")
            )
        inner = Call(
            tool=self.other,
            arguments={key: value for key, value in arguments.items() if value is not None},
            session=call.session.whole,
            parent=call.id,
            group=call.group,
        )
        result = await self.run(inner)
        if result.failure is not None:
            return self._failed(f"{self.other}, which answers this mode, failed: {result.failure}", result.failure)
        report = result.report or Report()
        note = f"{self.other} showed this. Nothing was changed."
        told = replace(report, notes=(*report.notes, note), data={**report.data, "shown_by": str(self.other)})
        return self._shown(replace(result, report=told, mode=self.mode), scope)

    def _shown(self, result: Result, scope: Mapping[str, Json]) -> Result:
        if self.value is None:
            return result
        try:
            return replace(result, value=self.value.render({**scope, "result": result.value}), content=())
        except ExpressionError as problem:
            return self._failed(f"The {self.mode} cannot be read: {problem}", Failure(FailureCode.UPSTREAM, ""))

    def _failed(self, message: str, cause: Failure) -> Result:
        step = cause.next_step or "Call with mode dry_run instead, or ask whoever runs the board."
        failure = replace(cause, message=f"{message.rstrip('.')}. Nothing was changed.", next_step=step)
        return Result(failure=failure, mode=self.mode)


def paired(
    tool: Tool,
    other: ToolSpec,
    run: Handler,
    args: Template | None = None,
    value: Json = None,
    *,
    mode: Mode = Mode.PREVIEW,
) -> Tool:
    """A tool of which another one answers a mode; where its effects hurt, a preview is its default.

    Parameters:
        tool: the tool.
        other: the tool that shows what it would change, or could do.
        run: the board's pipeline.
        args: that tool's arguments, over `input`; None: those of the same name.
        value: a template for what is shown of its answer, over `result` and `input`.
        mode: preview or explore.

    Raises:
        DefinitionError: the other tool changes something, or does not take these arguments.
    """
    if other.effects in (Effects.DESTRUCTIVE, Effects.ADDITIVE, Effects.IDEMPOTENT):
        raise DefinitionError(
            f"{other.name} is {other.effects} itself, so it can show nothing.", next_step="Name a tool that only reads."
        )
    bare = without_modes(tool.spec)
    given = args or _same(bare, other)
    check_arguments(given, without_modes(other), f"{mode}.args")
    shown = None if value is None else Template.parse(value)
    handler = PairedRun(tool.handler, run, mode, other.name, given, shown)
    return Tool(with_modes(bare, {*own_modes(tool.spec), mode}), handler)


def _same(spec: ToolSpec, other: ToolSpec) -> Template:
    names = [name for name in without_modes(other).properties if name in spec.properties and name.isidentifier()]
    return Template.parse({name: f"${{default(input.{name}, null)}}" for name in names})


def pair(tools: Sequence[Tool], wishes: Sequence[Wish], run: Handler) -> tuple[list[Tool], tuple[str, ...]]:
    """The tools, with the modes that others answer for them, and what could not be paired.

    Parameters:
        tools: the tools of the board.
        wishes: what the config says of them.
        run: the board's pipeline.
    """
    catalog = Catalog.of(tools)
    aliases = AliasTable().extend([tool.name for tool in tools])
    odd: list[str] = []

    def find(name: str, namespace: str) -> ToolSpec:
        return _found(name, namespace, catalog, aliases)

    def changed(tool: Tool) -> Tool:
        for mode in (Mode.PREVIEW, Mode.EXPLORE):
            wish = _wish(tool.name, mode, wishes)
            if wish is None or (isinstance(wish.by, str) and offers(tool.spec, mode)):
                continue  # it answers the mode itself, perhaps by a parameter of its own
            try:
                tool = _paired(tool, wish, run, find)
            except PegboardError as problem:
                odd.append(f"{tool.name} has no {mode}. {problem}")
        return tool

    return [changed(tool) for tool in tools], tuple(odd)


def _wish(name: ToolName, mode: Mode, wishes: Sequence[Wish]) -> Wish | None:
    fitting = (
        wish
        for wish in wishes
        if wish.mode is mode and wish.namespace == name.namespace and fnmatchcase(name.name, wish.name)
    )
    return next(fitting, None)


def _paired(tool: Tool, wish: Wish, run: Handler, find: Callable[[str, str], ToolSpec]) -> Tool:
    table = {"tool": wish.by} if isinstance(wish.by, str) else as_object(wish.by)
    args = table.get("args")
    other = find(str(table["tool"]), tool.name.namespace)
    given = None if args is None else Template.parse(args)
    return paired(tool, other, run, given, table.get("value"), mode=wish.mode)


def _found(name: str, namespace: str, catalog: Catalog, aliases: AliasTable) -> ToolSpec:
    own = catalog.get(ToolName(namespace, name))
    if own is not None:
        return own.spec
    target = resolve(name, catalog, aliases)
    if isinstance(target, Unknown):
        near = f"Did you mean {', '.join(target.candidates)}?" if target.candidates else "Name a tool of the board."
        raise DefinitionError(f"There is no tool {name!r} to show it.", where="tool", next_step=near)
    return catalog.tools[target].spec
