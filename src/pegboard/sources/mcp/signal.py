"""That something changed, told once however often it was said."""

from collections.abc import AsyncIterator

import anyio

_QUIET = 0.1
"""Seconds without a further change after which a burst of changes is over."""

_LONGEST = 2.0
"""Seconds after which a burst that does not end is told all the same."""


class Signal:
    """Changes, gathered into bursts for whoever listens."""

    def __init__(self) -> None:
        self._count = 0
        self._open = False
        self._woken = anyio.Event()

    def open(self) -> None:
        """Let listeners wait."""
        self._open = True

    def close(self) -> None:
        """Let every listener go."""
        self._open = False
        self._woken.set()

    def raise_(self) -> None:
        """Something changed."""
        self._count += 1
        self._woken.set()
        self._woken = anyio.Event()

    async def bursts(self) -> AsyncIterator[None]:
        """Yields once for each burst, until it is closed."""
        seen = self._count
        while self._open:
            if seen == self._count:
                await self._woken.wait()
                continue
            with anyio.move_on_after(_LONGEST):
                while seen != self._count:
                    seen = self._count
                    await anyio.sleep(_QUIET)
            seen = self._count
            yield None
