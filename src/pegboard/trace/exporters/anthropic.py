"""Anthropic messages: one line a conversation."""

import json
from collections.abc import Iterator
from typing import Any

from pegboard.trace.exporters.events import Said, answer_of, answered, as_text, events
from pegboard.trace.record import CallRecord, Run


def lines(run: Run) -> Iterator[str]:
    """One line: an object with the conversation's id, model and messages."""
    messages: list[dict[str, Any]] = []
    for event in events(run):
        if isinstance(event, Said):
            messages.append({"role": "user", "content": event.words})
            continue
        messages.append({"role": "assistant", "content": [_call(call) for call in event.calls]})
        results = [_answer(call) for call in event.calls if answered(call)]
        if results:
            messages.append({"role": "user", "content": results})
    yield json.dumps({"conversation_id": run.id, "model": run.agent, "messages": messages}, ensure_ascii=False)


def _call(call: CallRecord) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments or {}}


def _answer(call: CallRecord) -> dict[str, Any]:
    failed = {"is_error": True} if call.ok is False else {}
    return {"type": "tool_result", "tool_use_id": call.id, "content": as_text(answer_of(call)), **failed}
