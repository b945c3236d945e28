"""What tools gave in each session: so that an id that nobody gave is recognised when a call with it fails."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pegboard.core import Call, Result, Session
from pegboard.schema.types import Json

MOST = 512
"""So many results are held, of all sessions together."""
SCALARS = 5_000
"""So many values of one result are looked at."""


class Produced:
    """The latest results, by session. They are held, not copied, and read only when a call has failed.

    Parameters:
        most: how many results are held.
    """

    def __init__(self, most: int = MOST) -> None:
        self._held: deque[tuple[tuple[str, str], Call, Result]] = deque()
        self._most = most
        self._cut: dict[tuple[str, str], None] = {}

    def add(self, call: Call, result: Result) -> None:
        """Hold what a call came to."""
        if not call.session.id:
            return
        self._held.append((_key(call.session), call, result))
        if len(self._held) > self._most:
            forgotten, _, _ = self._held.popleft()
            self._cut[forgotten] = None
            if len(self._cut) > self._most:
                del self._cut[next(iter(self._cut))]

    def gave(self, session: Session, value: Json) -> bool | None:
        """Whether a tool gave this value in a session, or took it without complaint; None where that is not known."""
        key, text = _key(session), _plain(value)
        if not session.id or text is None:
            return None
        for owner, call, result in reversed(self._held):
            if owner == key and (text in map(_plain, _scalars(call.arguments)) or _tells(result, text)):
                return True
        return None if key in self._cut else False


def _key(session: Session) -> tuple[str, str]:
    return session.principal, session.id


def _plain(value: Any) -> str | None:
    """A scalar as text; None for what is none, and for truth values, which are no ids."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def _tells(result: Result, text: str) -> bool:
    if text in map(_plain, _scalars(result.value)):
        return True
    return any(text in str(block.get("text", "")) or text in str(block.get("uri", "")) for block in result.content)


def _scalars(value: Json) -> Iterator[Any]:
    """The scalars inside of a value, keys too: some tools answer with tables by id."""
    waiting: list[Any] = [value]
    for _ in range(SCALARS):
        if not waiting:
            return
        found = waiting.pop()
        if isinstance(found, Mapping):
            table = cast("Mapping[str, Any]", found)
            yield from table
            waiting += table.values()
        elif isinstance(found, list | tuple):
            waiting += cast("list[Any]", found)
        else:
            yield found
