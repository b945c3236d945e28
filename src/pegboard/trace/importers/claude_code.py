"""Claude Code sessions: one JSON line a message block, a file a session, subagents as side chains.

Source: session files of `~/.claude/projects` as public parsers read them.
"""

from collections.abc import Iterable
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.anthropic import add_blocks, spoken
from pegboard.trace.importers.conversation import Conversation
from pegboard.trace.importers.fields import first, obj, seconds, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

_TYPES = (
    "assistant",
    "user",
    "summary",
    "system",
    "queue-operation",
    "file-history-snapshot",
    "progress",
    "attachment",
)


def matches(value: Json) -> bool:
    """Whether it is a line with a session id and a message."""
    row = obj(value)
    return row.get("type") in ("assistant", "user") and "sessionId" in row and isinstance(row.get("message"), dict)


def accepts(value: Json) -> bool:
    """Whether it may stand between such lines."""
    row = obj(value)
    return row.get("type") in _TYPES and ("sessionId" in row or "uuid" in row or "leafUuid" in row or "message" in row)


class SessionAssembler:
    """Puts the lines of sessions together; a subagent's side chain is a run of its own.

    Parameters:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._open: dict[str, Conversation] = {}
        self._last: dict[str, str | None] = {}
        self._chain: dict[str, str] = {}

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one line."""
        row = obj(record.value)
        message = obj(row.get("message"))
        if row.get("type") not in ("assistant", "user") or not message:
            return ()
        key = self._key(row)
        conversation = self._open.setdefault(key, _begin(row, key))
        time = seconds(row.get("timestamp"))
        if row["type"] == "assistant":
            self._begin_message(conversation, key, text(first(message, "id")) or text(row.get("requestId")))
            conversation.agent = conversation.agent or text(message.get("model"))
        else:
            self._heard(conversation, key, row, message)
        add_blocks(conversation, message.get("content"), time)
        return ()

    def finish(self) -> Iterable[Run | Skipped]:
        """Give the sessions."""
        return [conversation.run() for conversation in self._open.values() if not conversation.empty]

    def _key(self, row: dict[str, Any]) -> str:
        """The session, and for a side chain the line that it began with."""
        session = text(row.get("sessionId")) or self._source
        if not row.get("isSidechain"):
            return session
        uuid, parent = text(row.get("uuid")) or "", text(row.get("parentUuid"))
        root = text(row.get("agentId")) or self._chain.get(parent or "", uuid)
        self._chain[uuid] = root
        return f"{session}/{root}"

    def _begin_message(self, conversation: Conversation, key: str, id: str | None) -> None:
        """Lines of one message have one message id; its parallel calls stand on several lines."""
        if id is None or self._last.get(key) != id:
            conversation.message()
        self._last[key] = id

    def _heard(self, conversation: Conversation, key: str, row: dict[str, Any], message: dict[str, Any]) -> None:
        words = spoken(message.get("content"))
        if words is not None and not row.get("isMeta"):
            conversation.user(words)
            self._last[key] = None


def _begin(row: dict[str, Any], key: str) -> Conversation:
    where = text(row.get("cwd"))
    meta = {"cwd": where} if where else {}
    return Conversation(id=key, source="claude-code", meta={**meta, "sidechain": True} if "/" in key else meta)


FORMAT = Format("claude-code", "Claude Code sessions", matches, SessionAssembler, accepts=accepts)
