"""The runs of code that are kept: those that wait for a yes, or whose calls may have taken effect."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

import anyio.to_thread

from pegboard.codemode.fault import CodeError, CodeFault
from pegboard.codemode.hold import Hold
from pegboard.codemode.record import CodeRun, CodeStatus, Entry, EntryStatus, digest_of
from pegboard.core import Session
from pegboard.schema.types import Json

if TYPE_CHECKING:
    from pegboard.codemode.ledger import Ledger
    from pegboard.store import Store

T = TypeVar("T")
FRESH = 86_400.0
"""Seconds after the last word of a run in which the same code, called again, goes on with it."""


class CodeRuns:
    """The runs of code on a board.

    Parameters:
        store: gives the board's store; called when it is first needed, in a thread.
    """

    def __init__(self, store: "Callable[[], Store]") -> None:
        self._store = store
        self._made: Ledger | None = None

    def _ledger(self) -> "Ledger":
        if self._made is None:
            from pegboard.codemode.ledger import Ledger

            self._made = Ledger(self._store())
        return self._made

    async def begun(self, code: str, language: str, session: Session) -> Hold:
        """A hold on the run that a call of this code is: a new one, or the one that it goes on with.

        Raises:
            StoreError: the store cannot be written.
        """
        mark = digest_of(code, language)
        left = await self._with(lambda ledger: ledger.left(mark, session.principal, ledger.clock() - FRESH))
        if left is not None:
            return await self.taken(left)
        now = (await self._with(lambda ledger: ledger.clock))()
        run = CodeRun(
            id=uuid4().hex[:12],
            code=code,
            language=language,
            digest=mark,
            principal=session.principal,
            session=session.id,
            created=now,
            updated=now,
        )
        return Hold(run, self._ledger)

    async def taken(self, id: str, *, redo: int | None = None, skip: int | None = None, output: Json = None) -> Hold:
        """A hold on a run that is there already.

        Parameters:
            id: the run; the beginning of its id is enough.
            redo: make this call again, whose outcome is unknown.
            skip: take `output` for what this call came to.
            output: what a call that is skipped came to.

        Raises:
            CodeError: there is no such run or call, the run is over, or another process has it.
            StoreError: the store cannot be written.
        """
        if redo is not None and skip is not None:
            raise CodeError(CodeFault.CHOICE, "A call is made again or skipped, not both.", where=id)
        run = await self.show(id)
        change: Callable[[CodeRun], Iterable[Entry]] = lambda run: _chosen(run, redo, skip, output)  # noqa: E731
        held, ticket = await self._with(lambda ledger: ledger.claim(run.id, change))
        return Hold(held, self._ledger, ticket)

    async def show(self, id: str) -> CodeRun:
        """A run with its journal. Raises `CodeError` where there is none."""
        return await self._with(lambda ledger: ledger.run(id))

    async def runs(self, *, status: CodeStatus | None = None, limit: int = 50) -> list[CodeRun]:
        """Runs without their journals, the latest first."""
        return await self._with(lambda ledger: ledger.runs(status=status, limit=limit))

    async def cancel(self, id: str) -> CodeRun:
        """End a run for good. Raises `CodeError` where there is none, or it is over."""
        return await self._with(lambda ledger: ledger.cancel(ledger.run(id).id))

    async def _with(self, step: "Callable[[Ledger], T]") -> T:
        return await anyio.to_thread.run_sync(lambda: step(self._ledger()))


def _chosen(run: CodeRun, redo: int | None, skip: int | None, output: Json) -> list[Entry]:
    """The entries that an operator's choice comes to. Raises `CodeError` where the call is not in doubt."""
    number = redo if redo is not None else skip
    if number is None:
        return []
    entry = run.entries.get(number)
    if entry is None or entry.status is not EntryStatus.STARTED:
        doubtful = [str(each.number) for each in run.entries.values() if each.status is EntryStatus.STARTED]
        how = "was not made" if entry is None else f"is {entry.status}"
        raise CodeError(
            CodeFault.CHOICE,
            f"There is nothing to choose about call {number}: it {how}.",
            where=run.id,
            next_step=f"In doubt is {', '.join(doubtful)}." if doubtful else f"pegboard code resume {run.id}",
        )
    if skip is not None:
        return [replace(entry, status=EntryStatus.OK, answer=json.dumps(output))]
    return [replace(entry, status=EntryStatus.BEGUN)]
