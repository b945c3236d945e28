"""Codex rollouts: one JSON line an event, a file a session.

Source: rollout files of `~/.codex/sessions` as public fixtures show them; the items are those of OpenAI Responses.
"""

from collections.abc import Iterable
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers import openai_responses
from pegboard.trace.importers.conversation import Conversation
from pegboard.trace.importers.fields import content_text, first, obj, text
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")


def matches(value: Json) -> bool:
    """Whether it is an event with a payload."""
    row = obj(value)
    return row.get("type") in _TYPES and isinstance(row.get("payload"), dict)


class RolloutAssembler:
    """Puts the lines of one rollout together.

    Parameters:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._conversation = Conversation(id=source, source="codex")
        self._ended: list[Run] = []
        self._heard: str | None = None

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one line; a second session in the file ends the first."""
        row = obj(record.value)
        payload: dict[str, Any] = {"timestamp": row.get("timestamp"), **obj(row.get("payload"))}
        match row.get("type"):
            case "session_meta":
                return self._begin(payload)
            case "turn_context":
                self._conversation.agent = text(payload.get("model")) or self._conversation.agent
            case "response_item":
                self._item(payload)
            case "event_msg" if payload.get("type") == "user_message":
                self._said(text(first(payload, "message", "text")) or "")
            case _:
                pass
        return ()

    def finish(self) -> Iterable[Run | Skipped]:
        """Give the session."""
        return () if self._conversation.empty else (self._conversation.run(),)

    def _begin(self, meta: dict[str, Any]) -> Iterable[Run | Skipped]:
        id = text(first(meta, "id", "session_id"))
        ended = self.finish() if id and id != self._conversation.id else ()
        if id and id != self._conversation.id:
            where = text(meta.get("cwd"))
            self._conversation = Conversation(id=id, source="codex", meta={"cwd": where} if where else {})
            self._heard = None
        return ended

    def _item(self, item: dict[str, Any]) -> None:
        if item.get("role") == "user":
            self._said(content_text(item.get("content")))
        else:
            openai_responses.add(self._conversation, item)

    def _said(self, words: str) -> None:
        """A user message stands there twice, as an item and as an event; what the client injects is no user's."""
        if words.lstrip().startswith("<") or words == self._heard:
            return
        self._heard = words
        self._conversation.user(words)


FORMAT = Format("codex", "Codex rollouts", matches, RolloutAssembler)
