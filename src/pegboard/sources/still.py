"""What sources have in common whose tools never change and that hold nothing open."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio

from pegboard.core import Health, SourceState


class Still:
    """The part of a source that is the same wherever nothing is held open and no tool comes or goes."""

    def __init__(self) -> None:
        self._ended = anyio.Event()

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """There is nothing to hold open."""
        self._ended = anyio.Event()
        try:
            yield
        finally:
            self._ended.set()

    async def health(self) -> Health:
        """Always ready."""
        return Health(SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """None; ends with the session."""
        await self._ended.wait()
        for never in ():
            yield never
