"""The requests and grants of a board in its store, where every process that opens it can answer them."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, select, update

from pegboard.approval.decision import Choice, Decision
from pegboard.approval.entry import Entry
from pegboard.approval.fault import ApprovalError, Fault
from pegboard.approval.grant import Grant, grant_of
from pegboard.approval.request import Kind, Request
from pegboard.schema.validate import validator
from pegboard.store import Store
from pegboard.store.tables import GRANTS, REQUESTS

KEEP_SECONDS = 30 * 86_400.0
"""Requests are forgotten so long after they were made."""


class Ledger:
    """Blocks; safe to call from any thread.

    Parameters:
        store: the board's store.
        clock: gives the Unix time in seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self.clock = store, clock

    @property
    def shared(self) -> bool:
        """Whether another process can answer what stands here."""
        return self._store.path is not None

    def open(self, request: Request) -> Entry:
        """Put a request down, or join the one that asks the same on behalf of the same principal.

        Returns:
            The entry that stands: waiting, or answered for once when nobody was there to hear it.
        """
        now = self.clock()

        def step(connection: Connection) -> Entry:
            connection.execute(REQUESTS.delete().where(REQUESTS.c.created < now - KEEP_SECONDS))
            same = select(REQUESTS).where(
                REQUESTS.c.fingerprint == request.fingerprint,
                REQUESTS.c.principal == request.principal,
                REQUESTS.c.kind == request.kind.value,
                REQUESTS.c.expires > now,
                REQUESTS.c.used.is_(None),
                REQUESTS.c.void.is_(None),
            )
            for row in connection.execute(same.order_by(REQUESTS.c.created)):
                entry = _entry(row)
                if entry is not None and (entry.decision is None or not entry.decision.choice.lasts):
                    return entry
            connection.execute(REQUESTS.insert().values(**_row(request)))
            return Entry(request)

        return self._store.write(step, None) or Entry(request, kept=False)

    def entry(self, id: str) -> Entry | None:
        """One request with what became of it."""
        query = select(REQUESTS).where(REQUESTS.c.id == id)
        row = self._store.read(lambda connection: connection.execute(query).first(), None)
        return _entry(row) if row is not None else None

    def entries(self, *, waiting: bool = False, kind: Kind | None = None) -> list[Entry]:
        """The requests, the oldest first.

        Parameters:
            waiting: only those that can still be answered.
            kind: only of this kind.
        """
        query = select(REQUESTS).order_by(REQUESTS.c.created, REQUESTS.c.id)
        if waiting:
            query = query.where(REQUESTS.c.decision.is_(None), REQUESTS.c.expires > self.clock())
        if kind is not None:
            query = query.where(REQUESTS.c.kind == kind.value)
        rows = self._store.read(lambda connection: list(connection.execute(query)), [])
        return [entry for row in rows if (entry := _entry(row)) is not None]

    def answer(self, id: str, decision: Decision, *, principal: str | None = None) -> Entry:
        """Decide a request, once and for all; the same answer again changes nothing.

        Parameters:
            id: the request.
            decision: the answer.
            principal: who answers, where that is not the board's owner: only their own requests are theirs to answer.

        Raises:
            ApprovalError: there is no such request, it was answered otherwise, it is too late, or it is not theirs.
        """
        now = self.clock()

        def step(connection: Connection) -> Entry:
            row = connection.execute(select(REQUESTS).where(REQUESTS.c.id == id)).first()
            entry = _entry(row) if row is not None else None
            if entry is None or (principal is not None and entry.request.principal != principal):
                raise _unknown(id) if entry is None else _not_yours(id)
            stamped = _stamped(entry.request, decision, now)
            if entry.decision is not None:
                return _again(entry, stamped)
            if entry.request.expires <= now:
                raise _expired(entry)
            check_edited(entry.request, stamped)
            grant = grant_of(entry.request, stamped)
            # Who asked may have gone meanwhile; a yes waits as long again for the call to be made once more.
            expires = now + max(entry.request.expires - entry.request.created, 0.0)
            values = {"decided": now, "decision": json.dumps(stamped.to_json()), "expires": expires}
            connection.execute(update(REQUESTS).where(REQUESTS.c.id == id).values(**values))
            if grant is not None:
                connection.execute(GRANTS.insert().values(**_grant_row(grant)))
            return replace(entry, decision=stamped, grant=grant)

        kept = self._store.write(step, None)
        if kept is None:
            raise ApprovalError(
                Fault.NOT_KEPT, f"The answer to {id} could not be kept.", next_step="See `pegboard doctor`."
            )
        return kept

    def use(self, id: str) -> bool:
        """Use the yes of a request; only the first use counts."""

        def step(connection: Connection) -> bool:
            mine = update(REQUESTS).where(REQUESTS.c.id == id, REQUESTS.c.used.is_(None), REQUESTS.c.void.is_(None))
            return connection.execute(mine.values(used=self.clock())).rowcount == 1

        return self._store.write(step, False)

    def void(self, subject: str, principal: str, reason: str) -> list[Entry]:
        """End every waiting request and unused yes for a tool that is no longer there; returns them."""

        def step(connection: Connection) -> list[Entry]:
            mine = (
                REQUESTS.c.subject == subject,
                REQUESTS.c.principal == principal,
                REQUESTS.c.used.is_(None),
                REQUESTS.c.void.is_(None),
                REQUESTS.c.expires > self.clock(),
            )
            found = [_entry(row) for row in connection.execute(select(REQUESTS).where(*mine))]
            connection.execute(update(REQUESTS).where(*mine).values(void=reason))
            return [replace(entry, void=reason) for entry in found if entry is not None]

        return self._store.write(step, [])

    # What is remembered

    def remembered(self, request: Request) -> Grant | None:
        """The grant that answers a request: a no before a yes, the narrower before the wider.

        A yes to another definition of the same thing ends here.
        """
        now = self.clock()

        def step(connection: Connection) -> Grant | None:
            query = select(GRANTS).where(
                GRANTS.c.subject == request.subject,
                GRANTS.c.kind == request.kind.value,
                GRANTS.c.principal == request.principal,
                GRANTS.c.ended.is_(None),
            )
            found = [_grant(row) for row in connection.execute(query)]
            stale = [grant for grant in found if grant.allows and grant.definition != request.definition]
            if stale:
                ids = [grant.id for grant in stale]
                connection.execute(update(GRANTS).where(GRANTS.c.id.in_(ids)).values(ended="its definition changed"))
            fit = [grant for grant in found if grant not in stale and grant.holds(now) and _covers(grant, request)]
            return min(fit, key=lambda grant: (grant.allows, grant.fingerprint is None, grant.created), default=None)

        return self._store.write(step, None)

    def grants(self, *, all_of_them: bool = False) -> list[Grant]:
        """What is remembered, the oldest first.

        Parameters:
            all_of_them: those that are over too.
        """
        query = select(GRANTS).order_by(GRANTS.c.created, GRANTS.c.id)
        rows = self._store.read(lambda connection: list(connection.execute(query)), [])
        found = [_grant(row) for row in rows]
        return found if all_of_them else [grant for grant in found if grant.holds(self.clock())]

    def grant(self, grant: Grant) -> None:
        """Remember an answer that nobody asked for."""
        self._store.write(lambda connection: connection.execute(GRANTS.insert().values(**_grant_row(grant))), None)

    def revoke(self, id: str) -> Grant:
        """End a grant.

        Raises:
            ApprovalError: there is none of this id that holds.
        """

        def step(connection: Connection) -> bool:
            mine = update(GRANTS).where(GRANTS.c.id == id, GRANTS.c.ended.is_(None))
            return connection.execute(mine.values(ended="revoked")).rowcount == 1

        found = {grant.id: grant for grant in self.grants()}
        if id not in found or not self._store.write(step, False):
            raise ApprovalError(
                Fault.UNKNOWN_GRANT, f"There is no grant {id!r}.", next_step="See them with: pegboard approvals grants"
            )
        return replace(found[id], ended="revoked")


