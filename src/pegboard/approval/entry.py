"""A request, with what became of it."""

from dataclasses import dataclass
from enum import StrEnum

from pegboard.approval.decision import Decision
from pegboard.approval.grant import Grant
from pegboard.approval.request import Request
from pegboard.schema.types import Json


class State(StrEnum):
    """What became of a request."""

    PENDING = "pending"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    VOID = "void"


@dataclass(frozen=True)
class Entry:
    """A request in the ledger.

    Parameters:
        request: the question.
        decision: the answer, once there is one.
        used: when a yes for once was used, Unix time in seconds.
        void: why neither can be used any more.
        kept: whether the store holds it.
        grant: what was remembered of the answer, where it was given just now.
    """

    request: Request
    decision: Decision | None = None
    used: float | None = None
    void: str | None = None
    kept: bool = True
    grant: Grant | None = None

    def state(self, now: float) -> State:
        """What became of it by now."""
        if self.void is not None:
            return State.VOID
        if self.decision is not None:
            return State.ALLOWED if self.decision.allows else State.DENIED
        return State.EXPIRED if self.request.expires <= now else State.PENDING

    def to_json(self, now: float) -> dict[str, Json]:
        """As plain data, for `--json`."""
        decision = self.decision.to_json() if self.decision is not None else None
        more = {"state": self.state(now).value, "decision": decision, "used": self.used, "void": self.void}
        return {**self.request.to_json(), **more}
