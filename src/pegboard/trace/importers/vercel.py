"""Vercel AI SDK spans.

Source: the SDK's telemetry page (`ai.toolCall` spans with `ai.toolCall.name|id|args|result`; model calls are
`ai.generateText`, `ai.streamText` and their `.doGenerate`, `.doStream`).
"""

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, arr, content_text, first, obj, read_json, result_of, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.nodes import Asked, Node, NodeKind
from pegboard.trace.importers.otlp import Span, SpanAssembler, convention, failure_of, plain, spans_of


def matches(value: Json) -> bool:
    """Whether a span of it follows these names."""
    return any(_known(span) for span in spans_of(value))


def _known(span: Span) -> bool:
    return "ai.operationId" in span.attributes or "ai.toolCall.name" in span.attributes


@convention
def node_of(span: Span) -> Node | None:
    """The node of a span that follows these names."""
    if not _known(span):
        return None
    get = span.attributes.get
    session = text(first(dict(span.attributes), "ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.chatId"))
    operation = text(get("ai.operationId")) or span.name
    if "ai.toolCall.name" in span.attributes:
        return plain(
            span,
            session=session,
            kind=NodeKind.TOOL,
            name=text(get("ai.toolCall.name")) or "",
            call=text(get("ai.toolCall.id")),
            arguments=arguments_of(first(dict(span.attributes), "ai.toolCall.args", "ai.toolCall.input")),
            result=result_of(read_json(first(dict(span.attributes), "ai.toolCall.result", "ai.toolCall.output"))),
            ok=not span.failed,
            error=failure_of(span) if span.failed else None,
        )
    if operation.endswith((".doGenerate", ".doStream")):
        return _model(span, session)
    return plain(span, session=session)


def _model(span: Span, session: str | None) -> Node:
    get = span.attributes.get
    seen = [obj(message) for message in arr(read_json(get("ai.prompt.messages")))]
    calls = [obj(call) for call in arr(read_json(get("ai.response.toolCalls")))]
    return plain(
        span,
        session=session,
        kind=NodeKind.MODEL,
        agent=text(first(dict(span.attributes), "ai.telemetry.functionId", "ai.model.id")),
        asked=tuple(
            Asked(
                id=text(call.get("toolCallId")),
                tool=text(call.get("toolName")) or "",
                arguments=arguments_of(first(call, "args", "input")),
            )
            for call in calls
        ),
        users=tuple(content_text(row.get("content")) for row in seen if row.get("role") == "user") if seen else None,
    )


FORMAT = Format("vercel", "Vercel AI SDK spans", matches, SpanAssembler)
