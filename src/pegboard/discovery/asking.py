"""How a suggestion gets to a person, and what then becomes of it: every check is the host's, none a prompt's."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

import anyio.to_thread

from pegboard.approval import (
    ApprovalError,
    Approver,
    Choice,
    Decision,
    Desk,
    Grant,
    Item,
    Kind,
    Request,
    Verdict,
    new_request,
)
from pegboard.approval.entry import Entry
from pegboard.core import Call, Discoverable, DiscoverableType, Effects, Failure, FailureCode, Result
from pegboard.core.call import Progress
from pegboard.discovery.answers import answer
from pegboard.discovery.suggestion import Suggestion, read_suggestion, refused, unknown_id, wrong_action

T = TypeVar("T")
HOUR = 3600.0
COOL_OFF = 600.0
"""So many seconds a plain no holds in its session: long enough that nobody is asked the same in a loop."""
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Rules:
    """What an agent may ask.

    Parameters:
        enabled: whether it may at all.
        per_hour: how many requests of one principal are put to a person in an hour.
        forget_days: after so many days a no for good is forgotten.
    """

    enabled: bool = True
    per_hour: int = 6
    forget_days: float = 180


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of something that a person has agreed to.

    Parameters:
        completed: whether its tools are there: the board has listed them.
        tools: their names.
        message: what went wrong, where it did.
        next_step: what to do now.
        kept: whether it stays on the board without its tools: it waits for a sign-in.
    """

    completed: bool
    tools: tuple[str, ...] = ()
    message: str | None = None
    next_step: str | None = None
    kept: bool = False


Tell: TypeAlias = Callable[[str], Awaitable[object]]
"""Hears what is being done."""


class Supply(Protocol):
    """What could be on the board, and how it gets there."""

    def find(self, type: DiscoverableType, id: str) -> Awaitable[Discoverable | None]:
        """What could be there, as its directory says now."""
        ...

    def ids(self) -> Awaitable[Sequence[tuple[DiscoverableType, str]]]:
        """Everything that could be there."""
        ...

    def held(self, type: DiscoverableType, id: str) -> Awaitable[Sequence[str] | None]:
        """The tools of what is there already under this id; None where it is not."""
        ...

    def rival(self, one: Discoverable, queries: Sequence[str]) -> Awaitable[str | None]:
        """A tool of the board that does the job already."""
        ...

    def searched(self, one: Discoverable, queries: Sequence[str]) -> Awaitable[bool]:
        """Whether one of these searches was for it."""
        ...

    def bringing(self, type: DiscoverableType, id: str) -> bool:
        """Whether it is being installed or enabled right now."""
        ...

    def bring(self, one: Discoverable, tell: Tell) -> Awaitable[Brought]:
        """Install or enable it, and see its tools."""
        ...


