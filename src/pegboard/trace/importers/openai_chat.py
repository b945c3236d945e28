"""OpenAI Chat Completions: message lists, and logged requests with their responses.

Source: the OpenAI API reference, Chat Completions (`tool_calls`, `role: tool`).
"""

from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.conversation import Conversation
from pegboard.trace.importers.fields import arguments_of, arr, content_text, first, obj, result_of, seconds, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.messages import Dialect, MessageAssembler


def matches(value: Json) -> bool:
    """Whether it is a message with calls or an answer of this API, or holds one."""
    row = obj(value)
    inner = arr(row.get("messages") or obj(row.get("request")).get("messages"))
    answers = [obj(choice).get("message") for choice in arr(row.get("choices"))]
    return any(_is_message(obj(message)) for message in (row, *inner, *answers))


def accepts(value: Json) -> bool:
    """Whether it may stand between such messages."""
    row = obj(value)
    blocks = [str(obj(part).get("type")) for part in arr(row.get("content"))]
    foreign = any(kind.endswith(("tool_use", "tool_result")) for kind in blocks)
    return matches(value) or row.get("role") in _ROLES and not foreign


_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def _is_message(row: dict[str, Any]) -> bool:
    if row.get("role") in ("tool", "function") and ("tool_call_id" in row or "name" in row):
        return True
    calls = arr(row.get("tool_calls"))
    return bool(calls) and ("function" in obj(calls[0]) or "custom" in obj(calls[0]))


def add(conversation: Conversation, message: dict[str, Any]) -> None:
    """Take one message into a conversation."""
    time = seconds(first(message, "created_at", "timestamp", "created"))
    match message.get("role"):
        case "user":
            conversation.user(content_text(message.get("content")))
        case "assistant":
            conversation.message()
            for call in map(obj, arr(message.get("tool_calls"))):
                _add_call(conversation, call, time)
        case "tool" | "function":
            answer = result_of(message.get("content"))
            conversation.result(text(first(message, "tool_call_id", "name")), answer, time=time)
        case _:
            pass


def _add_call(conversation: Conversation, call: dict[str, Any], time: float | None) -> None:
    function = obj(call.get("function") or call.get("custom"))
    name = text(function.get("name"))
    if name:
        conversation.call(text(call.get("id")), name, arguments_of(first(function, "arguments", "input")), started=time)


_DIALECT = Dialect(add)
FORMAT = Format(
    "openai-chat", "OpenAI Chat messages", matches, lambda source: MessageAssembler(source, _DIALECT), accepts=accepts
)
