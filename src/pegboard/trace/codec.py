"""Runs as plain JSON and back: one object a run, the fields of the records by name, defaults left out."""

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from types import NoneType
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
    meta = cast("dict[str, Any]", get("meta") or {})
    if not plain.keys() <= _NAMES:
        meta = {**meta, **{name: value for name, value in plain.items() if name not in _NAMES}}
    run = Run(
        id=row["id"],
        calls=tuple([_call(call, place) for place, call in enumerate(cast("list[Json]", calls))]),
        source=get("source"),
        task=get("task"),
        agent=get("agent"),
        success=get("success"),
        user_messages=tuple(cast("list[str]", said)) if isinstance(said, list) else said,
        meta=meta,
    )
    _check(run, _RUN_TYPES)
    if not all(isinstance(text, str) for text in cast("tuple[Any, ...]", run.user_messages or ())):
        raise ValueError("user_messages: expected texts")
    return run


def _call(plain: Json, place: int) -> CallRecord:
    """A call; one without an id is named by its place."""
    if not isinstance(plain, (dict, Mapping)):  # a plain dict is told far faster than any mapping
        raise ValueError(f"calls[{place}]: expected an object")
    row = cast("dict[str, Any]", plain)
    if not isinstance(row.get("tool"), str):
        raise ValueError(f"calls[{place}].tool: expected a text")
    call = call_from_json(row if isinstance(row.get("id"), str) else {**row, "id": str(place)})
    types = tuple(map(type, _TYPED(call)))
    if types not in _sound:
        _check(call, _CALL_TYPES, f"calls[{place}].")
        _sound.add(types)
    return call


_TEXT: tuple[type, ...] = (str, NoneType)
_NUMBER: tuple[type, ...] = (int, float, NoneType)
_CALL_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("group", "parent", "failure", "error", "mode", "source", "principal", "digest"), _TEXT),
    **dict.fromkeys(("started", "seconds"), _NUMBER),
    **dict.fromkeys(("turn", "tokens"), (int, NoneType)),
    "ok": (bool, NoneType),
    "segment": (int,),
    "meta": (dict,),
}
_RUN_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("source", "task", "agent"), _TEXT),
    "success": (bool, NoneType),
    "meta": (dict,),
    "user_messages": (tuple, NoneType),
}
_TYPED = attrgetter(*_CALL_TYPES)
_sound: set[tuple[type, ...]] = set()
"""The types of fields that calls had and may have: with few exceptions all calls of a file have the same."""


def _check(record: CallRecord | Run, allowed: Mapping[str, tuple[type, ...]], where: str = "") -> None:
    for name, types in allowed.items():
        if type(getattr(record, name)) not in types:
            names = " or ".join("null" if kind is NoneType else kind.__name__ for kind in types)
            raise ValueError(f"{where}{name}: expected {names}")
