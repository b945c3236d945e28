"""Composite results: what a model reads of the parts, and what the whole comes to."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pegboard.core import Failure, FailureCode, ItemReport, Report, Status, StepReport
from pegboard.schema.types import Json, JsonObject, Schema

_NOTES = 20

REPORT_CHOICES = ("all", "failures_only", "summary")

FAILURE_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "where": {"type": ["string", "null"]},
        "next_step": {"type": ["string", "null"]},
        "retryable": {"type": "boolean"},
    },
    "required": ["code", "message"],
}


def failure_json(failure: Failure) -> dict[str, Json]:
    """A failure as a part of a composite shows it: without details, and without what is not set."""
    whole = failure.to_json()
    return {key: value for key, value in whole.items() if key != "details" and value not in (None, False)}


def item_json(item: ItemReport, *, with_input: bool) -> dict[str, Json]:
    """One item of a batch, as a model reads it."""
    shown: dict[str, Json] = {"index": item.index, "status": item.status.value}
    if with_input or item.status is not Status.OK:
        shown["input"] = item.input
    if item.status is Status.OK:
        shown["value"] = item.value
    if item.failure is not None:
        shown["error"] = failure_json(item.failure)
    return shown


def notes_of(parts: Iterable[tuple[str, Report | None]], *, kind: str = "") -> tuple[str, ...]:
    """What the parts of a composite said of their own answers, each sentence once with the parts that said it.

    A part that left records out would otherwise look whole. How parts of a part went is left to their own reports.

    Parameters:
        parts: name and report of each part that succeeded.
        kind: what a part is called before its name.
    """
    said: dict[str, list[str]] = {}
    for name, report in parts:
        for note in report.notes if report is not None else ():
            if not note.startswith("Steps: "):
                said.setdefault(note, []).append(name)
    lines = [f"{f'{kind} ' if kind else ''}{_few(names)}: {note}" for note, names in said.items()]
    return (*lines[:_NOTES], *([f"{len(lines) - _NOTES} more notes are not shown."] if len(lines) > _NOTES else []))


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def items_value(report: Report, choice: str, retry: JsonObject | None, *, whole: str) -> dict[str, Json]:
    """The value of a batch.

    Parameters:
        report: how each item ended.
        choice: `all`, `failures_only` or `summary`.
        retry: the arguments of the call that would run what did not succeed, or None.
        whole: `ok`, `partial` or `failed`.
    """
    value: dict[str, Json] = {"status": whole, "counts": report.counts}
    match choice:
        case "summary":
            value["failures"] = failures_by_kind(report.items)
        case "failures_only":
            value["items"] = [item_json(item, with_input=True) for item in report.items if item.status is not Status.OK]
        case _:
            value["items"] = [item_json(item, with_input=False) for item in report.items]
    if report.notes:
        value["notes"] = list(report.notes)
    if retry is not None:
        value["retry"] = dict(retry)
    return value


def failures_by_kind(items: Sequence[ItemReport]) -> list[dict[str, Json]]:
    """The failures of a batch by code and message, most frequent first, each with the indexes that it struck."""
    groups: dict[tuple[str, str], list[int]] = {}
    for item in items:
        if item.failure is not None:
            groups.setdefault((item.failure.code.value, item.failure.message), []).append(item.index)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[1]))
    return [
        {"code": code, "message": message, "count": len(indexes), "indexes": indexes[:20]}
        for (code, message), indexes in ordered
    ]


def whole_status(statuses: Sequence[Status]) -> str:
    """`ok` where every part succeeded, `failed` where none did, else `partial`."""
    good = sum(status is Status.OK for status in statuses)
    if good == len(statuses):
        return "ok"
    return "partial" if good else "failed"


def common_code(failures: Sequence[Failure]) -> FailureCode:
    """The code for a whole of which every part failed: the most frequent one, the first seen of equals."""
    counted = Counter(failure.code for failure in failures)
    return max(counted, key=lambda code: counted[code]) if counted else FailureCode.FAILED


def steps_line(steps: Sequence[StepReport]) -> str:
    """The steps of a bundle in one line: `users ok, room failed, sent skipped`."""
    return ", ".join(f"{step.id} {step.status.value.replace('_', ' ')}" for step in steps)


def composite_output(properties: Mapping[str, Any], required: Sequence[str]) -> Schema:
    """The output schema of a composite: an object with these properties."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}
