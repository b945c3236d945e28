"""Asking a person, over whatever channel answers first, and waiting no longer than the question stands."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import time
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from pegboard.approval.decision import Approver, By, Choice, Decision
from pegboard.approval.entry import Entry
from pegboard.approval.fault import ApprovalError, Fault
from pegboard.approval.pause import waiting
from pegboard.approval.request import LASTS, Request, renewed

if TYPE_CHECKING:
    from pegboard.approval.ledger import Ledger
    from pegboard.store import Store

T = TypeVar("T")
WAIT = 45.0
"""Seconds that a call waits for an answer from another process, where its own caller cannot be asked: less than the
minute after which many clients give a call up."""
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 1.0
"""Seconds between two looks into the store."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Verdict:
    """What came of a question.

    Parameters:
        entry: the request, and the answer if there is one.
        asked: whether a person was asked directly, so that its silence is a timeout.
        error: what was wrong with an answer, where one could not be taken.
    """

    entry: Entry
    asked: bool = False
    error: ApprovalError | None = None

    @property
    def decision(self) -> Decision | None:
        """The answer; None where there is none (yet)."""
        return self.entry.decision


class Desk:
    """The place where requests wait. Everything that needs a person's yes goes through one of these.

    Parameters:
        store: gives the board's store; called when it is first needed, in a thread.
        approvers: who is asked besides the caller's own person, in this order.
        lasts: seconds that a question stands.
        wait: seconds that a call waits where nobody can be asked directly.
        clock: gives the Unix time in seconds.
    """

    def __init__(
        self,
        store: "Callable[[], Store]",
        *,
        approvers: Sequence[Approver] = (),
        lasts: float = LASTS,
        wait: float = WAIT,
        clock: Callable[[], float] = time,
    ) -> None:
        self.approvers = tuple(approvers)
        self.lasts, self.clock = lasts, clock
        self.wait = wait
        self._store = store
        self._ledger: Ledger | None = None
        self._news: dict[str, anyio.Event] = {}

    @property
    def ledger(self) -> "Ledger":
        """The requests and grants; blocks when it is first needed."""
        if self._ledger is None:
            from pegboard.approval.ledger import Ledger

            self._ledger = Ledger(self._store(), self.clock)
        return self._ledger

    async def decide(self, request: Request, approvers: Sequence[Approver] = ()) -> Verdict:
        """What a person says, or has said before, of a request.

        Parameters:
            request: the question.
            approvers: who is asked first: the person at the caller's end.

        Returns:
            The verdict. A yes for once is used up by it.
        """
        grant = await self._with(lambda ledger: ledger.remembered(request))
        if grant is not None:
            known = Decision(choice=grant.choice, by=By.GRANT, at=grant.created, grant=grant.id)
            return Verdict(Entry(request, known, kept=False))
        entry = await self._with(lambda ledger: ledger.open(request))
        verdict = Verdict(entry) if entry.decision else await self._asked(entry, (*approvers, *self.approvers))
        if verdict.decision is None or not verdict.entry.kept:
            return verdict
        if not await self._with(lambda ledger: ledger.use(verdict.entry.request.id)) and _once(verdict):
            # An equal call beside this one has used the yes.
            return await self.decide(renewed(request, self.clock(), self.lasts), approvers)
        return verdict

    async def answer(self, id: str, decision: Decision, *, principal: str | None = None) -> Entry:
        """Decide a request, from this process.

        Raises:
            ApprovalError: the answer cannot be taken.
        """
        entry = await self._with(lambda ledger: ledger.answer(id, decision, principal=principal))
        if id in self._news:
            self._news[id].set()
        return entry

    async def void(self, subject: str, principal: str, reason: str) -> Sequence[Entry]:
        """End what waits for a tool that is gone; see `Ledger.void`."""
        return await self._with(lambda ledger: ledger.void(subject, principal, reason))

    async def _asked(self, entry: Entry, approvers: Sequence[Approver]) -> Verdict:
        """Ask and watch at once; the first answer ends both."""
        id, found = entry.request.id, Verdict(entry, asked=True)
        news = self._news.setdefault(id, anyio.Event())
        left = max(entry.request.expires - self.clock(), 0.0)

        def settle(verdict: Verdict) -> None:
            nonlocal found
            found = verdict
            scope.cancel()

        try:
            with waiting(entry.request), anyio.move_on_after(left) as scope:
                async with anyio.create_task_group() as tasks:
                    if entry.kept:
                        tasks.start_soon(self._watch, id, news, settle)
                    await self._ask(entry, approvers, settle)
                    found = Verdict(entry)
                    patience = self.wait if entry.kept and self.ledger.shared else 0.0
                    scope.deadline = min(scope.deadline, anyio.current_time() + patience)
        finally:
            self._news.pop(id, None)
        return found

    async def _ask(self, entry: Entry, approvers: Sequence[Approver], settle: Callable[[Verdict], None]) -> None:
        """Ask one after the other until one can, and settle with its answer; comes back where none can."""
        for approver in approvers:
            try:
                decision = await approver(entry.request)
            except Exception as problem:  # one broken channel must not cost the others
                _log.warning("An approver failed: %s: %s", type(problem).__name__, problem)
                continue
            if decision is None:
                continue
            try:
                settle(Verdict(await self._take(entry, decision), asked=True))
            except ApprovalError as problem:
                settle(Verdict(entry, asked=True, error=problem))
            await anyio.sleep_forever()

    async def _take(self, entry: Entry, decision: Decision) -> Entry:
        if entry.kept:
            return await self._standing(entry, decision)
        from pegboard.approval.ledger import check_edited

        check_edited(entry.request, decision)
        return replace(entry, decision=replace(decision, at=self.clock()))

    async def _standing(self, entry: Entry, decision: Decision) -> Entry:
        """The answer that stands: this one, or the one that came a moment earlier."""
        id = entry.request.id
        try:
            return await self.answer(id, decision)
        except ApprovalError as problem:
            if problem.code is not Fault.ALREADY_ANSWERED:
                raise
            return await self._with(lambda ledger: ledger.entry(id)) or entry

    async def _watch(self, id: str, news: anyio.Event, settle: Callable[[Verdict], None]) -> None:
        pause = FIRST_PAUSE
        while True:
            with anyio.move_on_after(pause):
                await news.wait()
            pause = min(pause * 1.2, LONGEST_PAUSE)
            entry = await self._with(lambda ledger: ledger.entry(id))
            if entry is not None and (entry.decision is not None or entry.void is not None):
                settle(Verdict(entry, asked=True))
                return

    async def _with(self, step: "Callable[[Ledger], T]") -> T:
        return await anyio.to_thread.run_sync(partial(self._run, step))

    def _run(self, step: "Callable[[Ledger], T]") -> T:
        return step(self.ledger)


def _once(verdict: Verdict) -> bool:
    return verdict.decision is not None and verdict.decision.choice is Choice.ALLOW_ONCE
