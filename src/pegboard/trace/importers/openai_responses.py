"""OpenAI Responses: items, in lists or one a line, and logged requests with their responses.

Source: the OpenAI API reference, Responses (item types).
"""

from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.conversation import Conversation
from pegboard.trace.importers.fields import arguments_of, arr, content_text, first, obj, result_of, seconds, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.messages import Dialect, MessageAssembler

_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "mcp_call": "arguments",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "tool_search_call": "arguments",
}
_OUTPUTS = (*(f"{kind}_output" for kind in _CALLS), "tool_search_output")
_OTHERS = (
    "message",
    "reasoning",
    "program",
    "program_output",
    "mcp_list_tools",
    "mcp_approval_request",
    "item_reference",
)
_LISTS = ("input", "items", "output")


def matches(value: Json) -> bool:
    """Whether it is a call or an output of this API, or holds one."""
    row = obj(value)
    held = (item for name in _LISTS for item in (*arr(row.get(name)), *arr(obj(row.get("response")).get(name))))
    return any(_is_item(obj(item)) for item in (row, *held))


def accepts(value: Json) -> bool:
    """Whether it may stand between such items."""
    row = obj(value)
    return (
        matches(value) or row.get("type") in _OTHERS or row.get("role") in ("user", "system", "developer", "assistant")
    )


def _is_item(row: dict[str, Any]) -> bool:
    kind = text(row.get("type"))
    if kind in _CALLS:
        return "call_id" in row or "id" in row
    return kind in _OUTPUTS and "call_id" in row


def add(conversation: Conversation, item: dict[str, Any]) -> None:
    """Take one item into a conversation."""
    kind = text(item.get("type"))
    if kind in _CALLS:
        _add_call(conversation, item, str(kind))
    elif kind in _OUTPUTS:
        time = seconds(first(item, "created_at", "timestamp"))
        conversation.result(text(item.get("call_id")), result_of(first(item, "output", "tools")), time=time)
        conversation.expect_message()
    elif item.get("role") == "user":
        conversation.user(content_text(item.get("content")))
    elif item.get("role") == "assistant" and isinstance(item.get("output"), list):
        for inner in item["output"]:
            add(conversation, obj(inner))
    elif kind == "message":
        conversation.expect_message()


def _add_call(conversation: Conversation, item: dict[str, Any], kind: str) -> None:
    name = text(item.get("name")) or kind.removesuffix("_call")
    spaces = [part for part in (text(first(item, "namespace", "server_label")), name) if part]
    id = text(first(item, "call_id", "id"))
    conversation.begin_message()
    conversation.call(
        id,
        ".".join(spaces),
        arguments_of(item.get(_CALLS[kind])),
        started=seconds(first(item, "created_at", "timestamp")),
    )
    if kind == "mcp_call" and ("output" in item or "error" in item):
        error = item.get("error")
        told = text(error) or text(obj(error).get("message")) if error else None
        conversation.result(id, result_of(item.get("output")), ok=not error, error=told)


_DIALECT = Dialect(add, _LISTS)
FORMAT = Format(
    "openai-responses",
    "OpenAI Responses items",
    matches,
    lambda source: MessageAssembler(source, _DIALECT),
    accepts=accepts,
)
