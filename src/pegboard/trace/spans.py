"""Calls as OTLP spans, batch by batch as they happen: ids that stay the same, a root for each run, sent once.

Source: OpenTelemetry protocol 1.x, JSON encoding; names in `pegboard.trace.otel`.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from pegboard.schema.cut import json_text
from pegboard.trace import otel
from pegboard.trace.record import CallRecord, Run
from pegboard.trace.store import Entry

_NANOS = 1_000_000_000
_MOST_ROOTS = 100_000


class Spans:
    """Makes OTLP documents of finished calls.

    Parameters:
        service: the name of the service, in the resource.
        content: whether arguments and results go out too.
    """

    def __init__(self, service: str, *, content: bool = False) -> None:
        self._service, self._content = service, content
        self._roots: dict[str, None] = {}

    def document(self, entries: Sequence[Entry]) -> dict[str, Any]:
        """The document of one batch, with a root span for each run that is new."""
        rows: list[dict[str, Any]] = []
        for entry in entries:
            if entry.run not in self._roots:
                rows.append(self._root(entry))
            rows.append(self._span(entry))
        scope = {"scope": {"name": "pegboard"}, "spans": rows}
        resource = {"attributes": [_attribute("service.name", self._service)]}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}

    def _root(self, entry: Entry) -> dict[str, Any]:
        self._roots[entry.run] = None
        if len(self._roots) > _MOST_ROOTS:
            del self._roots[next(iter(self._roots))]
        named = {otel.OPERATION: "invoke_agent", otel.CONVERSATION_ID: entry.run, otel.AGENT_NAME: entry.agent}
        return {
            "traceId": trace_id(entry.run),
            "spanId": span_id(entry.run, ""),
            "name": f"invoke_agent {entry.agent}" if entry.agent else "invoke_agent",
            "kind": 1,
            **_times(entry.record),
            "attributes": [_attribute(name, value) for name, value in named.items() if value is not None],
            "status": {},
        }

    def _span(self, entry: Entry) -> dict[str, Any]:
        record = entry.record
        run = Run(id=entry.run, agent=entry.agent)
        values = otel.span_attributes(record, run, content=self._content)
        return {
            "traceId": trace_id(entry.run),
            "spanId": span_id(entry.run, record.id),
            "parentSpanId": span_id(entry.run, record.parent or ""),
            "name": otel.span_name(record),
            "kind": 1,
            **_times(record),
            "attributes": [_attribute(name, value) for name, value in values.items()],
            "status": {"code": 2, "message": record.error or ""} if record.ok is False else {},
        }


def trace_id(run: str) -> str:
    """The trace of a run: 32 hexadecimal digits."""
    return hashlib.sha256(run.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def span_id(run: str, call: str) -> str:
    """The span of a call, or with an empty one of the run itself: 16 hexadecimal digits."""
    return hashlib.sha256(f"{run}/{call}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _times(record: CallRecord) -> dict[str, str]:
    start = round((record.started or 0.0) * _NANOS)
    return {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + round((record.seconds or 0.0) * _NANOS))}


def _attribute(name: str, value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"key": name, "value": {"boolValue": value}}
        case int():
            return {"key": name, "value": {"intValue": str(value)}}
        case float():
            return {"key": name, "value": {"doubleValue": value}}
        case str():
            return {"key": name, "value": {"stringValue": value.encode("utf-8", "replace").decode()}}
        case _:
            return {"key": name, "value": {"stringValue": json_text(value)}}
