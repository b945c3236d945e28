"""OpenAI Chat messages: one line a conversation."""

import json
from collections.abc import Iterator
from typing import Any

from pegboard.trace.exporters.events import Said, answer_of, answered, arguments_text, as_text, events
from pegboard.trace.record import CallRecord, Run


def lines(run: Run) -> Iterator[str]:
    """One line: an object with the conversation's id, model and messages."""
    messages: list[dict[str, Any]] = []
    for event in events(run):
        if isinstance(event, Said):
            messages.append({"role": "user", "content": event.words})
        else:
            messages.append({"role": "assistant", "content": None, "tool_calls": [_call(call) for call in event.calls]})
            messages += [_answer(call) for call in event.calls if answered(call)]
    yield json.dumps({"conversation_id": run.id, "model": run.agent, "messages": messages}, ensure_ascii=False)


def _call(call: CallRecord) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments_text(call)}}


def _answer(call: CallRecord) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.id, "content": as_text(answer_of(call))}
