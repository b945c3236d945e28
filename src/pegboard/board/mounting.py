"""Sources that come and go while a board runs, and what is installed beside its config."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import anyio
import anyio.to_thread

from pegboard.board.kinds import STARTS, filters_of, source_of
from pegboard.board.memory import Memory
from pegboard.board.passage import Passage
from pegboard.board.roster import Roster
from pegboard.config import Config, SourceConfig
from pegboard.core import SourceStatus
from pegboard.directory.merge import installed_config, with_state
from pegboard.directory.state import Installed, State, StateFile

R = TypeVar("R")


class Mounting:
    """The sources of a config, changed while they run.

    Parameters:
        config: the config as it is written.
        state: what is installed beside it.
        roster: the running sources.
        memory: what is remembered of them.
        passage: what their calls pass.
    """

    def __init__(self, config: Config, state: StateFile, roster: Roster, memory: Memory, passage: Passage) -> None:
        self._written, self._state = config, state
        self._roster, self._memory, self._passage = roster, memory, passage
        self.config = with_state(config, state.read())
        self._starting = anyio.CapacityLimiter(STARTS)
        self.lock = anyio.Lock()

    @property
    def state(self) -> State:
        """What is installed, as this process knows it."""
        return self._state.read() if self._state.changed() else self._state.held

    async def finish(self, work: Callable[[], Awaitable[R]]) -> R:
        """Do work to its end on the board, even where whoever asked for it is gone meanwhile."""
        return await self._roster.finish(work)

    def offered(self, source: str) -> list[str]:
        """The bare names of the tools that a source listed last."""
        return self._roster.offered(source)

    def planned(self, installed: Installed) -> SourceConfig:
        """An installed source as the board would have it.

        Raises:
            InvalidConfigError: its table has mistakes.
        """
        return installed_config(self._written, installed)

    async def mount(self, source: SourceConfig) -> SourceStatus:
        """Put a source on the board, or another in the place of one of its name; it is started and listed."""
        self.config = replace(self.config, sources={**self.config.sources, source.name: source})
        self._memory.know(source)
        self._passage.limits.know(source, self.config)
        self._roster.know(source)
        made = source_of(source, self.config, self._starting, self._passage.shelf)
        return await self._roster.add(made, filters_of(replace(self.config, sources={"": source})).get(""))

    async def unmount(self, name: str) -> None:
        """Take a source off the board."""
        self.config = replace(self.config, sources={k: v for k, v in self.config.sources.items() if k != name})
        await self._roster.remove(name)
        await anyio.to_thread.run_sync(self._memory.forget, name)

    async def catch_up(self) -> None:
        """Follow what another process has installed, switched or uninstalled; next to nothing where none has."""
        if not self._state.changed() or self.lock.locked():
            return
        async with self.lock:
            wanted = with_state(self._written, self._state.read()).sources
            for name in [name for name in self.config.sources if name not in wanted]:
                await self.unmount(name)
            for source in wanted.values():
                if self.config.sources.get(source.name) != source:
                    await self.mount(source)