class Asking:
    """Takes suggestions of agents.

    Parameters:
        supply: what could be there.
        desk: asks a person.
        rules: what an agent may ask.
        queries: what a call's session has searched for.
        approvers: who is asked first: the person at the caller's end.
    """

    def __init__(
        self,
        supply: Supply,
        desk: Desk,
        rules: Rules,
        queries: Callable[[Call], Sequence[str]],
        approvers: Callable[[Call], Sequence[Approver]],
    ) -> None:
        self._supply, self._desk, self._rules = supply, desk, rules
        self._queries, self._approvers = queries, approvers
        self._busy: set[str] = set()

    async def __call__(self, call: Call) -> Result:
        """One suggestion, from its check to its outcome."""
        asked = read_suggestion(call.arguments)
        if isinstance(asked, Failure):
            return Result(failure=asked)
        one = await self._checked(call, asked)
        if isinstance(one, Failure):
            return Result(failure=one)
        principal = call.session.principal
        if principal in self._busy:
            return Result(failure=_pending(None))
        self._busy.add(principal)
        try:
            return await self._put(call, asked, one)
        finally:
            self._busy.discard(principal)

    async def declined(self, principal: str, session: str) -> Callable[[Discoverable], float | None]:
        """Tells until when a discoverable has been declined by a principal; None where it has not."""
        now = self._desk.clock()
        grants = await self._ledger(lambda desk: desk.ledger.grants())
        entries = await self._ledger(lambda desk: desk.ledger.entries(kind=Kind.TOOL_SUGGESTION))
        found: dict[str, float] = {}
        for grant in _noes(grants, principal):
            if grant.session in (None, session):
                found[grant.subject] = max(found.get(grant.subject, 0.0), self._until(grant))
        for entry in entries:
            if _declined_once(entry, principal, session) and entry.decision is not None:
                until = entry.decision.at + COOL_OFF
                found[entry.request.subject] = max(found.get(entry.request.subject, 0.0), until)
        return lambda one: until if (until := found.get(one.id, 0.0)) > now else None

    def _until(self, grant: Grant) -> float:
        """When a no ends."""
        return grant.expires if grant.expires is not None else grant.created + self._rules.forget_days * DAY

    async def _end(self, grants: Sequence[Grant]) -> None:
        """End what is remembered."""
        for grant in grants:
            with suppress(ApprovalError):  # somebody else was quicker
                await self._ledger(lambda desk, id=grant.id: desk.ledger.revoke(id))

    async def _checked(self, call: Call, asked: Suggestion) -> Discoverable | Failure:
        """What is asked for, or why nobody is bothered with it."""
        if not self._rules.enabled:
            return refused(
                FailureCode.BLOCKED,
                "switched_off",
                "Suggestions are switched off on this board.",
                "Tell the user what is missing; who runs the board can add it.",
            )
        if self._supply.bringing(asked.type, asked.id):
            return Failure(
                FailureCode.UNAVAILABLE,
                f"{asked.id} is being brought in; the user has agreed.",
                next_step="Look for its tools in a moment: tool_search finds them.",
                retryable=True,
                details={"reason": "pending"},
            )
        held = await self._supply.held(asked.type, asked.id)
        if held is not None:
            return _there(asked, held)
        one = await self._supply.find(asked.type, asked.id)
        if one is None:
            return await self._unknown(asked)
        if one.action is not asked.action:
            return wrong_action(asked, one)
        queries = self._queries(call)
        if not await self._supply.searched(one, queries):
            return refused(
                FailureCode.PREREQUISITE,
                "not_searched",
                f"This session has not searched for what {one.name} does.",
                "Call tool_search for what the user needs: a tool that is here already comes first.",
            )
        rival = await self._supply.rival(one, queries)
        if rival is not None:
            return refused(
                FailureCode.BLOCKED, "already_there", f"{rival} does that already.", f"Call {rival}.", tools=[rival]
            )
        return await self._welcome(call, one)

    async def _welcome(self, call: Call, one: Discoverable) -> Discoverable | Failure:
        """Whether a person may be asked this now."""
        until = (await self.declined(call.session.principal, call.session.id))(one)
        if until is not None:
            return refused(
                FailureCode.BLOCKED,
                "declined",
                f"The user has declined {one.name}.",
                "Do not ask for it again; do without it, or tell the user what is missing.",
                until=round(until),
            )
        noes = _noes(await self._ledger(lambda desk: desk.ledger.grants()), call.session.principal)
        await self._end([no for no in noes if no.subject == one.id and self._until(no) <= self._desk.clock()])
        entries = await self._ledger(lambda desk: desk.ledger.entries(kind=Kind.TOOL_SUGGESTION))
        mine = [entry for entry in entries if entry.request.principal == call.session.principal]
        now = self._desk.clock()
        waiting = next((e for e in mine if e.decision is None and e.void is None and e.request.expires > now), None)
        if waiting is not None and (waiting.request.subject, waiting.request.definition) != (one.id, one.digest):
            return _pending(waiting)
        recent = [entry for entry in mine if entry.request.created > now - HOUR]
        if len(recent) >= self._rules.per_hour and waiting is None and not _answered_unused(recent, one):
            wait = round(min(entry.request.created for entry in recent) + HOUR - now)
            return Failure(
                FailureCode.BUDGET,
                f"The user has been asked {len(recent)} times within the hour, and that is enough.",
                next_step=f"Go on without it, or ask again in {-(-wait // 60)} minutes.",
                retryable=True,
                details={"reason": "rate_limited", "retry_in": wait},
            )
        return one

    async def _put(self, call: Call, asked: Suggestion, one: Discoverable) -> Result:
        request = self._request(call, asked, one)
        verdict = await self._desk.decide(request, self._approvers(call))
        decision = verdict.decision
        if decision is None:
            return _told(asked.outcome(one, completed=False, confirmed=False, **self._silence(verdict, one)))
        if not decision.allows:
            return _told(asked.outcome(one, completed=False, confirmed=False, **_no(decision)))
        if not one.pinned and verdict.entry.grant is not None:
            await self._end([verdict.entry.grant])  # the next newest version is another one than was agreed to
        brought = await self._supply.bring(one, _telling(call.progress))
        more = {"tools": list(brought.tools)} if brought.tools else {}
        if brought.message is not None:
            more |= {"code": "not_completed", "message": brought.message}
        step = brought.next_step or (f"Call its tools: {', '.join(brought.tools[:8])}." if brought.tools else None)
        return _told(asked.outcome(one, completed=brought.completed, confirmed=True, next_step=step, **more))

    def _request(self, call: Call, asked: Suggestion, one: Discoverable) -> Request:
        item = Item(
            tool=one.id,
            arguments={"tool_type": asked.type.value, "action_type": asked.action.value},
            definition=one.digest,
            effects=Effects.ADDITIVE,
            description=one.description,
        )
        details = {
            "tool_type": asked.type.value,
            "action_type": asked.action.value,
            "suggest_type": asked.action.value,
            "tool_id": one.id,
            "tool_name": one.name,
            "suggest_reason": asked.reason,
            "persist": "always",
            "permissions": list(one.permissions),
            "auth": one.auth,
            "publisher": one.trust.publisher,
            "version": one.trust.version,
            "sha256": one.trust.sha256,
            "directory": one.directory,
        }
        return new_request(
            Kind.TOOL_SUGGESTION,
            [item],
            call.session,
            now=self._desk.clock(),
            lasts=self._desk.lasts,
            reason=asked.reason,
            rule="every suggestion is put to a person",
            details={key: value for key, value in details.items() if value is not None},
        )

    def _silence(self, verdict: Verdict, one: Discoverable) -> dict[str, str]:
        id = verdict.entry.request.id
        if verdict.error is not None:
            return {"code": verdict.error.code.value, "next_step": verdict.error.next_step or "", "request_id": id}
        if verdict.asked:
            step = f"Nobody answered in time. Go on without {one.name}, or ask again once the user is there."
            return {"code": "timeout", "next_step": step, "request_id": id}
        step = f"Nobody can be asked here. The user can answer with: pegboard approvals allow {id}; then ask again."
        return {"code": "approval_needed", "next_step": step, "request_id": id}

    async def _unknown(self, asked: Suggestion) -> Failure:
        known = await self._supply.ids()
        other = next((type for type, id in known if id == asked.id and type is not asked.type), None)
        return unknown_id(asked, list(dict.fromkeys(id for _, id in known)), other)

    async def _ledger(self, step: Callable[[Desk], T]) -> T:
        return await anyio.to_thread.run_sync(partial(step, self._desk))


