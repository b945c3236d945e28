"""Runs as plain JSON and back: one object a run, the fields of the records by name, defaults left out."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, cast

from pegboard.schema.types import Json, JsonObject
from pegboard.trace.record import CallRecord, Run


def run_to_json(run: Run) -> dict[str, Json]:
    """A run as one JSON object: the fields of `Run` and `CallRecord`; what has its default value is left out."""
    plain = _plain(run, _RUN_FIELDS)
    plain["calls"] = [_plain(call, _CALL_FIELDS) for call in run.calls]
    return plain


def run_from_json(plain: JsonObject) -> Run:
    """The run that `run_to_json` wrote; fields that no one here knows are kept in `meta`.

    Raises:
        ValueError: a field is missing or has the wrong type; the message names it.
    """
    calls = plain.get("calls", ())
    if not isinstance(calls, list | tuple):
        raise ValueError("calls: expected a list")
    records = tuple(call_from_json(call, index) for index, call in enumerate(cast("list[Json]", calls)))
    known = _known(plain, _RUN_FIELDS, skip="calls")
    if not isinstance(known.get("id"), str):
        raise ValueError("id: expected a text")
    return Run(calls=records, **known)


def call_from_json(plain: Json, index: int = 0) -> CallRecord:
    """The call that `run_to_json` wrote; `index` is its place, for an id where it has none and for errors.

    Raises:
        ValueError: it is no object, or names no tool.
    """
    if not isinstance(plain, Mapping):
        raise ValueError(f"calls[{index}]: expected an object")
    known = _known(cast("JsonObject", plain), _CALL_FIELDS)
    if not isinstance(known.get("tool"), str):
        raise ValueError(f"calls[{index}].tool: expected a text")
    known.setdefault("id", str(index))
    return CallRecord(**known)


def _by_name(kind: type[Any]) -> dict[str, "Field[Any]"]:
    return {item.name: item for item in fields(kind)}


_RUN_FIELDS = _by_name(Run)
_CALL_FIELDS = _by_name(CallRecord)


def _plain(record: Any, known: "Mapping[str, Field[Any]]") -> dict[str, Json]:
    plain: dict[str, Json] = {}
    for name, item in known.items():
        value = getattr(record, name)
        if name == "calls" or value == (item.default if item.default is not MISSING else {}):
            continue
        plain[name] = list(cast("tuple[Json, ...]", value)) if isinstance(value, tuple) else value
    return plain


def _known(plain: JsonObject, known: "Mapping[str, Field[Any]]", skip: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for name, value in plain.items():
        if name in known and name != skip:
            found[name] = tuple(cast("list[Json]", value)) if isinstance(value, list) and name in _TUPLES else value
        elif name != skip:
            more[name] = value
    if more:
        found["meta"] = {**cast("dict[str, Any]", found.get("meta") or {}), **more}
    return found


_TUPLES = frozenset({"values", "user_messages"})
