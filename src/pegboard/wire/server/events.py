"""What was sent to clients over HTTP, kept for a while, so that a broken stream goes on where it ended.

A client of the handshake family names the last event that it has (`Last-Event-ID`) and gets those that followed (MCP
2025-11-25, transports: resumability and redelivery). Each session reads its own events alone; their number and weight
are bounded for all sessions together, the oldest going first.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import count
from secrets import token_hex
from typing import Any, cast

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

MOST = 4096
"""Events that are kept."""
HEAVIEST = 32_000_000
"""Characters that they may hold together."""


@dataclass(frozen=True, slots=True)
class _Event:
    session: str
    stream: str
    number: int
    message: JSONRPCMessage | None
    weight: int


@dataclass
class EventLog:
    """The events of all sessions.

    Parameters:
        most: how many are kept.
        heaviest: how many characters they may hold together.
    """

    most: int = MOST
    heaviest: int = HEAVIEST
    _events: "deque[_Event]" = field(default_factory=lambda: deque[_Event]())
    _weight: int = 0
    _numbers: "count[int]" = field(default_factory=count)

    def session(self) -> "SessionEvents":
        """A part for one more session."""
        return SessionEvents(self)

    def add(self, session: str, stream: str, message: JSONRPCMessage | None) -> int:
        """Keep an event; returns its number."""
        weight = (
            0 if message is None else _weight_of(getattr(message, "result", None) or getattr(message, "params", None))
        )
        event = _Event(session, stream, next(self._numbers), message, weight)
        self._events.append(event)
        self._weight += weight
        while len(self._events) > self.most or self._weight > self.heaviest:
            self._weight -= self._events.popleft().weight
        return event.number

    def of(self, session: str) -> list[_Event]:
        """What is kept of a session, in order."""
        return [event for event in self._events if event.session == session]


class SessionEvents(EventStore):
    """The events of one session; nobody else's can be asked for.

    Parameters:
        log: where they are kept.
    """

    def __init__(self, log: EventLog) -> None:
        self._log, self._session = log, token_hex(8)

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event of a stream; returns its id."""
        return f"{self._session}-{self._log.add(self._session, stream_id, message)}"

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what followed an event on its stream; the stream, or None where the event is not known (any more)."""
        session, _, number = last_event_id.partition("-")
        known = self._log.of(self._session) if session == self._session and number.isdecimal() else []
        last = next((event for event in known if event.number == int(number)), None)
        if last is None:
            return None
        for event in known:
            if event.number > last.number and event.stream == last.stream and event.message is not None:
                await send_callback(EventMessage(event.message, f"{self._session}-{event.number}"))
        return last.stream


def _weight_of(value: Any) -> int:
    """About how many characters a value has."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(key) + _weight_of(one) for key, one in cast("dict[str, Any]", value).items())
    if isinstance(value, list):
        return sum(map(_weight_of, cast("list[Any]", value)))
    return 4
