"""OpenTelemetry GenAI and MCP spans.

Source: open-telemetry/semantic-conventions-genai, docs/gen-ai (`execute_tool`, `chat`, `invoke_agent`; messages with
parts of type `tool_call` and `tool_call_response`) and docs/gen-ai/mcp.md, state 2026-11, all in development.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, arr, first, obj, read_json, result_of, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.nodes import Asked, Node, NodeKind
from pegboard.trace.importers.otlp import Span, SpanAssembler, convention, failure_of, plain, spans_of
from pegboard.trace.record import CallRecord

_MODEL = ("chat", "generate_content", "text_completion")
_AGENT = ("invoke_agent", "create_agent", "invoke_workflow")


def matches(value: Json) -> bool:
    """Whether a span of it follows these names; also any other OTLP document, whose spans may enclose such."""
    row = obj(value)
    return any(name in row for name in ("resourceSpans", "resource_spans")) or any(map(_known, spans_of(value)))


def _known(span: Span) -> bool:
    return any(name.startswith(("gen_ai.", "mcp.", "pegboard.")) for name in span.attributes)


@convention
def node_of(span: Span) -> Node | None:
    """The node of a span that follows these names."""
    get = span.attributes.get
    operation = get("gen_ai.operation.name")
    base = {"session": text(get("gen_ai.conversation.id")), "agent": text(get("gen_ai.agent.name"))}
    if operation == "execute_tool" or get("mcp.method.name") == "tools/call":
        return _tool(span, base)
    if operation in _MODEL:
        return _model(span, base)
    return plain(span, kind=NodeKind.AGENT, users=_said(get), **base) if operation in _AGENT else None


def _tool(span: Span, base: Mapping[str, str | None]) -> Node:
    get = span.attributes.get
    error = text(get("error.type"))
    ok = not (error or span.failed)
    return plain(
        span,
        kind=NodeKind.TOOL,
        name=text(get("gen_ai.tool.name")) or span.name.partition(" ")[2] or span.name,
        call=text(get("gen_ai.tool.call.id")),
        arguments=arguments_of(get("gen_ai.tool.call.arguments")),
        result=result_of(get("gen_ai.tool.call.result")),
        ok=ok,
        error=None if ok else failure_of(span) or error,
        exact=_exact(read_json(get(RECORD))),
        meta={name: value for name, value in span.attributes.items() if _kept(name)},
        **base,
    )


RECORD = "pegboard.record"
"""What the record of a call holds beyond the names above, as JSON; our exporter writes it."""
_FIELDS = frozenset(item.name for item in fields(CallRecord))


def _exact(value: Json) -> dict[str, Any]:
    found = {name: inner for name, inner in obj(value).items() if name in _FIELDS}
    if isinstance(found.get("values"), list):
        found["values"] = tuple(arr(found["values"]))
    return found


def _kept(name: str) -> bool:
    return name in ("gen_ai.tool.type", "mcp.session.id") or name.startswith("pegboard.") and name != RECORD


def _model(span: Span, base: Mapping[str, str | None]) -> Node:
    get = span.attributes.get
    return plain(
        span,
        kind=NodeKind.MODEL,
        **{**base, "agent": base["agent"] or text(get("gen_ai.request.model"))},
        asked=tuple(_asked(messages_of(get("gen_ai.output.messages")))),
        users=_said(get),
        answers=_answers(messages_of(get("gen_ai.input.messages"))),
    )


def _said(get: Callable[[str], Json]) -> tuple[str, ...] | None:
    """The user's messages among those that went in; None where they were not recorded."""
    seen = get("gen_ai.input.messages")
    if seen is None:
        return None
    rows = (message for message in messages_of(seen) if message.get("role") == "user")
    return tuple(words for row in rows if (words := _words(row)) is not None)


def messages_of(value: Json) -> list[dict[str, Any]]:
    """The messages of an attribute, given as JSON or as the text of it."""
    return [obj(message) for message in arr(read_json(value))]


def _parts(message: Mapping[str, Json]) -> list[dict[str, Any]]:
    return [obj(part) for part in arr(message.get("parts"))]


def _words(message: Mapping[str, Json]) -> str | None:
    """What a user message says; None for one that only brings answers."""
    texts = [text(first(part, "content", "text")) for part in _parts(message) if part.get("type") == "text"]
    return "\n".join(each for each in texts if each) if texts else text(message.get("content"))


def _asked(messages: list[dict[str, Any]]) -> Iterator[Asked]:
    for message in messages:
        for part in _parts(message):
            if part.get("type") == "tool_call":
                name = text(part.get("name")) or ""
                yield Asked(id=text(part.get("id")), tool=name, arguments=arguments_of(part.get("arguments")))


def _answers(messages: list[dict[str, Any]]) -> dict[str, Json]:
    parts = [part for message in messages for part in _parts(message) if part.get("type") == "tool_call_response"]
    return {text(part.get("id")) or "": result_of(first(part, "response", "result")) for part in parts}


FORMAT = Format("otel", "OpenTelemetry GenAI spans (OTLP JSON)", matches, SpanAssembler)
