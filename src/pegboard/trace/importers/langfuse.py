"""Langfuse observations: one object an observation, in exports and API answers, or inside their traces.

Source: langfuse 5 API reference (`type`, `traceId`, `parentObservationId`, `input`, `output`, `level`).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, arr, content_text, first, obj, result_of, seconds, text, walk
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.nodes import Asked, Node, NodeKind, Trees
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

_TYPES = {"TOOL": NodeKind.TOOL, "GENERATION": NodeKind.MODEL, "AGENT": NodeKind.AGENT}
_OTHERS = ("SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")


def matches(value: Json) -> bool:
    """Whether it is an observation, or holds a list of them."""
    return any(True for _ in _rows(value, {}))


def _rows(value: Json, outer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    row = obj(value)
    kind = text(row.get("type"))
    if (kind in _TYPES or kind in _OTHERS) and first(row, "traceId", "trace_id", "parentObservationId") is not None:
        yield {**outer, **row}
    session = first(row, "sessionId", "session_id")
    for inner in (*arr(row.get("observations")), *arr(row.get("data"))):
        yield from _rows(inner, {"sessionId": session} if session else outer)


class ObservationAssembler:
    """Puts observations together by session or trace.

    Parameters:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._trees = Trees()

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one record: an observation, or a trace that holds its own."""
        for row in _rows(record.value, {}):
            yield from self._trees.add(_node(row))

    def finish(self) -> Iterable[Run | Skipped]:
        """Give all traces."""
        return self._trees.finish()


def _node(row: dict[str, Any]) -> Node:
    kind = _TYPES.get(str(row["type"]), NodeKind.OTHER)
    failed = row.get("level") == "ERROR"
    metadata = obj(row.get("metadata"))
    base: dict[str, Any] = {
        "trace": text(first(row, "traceId", "trace_id", "sessionId")) or "",
        "session": text(first(row, "sessionId", "session_id")),
        "id": text(row.get("id")) or "",
        "parent": text(first(row, "parentObservationId", "parent_observation_id")),
        "kind": kind,
        "name": text(row.get("name")) or "",
        "start": seconds(first(row, "startTime", "start_time")),
        "end": seconds(first(row, "endTime", "end_time")),
    }
    if kind is NodeKind.TOOL:
        base.update(
            call=text(first(metadata, "toolCallId", "tool_call_id")),
            arguments=arguments_of(row.get("input")),
            result=result_of(row.get("output")),
            ok=not failed,
            error=text(first(row, "statusMessage", "status_message")) if failed else None,
        )
    elif kind is NodeKind.MODEL:
        seen = [obj(message) for message in arr(obj(row.get("input")).get("messages") or row.get("input"))]
        base.update(
            agent=text(row.get("model")),
            asked=tuple(_asked(row.get("output"))),
            users=_users(seen),
            answers=_answers(seen),
        )
    return Node(**base)


def _users(seen: list[dict[str, Any]]) -> tuple[str, ...] | None:
    return tuple(content_text(row.get("content")) for row in seen if row.get("role") == "user") if seen else None


def _answers(seen: list[dict[str, Any]]) -> dict[str, Json]:
    return {text(row["tool_call_id"]) or "": result_of(row.get("content")) for row in seen if row.get("tool_call_id")}


def _asked(output: Json) -> Iterator[Asked]:
    for row in walk(output):
        for call in map(obj, arr(row.get("tool_calls"))):
            function = obj(call.get("function"))
            name = text(call.get("name")) or text(function.get("name"))
            given = first(call, "args", "arguments") or function.get("arguments")
            if name:
                yield Asked(id=text(call.get("id")), tool=name, arguments=arguments_of(given))


FORMAT = Format("langfuse", "Langfuse observations", matches, ObservationAssembler)
