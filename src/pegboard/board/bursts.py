"""News gathered into bursts: each thing once, however often it was said."""

from collections.abc import AsyncIterator, Hashable
from typing import Generic, TypeVar

import anyio

N = TypeVar("N", bound=Hashable)

QUIET = 0.05
"""Seconds without anything new after which a burst is over."""
LONGEST = 1.0
"""Seconds after which a burst that does not end is told all the same."""


class Bursts(Generic[N]):
    """What is put in comes out once a burst."""

    def __init__(self) -> None:
        self._news: dict[N, None] = {}
        self._count = 0
        self._woken = anyio.Event()

    def put(self, one: N) -> None:
        """Something is new."""
        self._news[one] = None
        self._count += 1
        self._woken.set()

    async def told(self) -> AsyncIterator[tuple[N, ...]]:
        """The bursts, without end; each holds its news once, in the order in which they came."""
        while True:
            await self._woken.wait()
            with anyio.move_on_after(LONGEST):
                seen = -1
                while seen != self._count:
                    seen = self._count
                    await anyio.sleep(QUIET)
            found, self._news = tuple(self._news), {}
            self._woken = anyio.Event()
            yield found
