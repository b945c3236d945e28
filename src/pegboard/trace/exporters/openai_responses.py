"""OpenAI Responses items: one line a conversation."""

import json
from collections.abc import Iterator
from typing import Any

from pegboard.trace.exporters.events import Said, answer_of, answered, arguments_text, as_text, events
from pegboard.trace.record import CallRecord, Run


def lines(run: Run) -> Iterator[str]:
    """One line: an object with the conversation's id, model and items; messages of the model part those of one turn."""
    items: list[dict[str, Any]] = []
    for event in events(run):
        if isinstance(event, Said):
            words = [{"type": "input_text", "text": event.words}]
            items.append({"type": "message", "role": "user", "content": words})
        else:
            items += [_call(call) for call in event.calls]
            items += [_answer(call) for call in event.calls if answered(call)]
            items.append({"type": "message", "role": "assistant", "content": []})
    yield json.dumps({"conversation_id": run.id, "model": run.agent, "items": items}, ensure_ascii=False)


def _call(call: CallRecord) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": arguments_text(call)}


def _answer(call: CallRecord) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call.id, "output": as_text(answer_of(call))}
