"""Call records as plain JSON objects and back: what stores and files hold."""

from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from typing import Any, cast

from pegboard.trace.record import CallRecord

# A frozen dataclass sets each field by a call, and names that come from JSON are matched against all parameters one
# by one; a million records are made four times faster as a plain twin of the same slots, which takes on the real class.
_Draft = make_dataclass("_Draft", [(item.name, Any) for item in fields(CallRecord)], slots=True)
_CALL_FIELDS = {field.name: field.default for field in fields(CallRecord)}
_NAMES = _CALL_FIELDS.keys()


def call_to_json(record: CallRecord) -> dict[str, Any]:
    """A record as a JSON object; fields that hold their default are left out."""
    row: dict[str, Any] = {}
    for name, default in _CALL_FIELDS.items():
        value = getattr(record, name)
        if name == "meta":
            if value:
                row[name] = dict(value)
        elif value != default or type(value) is not type(default):
            row[name] = list(value) if name == "values" else value
    return row


def call_from_json(row: Mapping[str, Any]) -> CallRecord:
    """The record that `call_to_json` wrote; fields of a newer version go to `meta`.

    Raises:
        ValueError: it has no id or no tool.
    """
    if not row.keys() <= _NAMES:
        row = _with_meta(row)
    get = row.get
    draft = cast("Any", object.__new__(_Draft))
    draft.id, draft.tool = get("id"), get("tool")
    if not isinstance(draft.id, str) or not isinstance(draft.tool, str):
        raise ValueError("A call needs an `id` and a `tool`.")
    draft.arguments, draft.result = get("arguments"), get("result")
    draft.ok, draft.failure, draft.error = get("ok"), get("failure"), get("error")
    draft.parent, draft.group, draft.turn, draft.segment = get("parent"), get("group"), get("turn"), get("segment") or 0
    draft.started, draft.seconds, draft.mode = get("started"), get("seconds"), get("mode")
    draft.source, draft.principal, draft.digest = get("source"), get("principal"), get("digest")
    draft.tokens = get("tokens")
    values, meta = get("values"), get("meta")
    draft.values = None if values is None else tuple(values)
    draft.meta = {} if meta is None else meta
    draft.__class__ = CallRecord
    return cast("CallRecord", draft)


def _with_meta(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row whose foreign fields stand in `meta`."""
    foreign = {key: value for key, value in row.items() if key not in _NAMES}
    known = {key: value for key, value in row.items() if key in _NAMES}
    return {**known, "meta": {**(known.get("meta") or {}), **foreign}}
