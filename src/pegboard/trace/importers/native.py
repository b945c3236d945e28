"""Pegboard's own JSON Lines: one run a line, the fields of `Run` and `CallRecord` by name."""

from typing import cast

from pegboard.schema.types import Json
from pegboard.trace.codec import run_from_json
from pegboard.trace.importers.format import EachRecord, Format
from pegboard.trace.record import Run


def matches(value: Json) -> bool:
    """Whether it is an object with an id and a list of calls that name a tool."""
    if not isinstance(value, dict) or "id" not in value:
        return False
    calls = cast("dict[str, Json]", value).get("calls")
    return isinstance(calls, list) and (not calls or isinstance(calls[0], dict) and "tool" in calls[0])


def run_of(value: Json, _source: str) -> Run:
    """The run of one record.

    Raises:
        ValueError: a field is missing or has the wrong type.
    """
    return run_from_json(cast("dict[str, Json]", value))


FORMAT = Format("pegboard", "Pegboard runs", matches, lambda source: EachRecord(source, run_of), independent=True)
