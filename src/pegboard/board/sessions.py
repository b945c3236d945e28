"""What a board remembers of each session: who owns it, what it has loaded, and what it has spent."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Result, Session, ToolName
from pegboard.invoke.ledger import Ledger


@dataclass(slots=True)
class SessionState:
    """The state of one session.

    Parameters:
        owner: the principal that used its id first.
        loaded: the tools whose definitions it has, in the order of loading.
        shown_again: those whose definitions came with a failure since they were last called well.
        ledger: what it has spent.
        queries: what it has searched for, in order.
    """

    owner: str
    loaded: dict[ToolName, None] = field(default_factory=dict[ToolName, None])
    shown_again: set[ToolName] = field(default_factory=set[ToolName])
    ledger: Ledger = field(default_factory=Ledger)
    queries: dict[str, None] = field(default_factory=dict[str, None])


class Sessions:
    """The sessions of a board; the least recent ones are forgotten.

    A session without an id is no session: it remembers no tools, and what is spent in it is counted for its principal.

    Parameters:
        most: how many sessions are remembered.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._states: dict[str, SessionState] = {}

    def of(self, session: Session) -> SessionState:
        """The state of a session, made where there is none."""
        key = session.id or f"\0{session.principal}"
        state = self._states.pop(key, None) or SessionState(session.principal)
        self._states[key] = state
        if len(self._states) > self._most:
            del self._states[next(iter(self._states))]
        return state

    def refusal(self, session: Session) -> Failure | None:
        """Why a principal may not use a session's id: another one uses it."""
        if self.of(session).owner == session.principal:
            return None
        return Failure(
            FailureCode.BLOCKED,
            "This session belongs to somebody else.",
            next_step="Use a session id of your own that nobody can guess, or none.",
        )

    def load(self, session: Session, names: Iterable[ToolName]) -> None:
        """Remember that a session has these tools' definitions."""
        if session.id:
            self.of(session).loaded.update(dict.fromkeys(names))

    def loaded(self, session: Session) -> tuple[ToolName, ...]:
        """What a session has loaded; nothing where its id is somebody else's."""
        state = self._states.get(session.id) if session.id else None
        return tuple(state.loaded) if state is not None and state.owner == session.principal else ()

    def queries(self, session: Session) -> tuple[str, ...]:
        """What a session has searched for, in order."""
        return tuple(self.of(session).queries)

    def forget(self, session: Session) -> None:
        """The session is over."""
        with suppress(KeyError):
            if self._states[session.id].owner == session.principal:
                del self._states[session.id]


def owned(sessions: Sessions) -> Middleware:
    """Refuse calls in a session that belongs to another principal.

    Parameters:
        sessions: the sessions.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            refusal = sessions.refusal(call.session)
            return await next_handler(call) if refusal is None else Result(failure=refusal)

        return handle

    return wrap
