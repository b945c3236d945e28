"""Spans as files hold them: OTLP JSON, what SDK console exporters print, and flat rows.

Source: OpenTelemetry protocol 1.x, JSON encoding (`resourceSpans`, typed values, ids in hexadecimal).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.schema.types import Json, digest
from pegboard.trace.importers.fields import arr, first, obj, seconds, text
from pegboard.trace.importers.nodes import Node, Trees
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

_FAILED = (2, "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span, whatever spelling it came in.

    Parameters:
        trace: the trace.
        id: its own id.
        parent: the span around it.
        name: its name.
        start: Unix seconds.
        end: Unix seconds.
        attributes: by dotted name.
        failed: whether its status is an error.
        message: what the status says.
        events: its events, each with a name and attributes.
        service: the service that wrote it.
    """

    trace: str
    id: str
    parent: str | None = None
    name: str = ""
    start: float | None = None
    end: float | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict[str, Any])
    failed: bool = False
    message: str | None = None
    events: tuple[Mapping[str, Json], ...] = ()
    service: str | None = None


def spans_of(value: Json) -> Iterator[Span]:
    """The spans of a record: of an OTLP document, or the one that it is."""
    row = obj(value)
    groups = first(row, "resourceSpans", "resource_spans", "batches")
    if groups is None:
        found = _span(row, {})
        if found is not None:
            yield found
        return
    for group in map(obj, arr(groups)):
        resource = attributes_of(obj(group.get("resource")).get("attributes"))
        scopes = first(group, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for scope in map(obj, arr(scopes)):
            for row in map(obj, arr(scope.get("spans"))):
                found = _span(row, resource)
                if found is not None:
                    yield found


def _span(row: dict[str, Any], resource: Mapping[str, Json]) -> Span | None:
    context = obj(row.get("context") or row.get("spanContext"))
    id = text(first(row, "spanId", "span_id", "context.span_id") or first(context, "span_id", "spanId"))
    if id is None and not isinstance(row.get("attributes"), dict | list):
        return None
    trace = text(first(row, "traceId", "trace_id", "context.trace_id") or first(context, "trace_id", "traceId"))
    status = obj(row.get("status"))
    code = first(status, "code", "status_code") or row.get("status_code")
    own = obj(row.get("resource")).get("attributes")
    return Span(
        trace=trace or "",
        id=id or digest(row)[:16],
        parent=text(first(row, "parentSpanId", "parent_span_id", "parent_id", "parentId")),
        name=text(row.get("name")) or "",
        start=seconds(first(row, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
        end=seconds(first(row, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        attributes={**attributes_of(row.get("attributes")), **_flat_columns(row)},
        failed=code in _FAILED,
        message=text(first(status, "message", "description") or row.get("status_message")),
        events=tuple(_event(obj(event)) for event in arr(row.get("events"))),
        service=text({**resource, **attributes_of(own)}.get("service.name")),
    )


def _flat_columns(row: dict[str, Any]) -> dict[str, Json]:
    """Columns such as `attributes.tool.name`, as tables of spans have them."""
    return {name[11:]: value for name, value in row.items() if name.startswith("attributes.") and value is not None}


def _event(row: dict[str, Any]) -> Mapping[str, Json]:
    return {"name": row.get("name"), "attributes": attributes_of(row.get("attributes"))}


def attributes_of(value: Json) -> dict[str, Json]:
    """Attributes by dotted name: from OTLP's list of typed values, or from an object, nested or not."""
    if isinstance(value, list):
        return {str(row.get("key")): typed(row.get("value")) for row in map(obj, arr(value))}
    found: dict[str, Json] = {}
    _flatten(obj(value), "", found)
    return found


def _flatten(row: dict[str, Any], prefix: str, found: dict[str, Json]) -> None:
    for name, value in row.items():
        path = f"{prefix}{name}"
        found[path] = value
        if isinstance(value, dict):
            _flatten(obj(value), f"{path}.", found)


def typed(value: Json) -> Json:
    """An OTLP value (`{"stringValue": ...}`, `{"kvlistValue": ...}` ...) as plain JSON."""
    row = obj(value)
    for name, read in _TYPED.items():
        if name in row:
            return read(row[name])
    return None if not row else value


def _list(value: Json) -> Json:
    return [typed(each) for each in arr(obj(value).get("values"))]


def _table(value: Json) -> Json:
    return {str(row.get("key")): typed(row.get("value")) for row in map(obj, arr(obj(value).get("values")))}


def _same(value: Json) -> Json:
    return value


def _int(value: Json) -> Json:
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else value


_TYPED: Mapping[str, Callable[[Json], Json]] = {
    "stringValue": _same,
    "string_value": _same,
    "intValue": _int,
    "int_value": _int,
    "doubleValue": _same,
    "double_value": _same,
    "boolValue": _same,
    "bool_value": _same,
    "arrayValue": _list,
    "array_value": _list,
    "kvlistValue": _table,
    "kvlist_value": _table,
    "bytesValue": _same,
}


Convention = Callable[[Span], Node | None]
"""Reads a span's attributes by one set of names; None where they are not there."""

_CONVENTIONS: list[Convention] = []


def convention(read: Convention) -> Convention:
    """Register a convention: a trace may follow several, span by span."""
    _CONVENTIONS.append(read)
    return read


class SpanAssembler:
    """Puts spans together into runs, by whichever convention each span follows.

    Parameters:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._trees = Trees()
        self._source = source

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one record: a span, or a document of many."""
        for span in spans_of(record.value):
            node = next((node for read in _CONVENTIONS if (node := read(span)) is not None), None)
            node = node or plain(span)
            yield from self._trees.add(node if node.trace else replace(node, trace=self._source))

    def finish(self) -> Iterable[Run | Skipped]:
        """Give all runs."""
        return self._trees.finish()


def plain(span: Span, **more: Any) -> Node:
    """A node of a span: what every convention shares; `more` are other fields of `Node`."""
    base: dict[str, Any] = {
        "trace": span.trace,
        "id": span.id,
        "parent": span.parent or None,
        "name": span.name,
        "start": span.start,
        "end": span.end,
        "source": span.service,
    }
    return Node(**{**base, **more})


def failure_of(span: Span) -> str | None:
    """What a span says went wrong: its status, or the exception that it recorded."""
    if span.message:
        return span.message
    for event in span.events:
        if event.get("name") == "exception":
            attributes = obj(event.get("attributes"))
            return text(first(attributes, "exception.message", "exception.type"))
    return None
