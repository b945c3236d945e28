"""OpenTelemetry GenAI spans, as OTLP JSON: one line a run, a document of its own.

Source: open-telemetry/semantic-conventions-genai, docs/gen-ai/execute-tool.md, state 2026-11; OTLP 1.x JSON encoding.
What the names there cannot say of a call stands in `pegboard.record`, so that nothing is lost.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, result_of
from pegboard.trace.importers.otel import RECORD
from pegboard.trace.otel import error_type
from pegboard.trace.plain import call_to_json
from pegboard.trace.record import CallRecord, Run

_NANOS = 1_000_000_000
_ALWAYS = ("turn", "segment", "group", "parent", "ok", "failure", "error")
_SAID = ("id", "tool", "arguments", "result", "started", "seconds")


def lines(run: Run) -> Iterator[str]:
    """One line: an OTLP document with a span for the run and one for each call."""
    trace = _hex(run.id, 32)
    root = _hex(f"{run.id}/", 16)
    spans = {call.id: _hex(f"{run.id}/{place}", 16) for place, call in enumerate(run.calls)}
    rows = [_root(run, trace, root), *(_span(run, call, trace, root, spans, at) for at, call in enumerate(run.calls))]
    resource = {"attributes": [_attribute("service.name", run.source)]} if run.source else {}
    document = {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "pegboard"}, "spans": rows}]}]
    }
    yield json.dumps(document, ensure_ascii=False, default=str)


def _root(run: Run, trace: str, id: str) -> dict[str, Any]:
    messages = [{"role": "user", "parts": [{"type": "text", "content": words}]} for words in run.user_messages or ()]
    said = {"gen_ai.input.messages": messages} if run.user_messages is not None else {}
    return {
        "traceId": trace,
        "spanId": id,
        "name": "invoke_agent",
        "kind": 1,
        "attributes": [
            _attribute(name, value)
            for name, value in {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.conversation.id": run.id,
                "gen_ai.agent.name": run.agent,
                **said,
            }.items()
            if value is not None
        ],
        "status": {},
    }


def _span(run: Run, call: CallRecord, trace: str, root: str, spans: dict[str, str], place: int) -> dict[str, Any]:
    values = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": run.id,
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": _text(call.arguments),
        "gen_ai.tool.call.result": _text(call.result),
        "error.type": (error_type(call.failure) or "tool_error") if call.ok is False else None,
        RECORD: json.dumps(_record(call), default=str),
    }
    return {
        "traceId": trace,
        "spanId": spans[call.id],
        "parentSpanId": spans.get(call.parent or "", root),
        "name": f"execute_tool {call.tool}",
        "kind": 1,
        **_times(call, place),
        "attributes": [_attribute(name, value) for name, value in values.items() if value is not None],
        "status": {"code": 2, "message": call.error or ""} if call.ok is False else {},
    }


def _record(call: CallRecord) -> dict[str, Json]:
    """What the other attributes do not say, and arguments or a result that would be read as something else."""
    more = {name: value for name, value in call_to_json(call).items() if name not in _SAID}
    if arguments_of(_text(call.arguments)) != call.arguments:
        more["arguments"] = call.arguments
    if result_of(_text(call.result)) != call.result:
        more["result"] = call.result
    return {**{name: getattr(call, name) for name in _ALWAYS}, **more}


def _text(value: Json) -> str | None:
    return None if value is None else json.dumps(value, default=str)


def _times(call: CallRecord, place: int) -> dict[str, str]:
    if call.started is None:
        return {}
    start = round(call.started * _NANOS)
    end = {"endTimeUnixNano": str(start + round(call.seconds * _NANOS))} if call.seconds is not None else {}
    return {"startTimeUnixNano": str(start), **end}


def _attribute(name: str, value: Json) -> dict[str, Json]:
    return {"key": name, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value, default=str)}}


def _hex(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
