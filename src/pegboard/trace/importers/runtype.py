"""Runtype tool-call records: the answer of `executions/{id}/tool-calls`, or its rows.

Source: runtype-sdk 5.5 (`toolCalls[]`: `toolName`, `inputParameters`, `outputResult`, `iteration` ...).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, arr, first, obj, result_of, seconds, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.nodes import Node, NodeKind, Trees
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

_BAD = ("error", "failed", "failure", "timeout", "cancelled", "denied")


def matches(value: Json) -> bool:
    """Whether it is a record of a tool call, or holds a list of them."""
    return any(True for _ in _rows(value, {}))


def _rows(value: Json, outer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    row = obj(value)
    if "toolName" in row and ("inputParameters" in row or "outputResult" in row):
        yield {**outer, **row}
    context = {name: row[name] for name in ("executionId", "agentId", "model") if row.get(name) is not None}
    for inner in (*arr(row.get("toolCalls")), *arr(row.get("data")), *arr(obj(row.get("data")).get("toolCalls"))):
        yield from _rows(inner, {**outer, **context})


class CallAssembler:
    """Puts tool-call records together by execution.

    Parameters:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._trees = Trees()
        self._source = source
        self._count = 0

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one record: a call, or a list of them."""
        rows = list(_rows(record.value, {}))
        whole = record.where if len(rows) > 1 else self._source
        for row in rows:
            self._count += 1
            yield from self._trees.add(_node(row, whole, self._count))

    def finish(self) -> Iterable[Run | Skipped]:
        """Give all executions."""
        return self._trees.finish()


def _node(row: dict[str, Any], whole: str, number: int) -> Node:
    status, error = text(row.get("status")), text(row.get("errorMessage"))
    failed = bool(error) or (status or "").lower() in _BAD
    started = seconds(first(row, "startedAt", "createdAt"))
    took = row.get("executionTimeMs")
    ended = started + took / 1000 if started is not None and isinstance(took, int | float) else None
    iteration = row.get("iteration")
    cut = {"cut": True} if row.get("outputTruncated") or row.get("inputTruncated") else {}
    return Node(
        trace=text(row.get("executionId")) or whole,
        id=text(row.get("id")) or f"call-{number}",
        kind=NodeKind.TOOL,
        name=text(row["toolName"]) or "",
        start=started,
        end=seconds(row.get("completedAt")) or ended,
        order=f"{number:012}",
        call=text(row.get("toolCallId")),
        arguments=arguments_of(row.get("inputParameters")),
        result=result_of(row.get("outputResult")),
        ok=not failed if status is not None or failed or row.get("outputResult") is not None else None,
        error=error,
        agent=text(first(row, "agentId", "model")),
        source="runtype",
        turn=iteration if isinstance(iteration, int) else None,
        meta=cut,
    )


FORMAT = Format("runtype", "Runtype tool calls", matches, CallAssembler)
