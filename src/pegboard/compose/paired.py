"""A foreign tool previewed by another one that shows what it would change."""

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
from pegboard.errors import DefinitionError, PegboardError
from pegboard.schema.expression import ExpressionError
from pegboard.schema.template import Template
from pegboard.schema.types import Json, as_object


@dataclass(frozen=True)
class PairedRun:
    """The handler of a tool that another one previews.

    Parameters:
        inner: runs it in all other modes.
        run: the board's pipeline.
        preview: the tool that shows what it would change.
        args: that tool's arguments, over `input`.
        value: what is shown of its answer, over `result` and `input`; None: all of it.
    """

    inner: Handler
    run: Handler
    preview: ToolName
    args: Template
    value: Template | None = None

    async def __call__(self, call: Call) -> Result:
        """Preview by the other tool, through the board's pipeline; run in all other modes."""
        if call.mode is not Mode.PREVIEW:
            return await self.inner(call)
        scope = {"input": dict(call.arguments)}
        try:
            arguments = cast("dict[str, Json]", self.args.render(scope))
        except ExpressionError as problem:
            return _failed(f"The preview cannot be asked for: {problem}", Failure(FailureCode.INVALID_ARGUMENTS, ""))
        inner = Call(
            tool=self.preview,
            arguments={key: value for key, value in arguments.items() if value is not None},
            session=call.session,
            parent=call.id,
            group=call.group,
        )
        result = await self.run(inner)
        if result.failure is not None:
            return _failed(f"{self.preview}, which previews this tool, failed: {result.failure}", result.failure)
        report = result.report or Report()
        note = f"{self.preview} showed this. Nothing was changed."
        told = replace(report, notes=(*report.notes, note), data={**report.data, "previewed_by": str(self.preview)})
        return self._shown(replace(result, report=told, mode=Mode.PREVIEW), scope)

    def _shown(self, result: Result, scope: Mapping[str, Json]) -> Result:
        if self.value is None:
            return result
        try:
            return replace(result, value=self.value.render({**scope, "result": result.value}), content=())
        except ExpressionError as problem:
            return _failed(f"The preview cannot be read: {problem}", Failure(FailureCode.UPSTREAM, ""))


def _failed(message: str, cause: Failure) -> Result:
    step = cause.next_step or "Call with mode dry_run instead, or ask whoever runs the board."
    failure = replace(cause, message=f"{message.rstrip('.')}. Nothing was changed.", next_step=step)
    return Result(failure=failure, mode=Mode.PREVIEW)


def paired(tool: Tool, preview: ToolSpec, run: Handler, args: Template | None = None, value: Json = None) -> Tool:
    """A tool that another one previews; where its effects hurt, that is its default.

    Parameters:
        tool: the tool.
        preview: the tool that shows what it would change.
        run: the board's pipeline.
        args: that tool's arguments, over `input`; None: those of the same name.
        value: a template for what is shown of its answer, over `result` and `input`.

    Raises:
        DefinitionError: the other tool changes something, or does not take these arguments.
    """
    if preview.effects in (Effects.DESTRUCTIVE, Effects.ADDITIVE, Effects.IDEMPOTENT):
        raise DefinitionError(
            f"{preview.name} is {preview.effects} itself, so it can preview nothing.",
            next_step="Name a tool that only reads.",
        )
    bare = without_modes(tool.spec)
    given = args or _same(bare, preview)
    check_arguments(given, without_modes(preview), "preview.args")
    handler = PairedRun(tool.handler, run, preview.name, given, None if value is None else Template.parse(value))
    return Tool(with_modes(bare, {*own_modes(tool.spec), Mode.PREVIEW}), handler)


def _same(spec: ToolSpec, preview: ToolSpec) -> Template:
    names = [name for name in without_modes(preview).properties if name in spec.properties and name.isidentifier()]
    return Template.parse({name: f"${{default(input.{name}, null)}}" for name in names})


def pair(
    tools: Sequence[Tool], previews: Sequence[tuple[str, str, Json]], run: Handler
) -> tuple[list[Tool], tuple[str, ...]]:
    """The tools, with previews where others give them, and what could not be paired.

    Parameters:
        tools: the tools of the board.
        previews: namespace, name (or glob) and the wish: a tool's name, or a table of `tool`, `args` and `value`.
        run: the board's pipeline.
    """
    catalog = Catalog.of(tools)
    aliases = AliasTable().extend([tool.name for tool in tools])
    odd: list[str] = []

    def changed(tool: Tool) -> Tool:
        wish = _wish(tool.name, previews)
        if wish is None or (isinstance(wish, str) and offers(tool.spec, Mode.PREVIEW)):
            return tool  # a parameter of its own does it
        try:
            return _paired(tool, wish, run, lambda name: _found(name, tool.name.namespace, catalog, aliases))
        except PegboardError as problem:
            odd.append(f"{tool.name} has no preview. {problem}")
            return tool

    return [changed(tool) for tool in tools], tuple(odd)


def _wish(name: ToolName, previews: Sequence[tuple[str, str, Json]]) -> Json:
    fitting = (wish for space, key, wish in previews if space == name.namespace and fnmatchcase(name.name, key))
    return next(fitting, None)


def _paired(tool: Tool, wish: Json, run: Handler, find: Callable[[str], ToolSpec]) -> Tool:
    table = {"tool": wish} if isinstance(wish, str) else as_object(wish)
    args = table.get("args")
    other = find(str(table["tool"]))
    return paired(tool, other, run, None if args is None else Template.parse(args), table.get("value"))


def _found(name: str, namespace: str, catalog: Catalog, aliases: AliasTable) -> ToolSpec:
    own = catalog.get(ToolName(namespace, name))
    if own is not None:
        return own.spec
    target = resolve(name, catalog, aliases)
    if isinstance(target, Unknown):
        near = f"Did you mean {', '.join(target.candidates)}?" if target.candidates else "Name a tool of the board."
        raise DefinitionError(f"There is no tool {name!r} to preview it.", where="preview", next_step=near)
    return catalog.tools[target].spec