def check_edited(request: Request, decision: Decision) -> None:
    """Make sure that edited arguments, if there are any, can be run.

    Raises:
        ApprovalError: they cannot.
    """
    if decision.arguments is None:
        return
    if not (request.editable and decision.choice is Choice.ALLOW_ONCE):
        message = "Arguments can be edited only of one call that is allowed once."
        raise ApprovalError(Fault.INVALID_ARGUMENTS, message, next_step="Answer without arguments, or with once.")
    wrong = validator(request.schema or {}).violations(decision.arguments)
    if wrong:
        said = "; ".join(str(one) for one in wrong[:3])
        raise ApprovalError(
            Fault.INVALID_ARGUMENTS,
            f"The edited arguments do not fit {request.subject}: {said}.",
            where=wrong[0].pointer or None,
            next_step="Correct them and answer again; nothing was decided.",
        )


def _stamped(request: Request, decision: Decision, now: float) -> Decision:
    """The decision with its time; where calls name no session, an answer for one is an answer for once."""
    choice = decision.choice
    if not request.session:
        choice = {Choice.ALLOW_SESSION: Choice.ALLOW_ONCE, Choice.DENY_SESSION: Choice.DENY}.get(choice, choice)
    return replace(decision, choice=choice, at=decision.at or now)


def _covers(grant: Grant, request: Request) -> bool:
    if grant.session is not None and grant.session != request.session:
        return False
    if grant.fingerprint is not None:
        return grant.fingerprint == request.fingerprint
    # A yes to a tool says nothing of the calls that one made of it would make.
    return not (grant.allows and request.items[1:])


