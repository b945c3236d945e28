"""Anthropic Messages: message lists, and logged requests with their responses.

Source: the Anthropic API reference, Messages (`tool_use` and `tool_result` blocks, server tools).
"""

from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.conversation import Conversation
from pegboard.trace.importers.fields import arguments_of, arr, content_text, first, obj, result_of, seconds, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.messages import Dialect, MessageAssembler

USES = ("tool_use", "server_tool_use", "mcp_tool_use")


def matches(value: Json) -> bool:
    """Whether it is a message with tool blocks, or holds one."""
    row = obj(value)
    inner = arr(row.get("messages") or obj(row.get("request")).get("messages"))
    return any(_is_message(obj(message)) for message in (row, *inner))


def accepts(value: Json) -> bool:
    """Whether it may stand between such messages."""
    row = obj(value)
    return matches(value) or row.get("role") in ("user", "assistant", "system") and "tool_calls" not in row


def _is_message(row: dict[str, Any]) -> bool:
    kinds = [obj(block).get("type") for block in arr(row.get("content"))]
    return row.get("role") in ("user", "assistant") and any(kind in USES or is_result(kind) for kind in kinds)


def is_result(kind: Any) -> bool:
    """Whether a block is the answer of a tool, client or server side."""
    return isinstance(kind, str) and kind.endswith("tool_result")


def add(conversation: Conversation, message: dict[str, Any]) -> None:
    """Take one message into a conversation."""
    time = seconds(first(message, "timestamp", "created_at"))
    if message.get("role") == "assistant":
        conversation.message()
    elif message.get("role") == "user":
        words = spoken(message.get("content"))
        if words is not None:
            conversation.user(words)
    add_blocks(conversation, message.get("content"), time)


def spoken(content: Json) -> str | None:
    """What the user said; None for a message that only brings results."""
    kinds = [obj(block).get("type") for block in arr(content)]
    if kinds and all(is_result(kind) for kind in kinds):
        return None
    return content_text(
        [block for block in arr(content) if not is_result(obj(block).get("type"))] if kinds else content
    )


def add_blocks(conversation: Conversation, content: Json, time: float | None, **more: Any) -> None:
    """Take the tool blocks of a message's content; `more` are other fields of its calls."""
    for block in map(obj, arr(content)):
        kind = block.get("type")
        if kind in USES:
            name = text(block.get("name")) or str(kind)
            spaces = [part for part in (text(first(block, "toolset_name", "server_name")), name) if part]
            arguments = arguments_of(block.get("input"))
            conversation.call(text(block.get("id")), ".".join(spaces), arguments, started=time, **more)
        elif is_result(kind):
            failed = block.get("is_error") is True or str(obj(block.get("content")).get("type")).endswith("_error")
            answer = result_of(block.get("content"))
            conversation.result(text(block.get("tool_use_id")), answer, ok=not failed, time=time)


_DIALECT = Dialect(add)
FORMAT = Format(
    "anthropic", "Anthropic messages", matches, lambda source: MessageAssembler(source, _DIALECT), accepts=accepts
)
