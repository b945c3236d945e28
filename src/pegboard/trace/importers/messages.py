"""Files of messages: a list a conversation, an object with a list of them, or one message a line."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.trace.importers.conversation import Conversation
from pegboard.trace.importers.fields import arr, first, obj, text
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one API writes messages.

    Parameters:
        add: takes one message into a conversation.
        lists: the fields under which a record holds several messages, in the order in which they were written.
    """

    add: Callable[[Conversation, dict[str, Any]], None]
    lists: tuple[str, ...] = ("messages",)


class MessageAssembler:
    """Puts messages together into conversations.

    Single messages belong to one conversation if they come from one array, or carry one conversation id; the lines of
    a file that carry none are one conversation.

    Parameters:
        source: the file's name.
        dialect: how the messages are written.
    """

    def __init__(self, source: str, dialect: Dialect) -> None:
        self._source = source
        self._dialect = dialect
        self._open: dict[str, Conversation] = {}
        self._array: tuple[int, Conversation] | None = None

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one record; give the conversation that is whole with it."""
        row = obj(record.value)
        several = self._several(row)
        if several:
            return _whole(self._filled(_begin(row, record.where), several))
        if not record.document:
            key = text(first(row, *_IDS)) or self._source
            self._dialect.add(self._open.setdefault(key, _begin(row, key)), row)
            return ()
        ended: Iterable[Run | Skipped] = ()
        if self._array is None or self._array[0] != record.document:
            ended = self._end_array()
            self._array = (record.document, _begin(row, record.where))
        self._dialect.add(self._array[1], row)
        return ended

    def finish(self) -> Iterable[Run | Skipped]:
        """Give the conversations that were put together from single messages."""
        return [*self._end_array(), *(run for each in self._open.values() for run in _whole(each))]

    def _end_array(self) -> list[Run]:
        ended = [] if self._array is None else _whole(self._array[1])
        self._array = None
        return ended

    def _several(self, row: dict[str, Any]) -> list[Any]:
        """The messages of a record that holds several: of the conversation or request, and of the answer to it."""
        request, response = obj(row.get("request")), obj(row.get("response"))
        found = [message for name in self._dialect.lists for message in arr(row.get(name) or request.get(name))]
        answers = arr(row.get("choices") or response.get("choices"))[:1]
        found += [message for answer in answers if (message := obj(answer).get("message"))]
        for name in ("output", "content"):
            if found and isinstance(response.get(name), list):
                found.append({"role": "assistant", "type": "message", name: response[name]})
        return found

    def _filled(self, conversation: Conversation, messages: Iterable[Any]) -> Conversation:
        for message in messages:
            self._dialect.add(conversation, obj(message))
        return conversation


def _whole(conversation: Conversation) -> list[Run]:
    return [] if conversation.empty else [conversation.run()]


def _begin(row: dict[str, Any], name: str) -> Conversation:
    return Conversation(
        id=text(first(row, *_IDS)) or text(row.get("id")) or name,
        source=text(row.get("source")),
        agent=text(first(row, "agent", "model")),
        task=text(first(row, "task", "task_id")),
    )


_IDS = ("conversation_id", "session_id", "thread_id", "run_id", "trace_id")
