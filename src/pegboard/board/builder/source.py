"""The source of the namespace `builder`."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from pegboard.board.builder.acting import acting
from pegboard.board.builder.judging import judging
from pegboard.board.builder.looking import looking
from pegboard.config import Config
from pegboard.core import Health, Listing, SourceRef, SourceState, Tool, ToolName

if TYPE_CHECKING:
    from pegboard.board.board import Board

NAMESPACE = "builder"
KIND = "builder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """What an agent may do through the namespace.

    Parameters:
        write: whether `apply_improvement` may write into the config; else it only shows.
        servers: whether `discover_mcp_server_tools` may start programs and reach addresses.
    """

    write: bool = False
    servers: bool = False


class BuilderSource:
    """The tools of the procedure over one board.

    Parameters:
        leave: what an agent may do.
    """

    name = NAMESPACE
    kind = KIND

    def __init__(self, leave: Leave) -> None:
        self._leave = leave
        self._board: Board | None = None
        self._ended = anyio.Event()

    def over(self, board: "Board") -> None:
        """Name the board that the tools are about."""
        self._board = board

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """There is nothing to hold open."""
        self._ended = anyio.Event()
        try:
            yield
        finally:
            self._ended.set()

    async def listing(self) -> Listing:
        """The tools."""
        assert self._board is not None  # the board names itself before it opens its sources
        board = self._board
        tools = [*looking(board, self._leave.servers), *judging(board), *acting(board, self._leave.write)]
        return Listing(tuple(_placed(tools)))

    async def health(self) -> Health:
        """Always ready."""
        return Health(SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """None; ends with the session."""
        await self._ended.wait()
        for never in ():
            yield never


def builder_of(config: Config) -> list[BuilderSource]:
    """The source of the namespace, where a config asks for it, else none."""
    table = config.tables["builder"]
    return [BuilderSource(Leave(write=table["write"], servers=table["servers"]))] if table["enabled"] else []


def _placed(tools: Sequence[Tool]) -> list[Tool]:
    source = SourceRef(NAMESPACE, KIND)
    return [
        Tool(replace(tool.spec, name=ToolName(NAMESPACE, tool.name.name), source=source), tool.handler)
        for tool in tools
    ]
