"""Neutral run records: one run a line, results as excerpts with the scalars that later calls used.

Fields of a run: `run_id, source, task, agent, success, calls`; of a call: `tool, args, ok, result_excerpt,
result_values, parallel_group, turn, seg, args_lost`.
"""

from collections.abc import Mapping
from typing import Any, cast

from pegboard.schema.types import Json
from pegboard.trace.importers.format import EachRecord, Format
from pegboard.trace.plain import call_from_json
from pegboard.trace.record import CallRecord, Run

EXCERPT = 300
"""An excerpt of this many characters or more stands for a longer result."""


def matches(value: Json) -> bool:
    """Whether it has a run id and calls with `args`."""
    if not isinstance(value, dict) or "run_id" not in value:
        return False
    calls = cast("dict[str, Json]", value).get("calls")
    return isinstance(calls, list) and (not calls or isinstance(calls[0], dict) and "args" in calls[0])


def run_of(value: Json, source: str) -> Run:
    """The run of one record.

    Raises:
        ValueError: a call is no object, or names no tool.
    """
    plain = cast("dict[str, Any]", value)
    calls = cast("list[Any]", plain["calls"])
    return Run(
        id=str(plain["run_id"]),
        calls=tuple([_call(call, index) for index, call in enumerate(calls)]),
        source=plain.get("source") or source,
        task=_text(plain.get("task")),
        agent=_text(plain.get("agent")),
        success=plain.get("success"),
    )


def _call(plain: Any, index: int) -> CallRecord:
    if not isinstance(plain, dict):
        raise ValueError(f"calls[{index}]: expected an object")
    get = cast("dict[str, Any]", plain).get
    tool, excerpt, values, group = get("tool"), get("result_excerpt"), get("result_values"), get("parallel_group")
    if not isinstance(tool, str):
        raise ValueError(f"calls[{index}].tool: expected a text")
    return call_from_json(
        {
            "id": str(index),
            "tool": tool,
            "arguments": None if get("args_lost") else get("args"),
            "result": excerpt,
            "ok": get("ok"),
            "group": None if group is None else str(group),
            "turn": get("turn"),
            "segment": get("seg") or 0,
            "values": values or None,
            "meta": _CUT if isinstance(excerpt, str) and len(excerpt) >= EXCERPT else _WHOLE,
        }
    )


_CUT: Mapping[str, Any] = {"cut": True}
_WHOLE: Mapping[str, Any] = {}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


FORMAT = Format("neutral", "neutral run records", matches, lambda source: EachRecord(source, run_of), independent=True)
