"""What runs code in one language."""

from typing import Protocol

from pegboard.codemode.clock import Clock
from pegboard.codemode.outcome import Outcome
from pegboard.codemode.toolbox import Toolbox


class Engine(Protocol):
    """A sandbox for one language. Whatever the code does, `run` comes back within a second of the limits."""

    async def run(self, code: str, box: Toolbox, clock: Clock) -> Outcome:
        """Run code; what goes wrong in it is in the outcome, never raised.

        Parameters:
            code: the code.
            box: the tools that it may call, and what it may take.
            clock: its time.
        """
        ...

    async def close(self) -> None:
        """End the processes that wait for code."""
        ...
