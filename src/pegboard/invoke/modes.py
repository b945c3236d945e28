"""The mode of a call: chosen here, answered here where no handler is needed, and compared with its preview after."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias

from pegboard.core import (
    Call,
    Effects,
    FailureCode,
    Handler,
    Health,
    Middleware,
    Mode,
    Report,
    Result,
    SourceState,
    ToolName,
    ToolSpec,
    default_mode,
    offers,
    take_mode,
)
from pegboard.core.mode import mode_parameter
from pegboard.invoke.lookup import SpecOf
from pegboard.schema.compare import differences
from pegboard.schema.types import Json, JsonObject, digest
from pegboard.schema.walk import look_up

HealthOf: TypeAlias = Callable[[ToolSpec], Awaitable[Health]]
"""How a tool's source is right now."""

UPSTREAM_SHAPE = "pegboard/upstream_shape"
"""The key of `spec.meta` under which an adapter keeps the upstream's own input shape, for the mode schema."""

_REMEMBERED = 256


def modes(spec_of: SpecOf) -> Middleware:
    """Choose each call's mode, answer `schema` at once, refuse modes that the tool does not have.

    It stands outside of the guard: after it, `Call.mode` is set and the arguments hold no mode. After an execute it
    compares the result with the preview that the same session saw for the same arguments.
    """
    previews = _Previews()

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool)
            if spec is None:
                return await next_handler(call)
            named, arguments = take_mode(spec, call.arguments)
            mode = call.mode or named or default_mode(spec)
            chosen = replace(call, mode=mode, arguments=arguments)
            if mode is Mode.SCHEMA and not offers(spec, Mode.SCHEMA):
                return shape_of(spec, arguments)
            refusal = _refusal(spec, mode)
            if refusal is not None:
                return refusal
            result = await next_handler(chosen)
            result = result if result.mode is mode else replace(result, mode=mode)
            return previews.compared(spec, chosen, _shown(spec, result))

        return handle

    return wrap


def dry_run(health_of: HealthOf, spec_of: SpecOf) -> Middleware:
    """Answer `dry_run` for every tool that does not itself: by here the guard, policy and budget have passed.

    It stands just before the handler is called.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool) if call.mode is Mode.DRY_RUN else None
            if spec is None or offers(spec, Mode.DRY_RUN):
                return await next_handler(call)
            return _checked(spec, await health_of(spec))

        return handle

    return wrap


def shape_of(spec: ToolSpec, arguments: JsonObject) -> Result:
    """The answer to the mode `schema`: the upstream's own input shape, or the part at the argument `pointer`."""
    shape: Json = spec.meta.get(UPSTREAM_SHAPE)
    if shape is None:
        shape = spec.original_input if spec.original_input is not None else spec.input
    at = arguments.get("pointer")
    if isinstance(at, str) and at:
        found, shape = look_up(shape, at)
        if not found:
            return Result(
                mode=Mode.SCHEMA,
                failure=Result.failed(
                    FailureCode.INVALID_ARGUMENTS,
                    f"The input shape has nothing at {at!r}.",
                    where="/pointer",
                    next_step="Call again without `pointer` for the whole shape.",
                ).failure,
            )
    return Result(value=shape, mode=Mode.SCHEMA, report=Report(notes=("Nothing was called.",)))


def _refusal(spec: ToolSpec, mode: Mode) -> Result | None:
    if mode in (Mode.EXECUTE, Mode.DRY_RUN) or offers(spec, mode):
        return None
    if mode is Mode.PREVIEW and spec.effects is Effects.READ_ONLY:
        return None  # it changes nothing, so running it is the preview
    own = [*spec.modes, Mode.EXECUTE.value] if spec.modes else [Mode.DRY_RUN.value, Mode.SCHEMA.value, "execute"]
    refused = Result.failed(
        FailureCode.INVALID_ARGUMENTS,
        f"{spec.name} has no {mode.value}. Nothing was done.",
        where="/mode",
        next_step=f"It has: {', '.join(dict.fromkeys(own))}.",
    )
    return replace(refused, mode=mode)


def _checked(spec: ToolSpec, health: Health) -> Result:
    checks: dict[str, Json] = {"arguments": "valid", "policy": "passed", "source": health.state.value}
    if spec.auth:
        checks["auth"] = spec.auth
    if health.reason:
        checks["reason"] = health.reason
    report = Report(data={"dry_run": checks}, notes=("Nothing was executed.",))
    if health.state in (SourceState.UNAVAILABLE, SourceState.DISABLED):
        failed = Result.failed(
            FailureCode.UNAVAILABLE,
            f"The arguments are valid, but {spec.source.name} is {health.state.value}"
            + (f": {health.reason}" if health.reason else "."),
            next_step="Wait, or check_service_health.",
            retryable=True,
        )
        return replace(failed, mode=Mode.DRY_RUN, report=report)
    said = "; ".join(f"{name}: {value}" for name, value in checks.items())
    block = {"type": "text", "text": f"Dry run of {spec.name}: {said}. Nothing was executed."}
    return Result(content=(block,), report=report, mode=Mode.DRY_RUN)


def _shown(spec: ToolSpec, result: Result) -> Result:
    """A preview that says so: its value looks like that of an execute, and a model may read nothing else."""
    if result.mode is not Mode.PREVIEW or result.failure is not None or spec.effects is Effects.READ_ONLY:
        return result
    name = mode_parameter(spec)
    go_on = f' Call it again with {name} = "execute" to do it.' if name else ""
    return _with_note(result, f"This is a preview: nothing was changed.{go_on}")


def _with_note(result: Result, note: str) -> Result:
    report = result.report or Report()
    return replace(result, report=replace(report, notes=(note, *report.notes)))


class _Previews:
    """The last previews, so that an execute can say how it differed. They are few and forgotten in order."""

    def __init__(self) -> None:
        self.values: OrderedDict[tuple[str, ToolName, str], Json] = OrderedDict()

    def compared(self, spec: ToolSpec, call: Call, result: Result) -> Result:
        """Remember a preview; after an execute, say how it differed from the preview before it."""
        if not offers(spec, Mode.PREVIEW) or result.failure is not None:
            return result
        if result.report is not None and result.report.data.get("prepared"):
            return result  # a request that was not sent says nothing of what it would do
        key = (call.session.id, call.tool, digest(call.arguments))
        if call.mode is Mode.PREVIEW:
            self.values[key] = result.value
            self.values.move_to_end(key)
            if len(self.values) > _REMEMBERED:
                self.values.popitem(last=False)
            return result
        if call.mode is not Mode.EXECUTE:
            return result
        comparison = self._comparison(key, result)
        return result if comparison is None else _with_note(_with_data(result, comparison), _said(comparison))

    def _comparison(self, key: tuple[str, ToolName, str], result: Result) -> dict[str, Any] | None:
        if key not in self.values:
            return None
        found = differences(self.values.pop(key), result.value)
        return {
            "seen": True,
            "same": not found,
            "differs": [{"where": where, "preview": before, "execute": after} for where, before, after in found],
        }


def _said(comparison: dict[str, Any]) -> str:
    places = [str(place["where"] or "/") for place in comparison["differs"]]
    if not places:
        return "It did what the preview showed."
    more = f" and {len(places) - 5} more places" if len(places) > 5 else ""
    return f"It differed from the preview at {', '.join(places[:5])}{more}."


def _with_data(result: Result, comparison: dict[str, Any]) -> Result:
    report = result.report or Report()
    return replace(result, report=replace(report, data={**report.data, "preview": comparison}))