def _noes(grants: Sequence[Grant], principal: str) -> list[Grant]:
    """The remembered answers of a person that say no to a suggestion."""
    mine = [grant for grant in grants if grant.kind is Kind.TOOL_SUGGESTION and grant.principal == principal]
    return [grant for grant in mine if not grant.allows]


def _declined_once(entry: Entry, principal: str, session: str) -> bool:
    decision = entry.decision
    mine = entry.request.principal == principal and entry.request.session == session
    return mine and decision is not None and decision.choice is Choice.DENY


def _answered_unused(entries: Sequence[Entry], one: Discoverable) -> bool:
    """Whether a person has said yes to this while nobody was there to hear it."""
    return any(
        entry.decision is not None and entry.decision.allows and entry.used is None and entry.request.subject == one.id
        for entry in entries
    )


def _there(asked: Suggestion, tools: Sequence[str]) -> Failure:
    step = f"Call its tools: {', '.join(tools[:8])}." if tools else "pegboard doctor shows why it has no tools."
    message = f"{asked.id} is on the board already."
    return refused(FailureCode.BLOCKED, "already_there", message, step, tools=list(tools))


def _pending(entry: Entry | None) -> Failure:
    what = f" for {entry.request.subject} ({entry.request.id})" if entry is not None else ""
    return Failure(
        FailureCode.APPROVAL_NEEDED,
        f"A request{what} is waiting for the user's answer; one is asked at a time.",
        next_step="Wait for that answer, then ask again.",
        retryable=True,
        details={"reason": "pending", **({"request_id": entry.request.id} if entry is not None else {})},
    )


def _no(decision: Decision) -> dict[str, str]:
    lasting = " The answer is remembered." if decision.choice.lasts else ""
    step = f"The user said no.{lasting} Do not ask for it again; do without it."
    return {"code": "declined", "next_step": step, **({"note": decision.note} if decision.note else {})}


def _telling(progress: Progress | None) -> Tell:
    count = 0

    async def tell(message: str) -> None:
        nonlocal count
        count += 1
        if progress is not None:
            with suppress(Exception):  # the caller may be gone, and the work goes on
                await progress(count, None, message)

    return tell


def _told(value: dict[str, object]) -> Result:
    state = "is there" if value["completed"] else "is not there"
    parts = [f"{value['tool_name']} {state}.", str(value.get("message") or ""), str(value.get("next_step") or "")]
    return answer(value, " ".join(part for part in parts if part))
