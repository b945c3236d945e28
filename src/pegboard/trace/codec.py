"""Runs as plain JSON and back: one object a run, the fields of the records by name, defaults left out."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from pegboard.schema.types import Json, JsonObject
from pegboard.trace.plain import call_from_json, call_to_json
from pegboard.trace.record import CallRecord, Run

_NAMES = frozenset(item.name for item in fields(Run))


def run_to_json(run: Run) -> dict[str, Json]:
    """A run as one JSON object: the fields of `Run` and `CallRecord`; what has its default value is left out."""
    plain: dict[str, Json] = {"id": run.id}
    for name in ("source", "task", "agent", "success"):
        value = getattr(run, name)
        if value is not None:
            plain[name] = value
    if run.user_messages is not None:
        plain["user_messages"] = list(run.user_messages)
    if run.meta:
        plain["meta"] = dict(run.meta)
    return {**plain, "calls": [call_to_json(call) for call in run.calls]}


def run_from_json(plain: JsonObject) -> Run:
    """The run that `run_to_json` wrote; fields that no one here knows are kept in `meta`.

    Raises:
        ValueError: a field is missing or has the wrong type; the message names it.
    """
    calls = plain.get("calls", ())
    if not isinstance(calls, list | tuple):
        raise ValueError("calls: expected a list")
    if not isinstance(plain.get("id"), str):
        raise ValueError("id: expected a text")
    row = cast("dict[str, Any]", plain)
    get, said = row.get, row.get("user_messages")
    meta = cast("dict[str, Any]", get("meta", {}))
    if not plain.keys() <= _NAMES:
        meta = {**(meta or {}), **{name: value for name, value in plain.items() if name not in _NAMES}}
    return Run(
        id=row["id"],
        calls=tuple([_call(call, place) for place, call in enumerate(cast("list[Json]", calls))]),
        source=get("source"),
        task=get("task"),
        agent=get("agent"),
        success=get("success"),
        user_messages=tuple(cast("list[str]", said)) if isinstance(said, list) else said,
        meta=meta,
    )


def _call(plain: Json, place: int) -> CallRecord:
    """A call; one without an id is named by its place."""
    if not isinstance(plain, (dict, Mapping)):  # a plain dict is told far faster than any mapping
        raise ValueError(f"calls[{place}]: expected an object")
    row = cast("dict[str, Any]", plain)
    if not isinstance(row.get("tool"), str):
        raise ValueError(f"calls[{place}].tool: expected a text")
    return call_from_json(row if isinstance(row.get("id"), str) else {**row, "id": str(place)})
