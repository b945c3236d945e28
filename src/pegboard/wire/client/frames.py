"""One line of a server's stdout, read leniently: a message, a mended message, or junk."""

import json
from collections.abc import AsyncIterator
from typing import Any, cast

from anyio.abc import AsyncResource
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

MAX_FRAME = 64 * 1024 * 1024
"""Bytes of the longest line that is kept; a longer one is dropped and counted as junk."""


NO_JSON = (b"NaN", b"Infinity")
"""Words that some servers write as numbers and no JSON has; they may also stand in texts."""


class Junk(str):
    """The beginning of a line that is no message."""

    __slots__ = ()


async def read_lines(stream: AsyncResource, *, limit: int = MAX_FRAME) -> AsyncIterator[bytes | Junk]:
    """The lines of a byte stream, without their ends; the unfinished last line is dropped.

    Raises: whatever the stream's `receive` raises at its end is left to the caller.
    """
    parts: list[bytes] = []
    size = 0
    async for chunk in cast("AsyncIterator[bytes]", stream):
        start = 0
        while (end := chunk.find(b"\n", start)) != -1:
            parts.append(chunk[start:end])
            yield b"".join(parts) if size + end - start <= limit else Junk("a line longer than the limit")
            parts, size, start = [], 0, end + 1
        size += len(chunk) - start
        if size <= limit:
            parts.append(chunk[start:])
        else:
            parts.clear()


def read_frame(line: bytes) -> list[SessionMessage] | Junk:
    """Read one line. A batch (2025-03-26) gives several messages, an empty line none.

    An answer whose envelope is broken becomes an error for its own id, so that the caller does not wait in vain.
    """
    text = line.strip()
    if not text:
        return []
    if text[:1] not in (b"{", b"["):
        return _junk(text)
    if any(word in text for word in NO_JSON):
        return _mend(text)
    try:
        return [SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))]
    except ValidationError:
        return _mend(text)


def _junk(text: bytes) -> Junk:
    return Junk(text[:200].decode("utf-8", "replace"))


def _mend(text: bytes) -> list[SessionMessage] | Junk:
    try:
        value = json.loads(plain(text))
    except (ValueError, RecursionError):
        return _junk(text)
    rows = cast("list[Any]", value) if isinstance(value, list) else [value]
    messages = [message for row in rows if (message := _message(row)) is not None]
    return [SessionMessage(message) for message in messages] or _junk(text)


def plain(text: bytes) -> bytes:
    """The same JSON as every peer can read it: NaN and infinities as null, what is no UTF-8 replaced.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    value = json.loads(text.decode("utf-8", "replace"), parse_constant=lambda _name: None)
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _message(row: Any) -> JSONRPCMessage | None:
    if not isinstance(row, dict):
        return None
    frame = {**cast("dict[str, Any]", row), "jsonrpc": "2.0"}
    try:
        return jsonrpc_message_adapter.validate_python(frame, by_name=False)
    except ValidationError:
        return _broken_answer(frame)


def _broken_answer(frame: dict[str, Any]) -> JSONRPCError | None:
    id_ = frame.get("id")
    if isinstance(id_, bool) or not isinstance(id_, int | str) or not frame.keys() & {"result", "error"}:
        return None
    error = frame.get("error")
    words = cast("dict[str, Any]", error).get("message") if isinstance(error, dict) else error
    message = str(words) if words else "The server's answer is not a valid JSON-RPC response."
    return JSONRPCError(jsonrpc="2.0", id=id_, error=ErrorData(code=INTERNAL_ERROR, message=message))
