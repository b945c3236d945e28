"""OpenInference spans.

Source: openinference-semantic-conventions 0.1 (`openinference.span.kind`, `tool.*`, `input.value`, `llm.*_messages`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, arr, first, obj, read_json, result_of, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.nodes import Asked, Node, NodeKind
from pegboard.trace.importers.otlp import Span, SpanAssembler, convention, failure_of, plain, spans_of

KIND = "openinference.span.kind"
_KINDS = {"TOOL": NodeKind.TOOL, "LLM": NodeKind.MODEL, "AGENT": NodeKind.AGENT}


def matches(value: Json) -> bool:
    """Whether a span of it follows these names."""
    return any(KIND in span.attributes for span in spans_of(value))


@convention
def node_of(span: Span) -> Node | None:
    """The node of a span that follows these names."""
    get = span.attributes.get
    kind = text(get(KIND))
    if kind is None:
        return None
    session = text(get("session.id"))
    agent = text(first(dict(span.attributes), "agent.name", "llm.model_name"))
    match _KINDS.get(kind.upper(), NodeKind.OTHER):
        case NodeKind.TOOL:
            return _tool(span, session)
        case NodeKind.MODEL:
            seen = _messages(span.attributes, "llm.input_messages")
            return plain(
                span,
                session=session,
                kind=NodeKind.MODEL,
                agent=agent,
                asked=tuple(_asked(_messages(span.attributes, "llm.output_messages"))),
                users=_users(seen),
                answers=_answers(seen),
            )
        case other:
            return plain(span, session=session, kind=other, agent=agent)


def _tool(span: Span, session: str | None) -> Node:
    get = span.attributes.get
    given = first(dict(span.attributes), "input.value", "tool.parameters")
    return plain(
        span,
        session=session,
        kind=NodeKind.TOOL,
        name=text(get("tool.name")) or span.name,
        call=text(first(dict(span.attributes), "tool.id", "tool_call.id")),
        arguments=arguments_of(given),
        result=result_of(read_json(get("output.value"))),
        ok=not span.failed,
        error=failure_of(span) if span.failed else None,
    )


def _users(seen: list[dict[str, Any]]) -> tuple[str, ...] | None:
    return tuple(text(row.get("content")) or "" for row in seen if row.get("role") == "user") if seen else None


def _answers(seen: list[dict[str, Any]]) -> dict[str, Json]:
    return {text(row["tool_call_id"]) or "": result_of(row.get("content")) for row in seen if row.get("tool_call_id")}


def _messages(attributes: Mapping[str, Json], prefix: str) -> list[dict[str, Any]]:
    """Messages from numbered names such as `llm.output_messages.0.message.role`, or from a list."""
    whole = attributes.get(prefix)
    if isinstance(whole, list):
        return [obj(obj(row).get("message")) or obj(row) for row in arr(whole)]
    rows: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            number, _, rest = name[len(prefix) + 1 :].partition(".message.")
            if number.isdigit() and rest:
                rows.setdefault(int(number), {})[rest] = value
    return [rows[number] for number in sorted(rows)]


def _asked(messages: list[dict[str, Any]]) -> Iterator[Asked]:
    for message in messages:
        for call in _calls(message):
            name = text(first(call, "tool_call.function.name", "function.name", "name"))
            given = first(call, "tool_call.function.arguments", "function.arguments", "arguments")
            if name:
                id = text(first(call, "tool_call.id", "id"))
                yield Asked(id=id, tool=name, arguments=arguments_of(given))


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    whole = message.get("tool_calls")
    if isinstance(whole, list):
        return [_dotted(obj(row)) for row in arr(whole)]
    rows: dict[int, dict[str, Any]] = {}
    for name, value in message.items():
        number, _, rest = name.removeprefix("tool_calls.").partition(".")
        if name.startswith("tool_calls.") and number.isdigit():
            rows.setdefault(int(number), {})[rest] = value
    return [rows[number] for number in sorted(rows)]


def _dotted(row: dict[str, Any]) -> dict[str, Any]:
    inner = obj(row.get("tool_call")) or row
    function = obj(inner.get("function"))
    return {
        "id": inner.get("id"),
        "function.name": function.get("name"),
        "function.arguments": function.get("arguments"),
    }


FORMAT = Format("openinference", "OpenInference spans", matches, SpanAssembler)
