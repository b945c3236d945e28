"""A remembered yes or no, and what it covers."""

from dataclasses import asdict, dataclass
from secrets import token_hex

from pegboard.approval.decision import Choice, Decision
from pegboard.approval.request import Kind, Request
from pegboard.schema.types import Json

SESSION_SECONDS = 86_400.0
"""An answer for a session ends with it, and after a day at the latest: some sessions never say goodbye."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A remembered answer.

    Parameters:
        id: names it, for `approvals revoke`.
        kind: calls, or suggestions; one never covers the other.
        allows: whether it is a yes.
        principal: for whom it holds.
        session: the one session that it holds in; None: in all.
        subject: the tool's full name, or the id of what was suggested.
        definition: the digest of the definition that the person saw; a yes dies when it changes.
        fingerprint: the one call that it holds for; None: for all arguments.
        created: Unix time in seconds.
        expires: when it ends, likewise; None: never.
        by: over which channel it came.
        request: the request that it answers; None for one that was made without being asked.
        ended: why it is over; None while it holds.
    """

    id: str
    kind: Kind
    allows: bool
    principal: str
    subject: str
    definition: str
    created: float
    by: str
    session: str | None = None
    fingerprint: str | None = None
    expires: float | None = None
    request: str | None = None
    ended: str | None = None

    @property
    def scope(self) -> str:
        """`session` or `always`."""
        return "always" if self.session is None else "session"

    @property
    def choice(self) -> Choice:
        """The answer that is remembered."""
        if self.session is None:
            return Choice.ALLOW_ALWAYS if self.allows else Choice.DENY_ALWAYS
        return Choice.ALLOW_SESSION if self.allows else Choice.DENY_SESSION

    def holds(self, now: float) -> bool:
        """Whether it is in force at a time."""
        return self.ended is None and (self.expires is None or now < self.expires)

    def to_json(self) -> dict[str, Json]:
        """As plain data, for `--json`."""
        return {**asdict(self), "scope": self.scope}


def grant_of(request: Request, decision: Decision) -> Grant | None:
    """What is remembered of an answer, if anything."""
    if not decision.choice.lasts:
        return None
    for_session = decision.choice in (Choice.ALLOW_SESSION, Choice.DENY_SESSION)
    longest = decision.at + SESSION_SECONDS if for_session else None
    return Grant(
        id=f"gr_{token_hex(5)}",
        kind=request.kind,
        allows=decision.allows,
        principal=request.principal,
        session=request.session if for_session else None,
        subject=request.subject,
        definition=request.definition,
        # A composite is remembered as the calls that were shown, never as a name under which others could run.
        fingerprint=request.fingerprint if decision.exact or request.items[1:] else None,
        created=decision.at,
        expires=decision.expires if decision.expires is not None else longest,
        by=decision.by,
        request=request.id,
    )
