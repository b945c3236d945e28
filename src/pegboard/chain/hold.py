"""This process's hold on a run: checkpoints are written under its ticket, and a pulse says that it lives."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from pegboard.chain.fault import ChainError
from pegboard.chain.record import ChainRun, Checkpoint, RunStatus, StepStatus
from pegboard.errors import StoreError
from pegboard.schema.types import Json, JsonObject

if TYPE_CHECKING:
    from pegboard.chain.ledger import Ledger

T = TypeVar("T")
PULSE = 3.0
"""Seconds between two words to the others: also how soon a cancelled run stops what it has under way."""


class Hold:
    """One run in the hands of this process.

    Parameters:
        ledger: the runs.
        run: the run, as it was when it was taken.
        ticket: lets this process write.
    """

    def __init__(self, ledger: "Ledger", run: ChainRun, ticket: str) -> None:
        self._ledger, self.run, self._ticket = ledger, run, ticket
        self.known = dict(run.steps)

    async def start(self, step: str, tool: str) -> None:
        """Write down that a tool is about to be called. Raises `ChainError` or `StoreError`: it must not be then."""
        await _thread(lambda: self._ledger.start(self.run.id, self._ticket, step, tool))

    def mark(self, step: str, status: StepStatus) -> None:
        """Write down how a step is that was begun. Blocks for one short write; raises `ChainError` or `StoreError`."""
        self._ledger.mark(self.run.id, self._ticket, step, status)

    async def end(self, point: Checkpoint) -> None:
        """Write down what a step came to. Raises `ChainError` or `StoreError`: it is not kept then."""
        with anyio.CancelScope(shield=True):
            await _thread(lambda: self._ledger.end(self.run.id, self._ticket, point))
        self.known[point.step] = point

    async def settle(self, status: RunStatus, *, value: Json = None, failure: JsonObject | None = None) -> None:
        """Let the run go, and say how it is. Raises `ChainError` or `StoreError`."""
        with anyio.CancelScope(shield=True):
            await _thread(lambda: self._ledger.settle(self.run.id, self._ticket, status, value=value, failure=failure))

    async def release(self) -> None:
        """Let the run go as it is; never raises."""
        with anyio.CancelScope(shield=True):
            for _ in range(3):  # so that whoever knows that the process is stopping has said so
                await anyio.lowlevel.checkpoint()
            try:
                await _thread(lambda: self._ledger.release(self.run.id, self._ticket))
            except (ChainError, StoreError):
                return

    async def pulse(self, lost: Callable[[], None]) -> None:
        """Say again and again that this process lives; calls `lost` once the run is not its own any more."""
        while True:
            await anyio.sleep(PULSE)
            if not await _thread(lambda: self._ledger.renew(self.run.id, self._ticket)):
                lost()
                return


async def _thread(work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)
