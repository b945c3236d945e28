"""Call records as plain JSON objects and back: what stores and files hold."""

from collections.abc import Mapping
from dataclasses import MISSING, field, fields, make_dataclass
from typing import Any

from pegboard.trace.record import CallRecord

# A frozen dataclass sets each field through a call; a million records are made in less than half the time as a plain
# twin of the same slots, which then takes on the real class.
_Draft = make_dataclass(
    "_Draft",
    [
        (item.name, Any, field(default_factory=item.default_factory))
        if item.default_factory is not MISSING
        else (item.name, Any, field(default=item.default))
        for item in fields(CallRecord)
    ],
    slots=True,
    kw_only=True,
)
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
    if not isinstance(row.get("id"), str) or not isinstance(row.get("tool"), str):
        raise ValueError("A call needs an `id` and a `tool`.")
    known: Mapping[str, Any] = row
    if not row.keys() <= _NAMES:
        foreign = {key: value for key, value in row.items() if key not in _NAMES}
        known = {key: value for key, value in row.items() if key in _NAMES}
        known["meta"] = {**(known.get("meta") or {}), **foreign}
    draft: Any = _Draft(**known)
    if draft.values is not None:
        draft.values = tuple(draft.values)
    draft.__class__ = CallRecord
    return draft