def _again(entry: Entry, decision: Decision) -> Entry:
    before = entry.decision
    assert before is not None
    if (before.choice, before.arguments) == (decision.choice, decision.arguments):
        return entry
    raise ApprovalError(
        Fault.ALREADY_ANSWERED,
        f"{entry.request.id} was answered before, with {before.choice.value} by {before.by}.",
        next_step="The first answer stands. What it left behind can be revoked: pegboard approvals grants"
        if before.choice.lasts
        else "The first answer stands; a new call asks anew.",
    )


def _expired(entry: Entry) -> ApprovalError:
    return ApprovalError(
        Fault.EXPIRED,
        f"{entry.request.id} expired before it was answered; nothing ran.",
        next_step="Let the agent call again, or allow the tool beforehand: pegboard approvals allow "
        f"{entry.request.subject} --always",
    )


def _unknown(id: str) -> ApprovalError:
    return ApprovalError(
        Fault.UNKNOWN_REQUEST, f"There is no request {id!r}.", next_step="See them with: pegboard approvals list"
    )


def _not_yours(id: str) -> ApprovalError:
    return ApprovalError(
        Fault.NOT_YOURS, f"{id} was asked on behalf of somebody else.", next_step="Answer your own requests only."
    )


def _row(request: Request) -> dict[str, object]:
    return {
        "id": request.id,
        "kind": request.kind.value,
        "principal": request.principal,
        "subject": request.subject,
        "fingerprint": request.fingerprint,
        "created": request.created,
        "expires": request.expires,
        "request": json.dumps(request.to_json(), default=str),
    }


def _entry(row: Row[tuple[object, ...]]) -> Entry | None:
    """The entry, or None for a row that cannot be read: it can be neither shown nor answered."""
    found = row._mapping  # pyright: ignore[reportPrivateUsage]
    try:
        request = replace(Request.from_json(json.loads(found["request"])), expires=found["expires"])
        decision = Decision.from_json(json.loads(found["decision"])) if found["decision"] else None
    except ValueError:
        return None
    return Entry(request, decision, used=found["used"], void=found["void"])


def _grant_row(grant: Grant) -> dict[str, object]:
    row = {name: value for name, value in grant.to_json().items() if name != "scope"}
    return {**row, "kind": grant.kind.value, "allows": int(grant.allows)}


def _grant(row: Row[tuple[object, ...]]) -> Grant:
    found: dict[str, Any] = dict(row._mapping)  # pyright: ignore[reportPrivateUsage]
    found["kind"], found["allows"] = Kind(found["kind"]), bool(found["allows"])
    return Grant(**found)
