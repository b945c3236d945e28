"""What tools gave in each session: so that an id that nobody gave is recognised when a call with it fails."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pegboard.core import Call, Result, Session
from pegboard.schema.types import Json

MOST = 256
"""So many results are held, of all sessions together."""
LONGEST = 64_000
"""Characters of text of a result that is held; of a longer one it is only known that there was one."""
SCALARS = 5_000
"""So many values of one result are looked at."""


class Produced:
    """What the latest results said, by session. It is held, not copied, and read only when a call has failed.

    Parameters:
        most: how many results are held.
    """

    def __init__(self, most: int = MOST) -> None:
        self._held: deque[tuple[tuple[str, str], tuple[Json, Json], list[str]]] = deque()
        self._most = most
        self._cut: dict[tuple[str, str], None] = {}

    def add(self, call: Call, result: Result) -> None:
        """Hold what a call came to."""
        if not call.session.id:
            return
        texts = [str(block.get("text") or block.get("uri") or "") for block in result.content]
        if sum(map(len, texts)) > LONGEST:
            self._cut[_key(call.session)] = None
        else:
            self._held.append((_key(call.session), (call.arguments, result.value), texts))
        if len(self._held) > self._most:
            self._cut[self._held.popleft()[0]] = None
        if len(self._cut) > self._most:
            del self._cut[next(iter(self._cut))]

    def gave(self, session: Session, value: Json) -> bool | None:
        """Whether a tool gave this value in a session, or took it without complaint; None where that is not known."""
        key, text = _key(session), _plain(value)
        if not session.id or text is None:
            return None
        for owner, values, texts in reversed(self._held):
            if owner == key and (text in map(_plain, _scalars(list(values))) or any(text in one for one in texts)):
                return True
        return None if key in self._cut else False


def _key(session: Session) -> tuple[str, str]:
    return session.principal, session.id


def _plain(value: Any) -> str | None:
    """A scalar as text; None for what is none, and for truth values, which are no ids."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


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
