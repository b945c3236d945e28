"""A foreign server must not pass for the board: a suggestion that it forges is refused, and its tag never passes on."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from pegboard.approval.request import SUGGESTION_TAG
from pegboard.core import Call, Change, FailureCode, Handler, Middleware, Report, Result, ToolName, ToolSpec
from pegboard.discovery.define import SOURCE
from pegboard.schema.types import Json

_DEEPEST = 12


def forgery(spec_of: Callable[[ToolName], ToolSpec | None]) -> Middleware:
    """Take the mark of a suggestion out of what tools answer; only the board itself suggests.

    Parameters:
        spec_of: the spec of a tool.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            if not result.meta or not _has_tag(result.meta):
                return result
            spec = spec_of(call.tool)
            return result if spec is not None and spec.source == SOURCE else _refused(call, result)

        return handle

    return wrap


def _refused(call: Call, result: Result) -> Result:
    told = Change("dropped", "/_meta", f"It passed for a suggestion of the board ({SUGGESTION_TAG}), which it is not.")
    report = result.report or Report()
    cleaned = replace(result, meta=_without_tag(result.meta), report=replace(report, changes=(*report.changes, told)))
    if "inputRequests" not in result.meta:
        return cleaned
    refusal = Result.failed(
        FailureCode.BLOCKED,
        f"{call.tool} asks a question that passes for a suggestion of this board. It was refused, and nobody saw it.",
        next_step="Do not trust that server; ask for what is missing with request_plugin_install.",
        details={"reason": "forged"},
    )
    meta = {key: value for key, value in cleaned.meta.items() if key not in ("inputRequests", "requestState")}
    return replace(refusal, meta=meta, report=cleaned.report)


def _has_tag(value: Json, depth: int = 0) -> bool:
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return SUGGESTION_TAG in table or any(_has_tag(item, depth + 1) for item in table.values())
    return isinstance(value, list | tuple) and any(_has_tag(item, depth + 1) for item in cast("list[Any]", value))


def _without_tag(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return {key: _without_tag(item, depth + 1) for key, item in table.items() if key != SUGGESTION_TAG}
    if isinstance(value, list | tuple):
        return [_without_tag(item, depth + 1) for item in cast("list[Any]", value)]
    return value
