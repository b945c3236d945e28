"""This process's hold on a run of code, which is in the store from the first call on that must not be forgotten."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from pegboard.codemode.record import CodeRun, CodeStatus, Entry
from pegboard.schema.types import JsonObject

if TYPE_CHECKING:
    from pegboard.codemode.ledger import Ledger

T = TypeVar("T")
_FEW = 3
"""So many entries are written one by one, which is quicker than together."""


class Hold:
    """One run in the hands of this process.

    Parameters:
        run: the run.
        ledger: gives the runs in the store; called in a thread.
        ticket: lets this process write; none yet where the run is not in the store.
    """

    def __init__(self, run: CodeRun, ledger: "Callable[[], Ledger]", ticket: str = "") -> None:
        self.run, self._ledger, self._ticket = run, ledger, ticket
        self._opening = Lock()
        self._status: CodeStatus | None = None

    @property
    def kept(self) -> bool:
        """Whether the run is in the store."""
        return bool(self._ticket)

    async def write(self, entries: Sequence[Entry], status: CodeStatus) -> None:
        """Write down how far calls have come, and that this process lives.

        Raises:
            CodeError: the run is another's, or was cancelled.
            StoreError: it cannot be written.
        """
        await _thread(lambda: self.write_now(entries, status))

    async def settle(self, status: CodeStatus, failure: JsonObject | None = None) -> None:
        """Let the run go, and say how it is. Raises like `write`."""
        if self._ticket:
            with anyio.CancelScope(shield=True):
                await _thread(lambda: self._ledger().settle(self.run.id, self._ticket, status, failure))

    def write_now(self, entries: Sequence[Entry], status: CodeStatus) -> None:
        """The same as `write`, from any thread. Blocks, and raises like it."""
        ledger = self._ledger()
        with self._opening:
            if not self._ticket:
                self._ticket = ledger.open(self.run)
        if status is not self._status or not 0 < len(entries) <= _FEW:
            ledger.write(self.run.id, self._ticket, entries, status)
            self._status = status
            return
        for entry in entries:  # each holds for itself; in this order, none tells of what came after it
            ledger.put(self.run.id, self._ticket, entry)


async def _thread(work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)
