"""OpenLLMetry (Traceloop) spans.

Source: opentelemetry-semantic-conventions-ai 0.5 (`traceloop.span.kind`, `traceloop.entity.*`).
"""

from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, obj, read_json, result_of, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.nodes import Node, NodeKind
from pegboard.trace.importers.otlp import Span, SpanAssembler, convention, failure_of, plain, spans_of

KIND = "traceloop.span.kind"
_SESSION = ("traceloop.association.properties.session_id", "traceloop.association.properties.conversation_id")


def matches(value: Json) -> bool:
    """Whether a span of it follows these names."""
    return any(KIND in span.attributes for span in spans_of(value))


@convention
def node_of(span: Span) -> Node | None:
    """The node of a span that follows these names."""
    get = span.attributes.get
    kind = get(KIND)
    if kind is None:
        return None
    session = next((found for name in _SESSION if (found := text(get(name)))), None)
    name = text(get("traceloop.entity.name")) or span.name
    if kind == "tool":
        return plain(
            span,
            session=session,
            kind=NodeKind.TOOL,
            name=name,
            arguments=_given(read_json(get("traceloop.entity.input"))),
            result=_answered(read_json(get("traceloop.entity.output"))),
            ok=not span.failed,
            error=failure_of(span) if span.failed else None,
        )
    return plain(span, session=session, kind=NodeKind.AGENT if kind == "agent" else NodeKind.OTHER, name=name)


def _given(value: Json) -> Json:
    """The arguments: inside `inputs`, `kwargs` or a list of arguments, or the value itself."""
    row = obj(value)
    inner: Any = row.get("inputs", row.get("input_str"))
    if inner is not None:
        return arguments_of(inner)
    if "kwargs" in row and "args" in row:
        return row["kwargs"] or ({"args": row["args"]} if row["args"] else {})
    return value


def _answered(value: Json) -> Json:
    row = obj(value)
    return result_of(row["output"]) if set(row) & {"output"} and set(row) <= {"output", "kwargs"} else value


FORMAT = Format("openllmetry", "OpenLLMetry spans", matches, SpanAssembler)
