"""An old conversation for a new request: what names tools that the request no longer has is said in words.

The API refuses a request whose history refers to a tool that is not in its `tools` ("Tool reference ... not found in
available tools"), so one server that went away would end every session that used it.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pegboard.schema.types import Json, JsonObject, as_list, as_object


def history(messages: Iterable[JsonObject], tools: Iterable[JsonObject]) -> list[dict[str, Any]]:
    """The messages, with calls of missing tools and their results as text, in pairs, and dangling references left out.

    What a result said is kept. Messages that name present tools alone come back as they are.

    Parameters:
        messages: the conversation so far.
        tools: the `tools` of the next request.
    """
    names = {str(tool.get("name")) for tool in tools}
    blocks = [as_object(block) for message in messages for block in as_list(message.get("content"))]
    lost = {
        str(block.get("id")) for block in blocks if block.get("type") == "tool_use" and block.get("name") not in names
    }
    return [_message(message, names, lost) for message in messages]


def _message(message: JsonObject, names: set[str], lost: set[str]) -> dict[str, Any]:
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    return {**message, "content": [_block(as_object(block), names, lost) for block in as_list(content)]}


def _block(block: Mapping[str, Any], names: set[str], lost: set[str]) -> dict[str, Any]:
    match block.get("type"):
        case "tool_use" if str(block.get("id")) in lost:
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
            return _text(f"(I called {block.get('name')}, which is no longer there, with {arguments}.)")
        case "tool_result" if str(block.get("tool_use_id")) in lost:
            return _text(f"(It answered: {_words(block.get('content'))})")
        case "tool_result":
            return _without(block, "content", names)
        case "tool_search_tool_result":
            inner = as_object(block.get("content"))
            return {**block, "content": _without(inner, "tool_references", names, bare=True)} if inner else dict(block)
        case _:
            return dict(block)


def _without(block: Mapping[str, Any], key: str, names: set[str], *, bare: bool = False) -> dict[str, Any]:
    """The block without references to tools that are not there; one with no others left says so."""
    rows = block.get(key)
    if not isinstance(rows, list):
        return dict(block)
    kept = [row for row in as_list(rows) if not _dangles(row, names)]
    if not kept and rows and not bare:
        kept = [_text("The tools that were found are no longer there.")]
    return {**block, key: kept}


def _dangles(row: Json, names: set[str]) -> bool:
    found = as_object(row)
    return found.get("type") == "tool_reference" and found.get("tool_name") not in names


def _words(content: Json) -> str:
    if isinstance(content, str):
        return content
    parts = [as_object(part) for part in as_list(content)]
    return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in parts) or "nothing"


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
