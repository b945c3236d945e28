"""The source of the namespace `builder`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pegboard.board.builder.acting import acting
from pegboard.board.builder.judging import judging
from pegboard.board.builder.looking import looking
from pegboard.board.builder.publishing import publishing
from pegboard.config import Config
from pegboard.core import Listing, SourceRef, Tool, ToolName
from pegboard.sources.still import Still

if TYPE_CHECKING:
    from pegboard.board.board import Board

NAMESPACE = "builder"
KIND = "builder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """What an agent may do through the namespace.

    Parameters:
        write: whether `apply_improvement` may write into the config, and versions be published; else both only show.
        servers: whether `discover_mcp_server_tools` may start programs and reach addresses.
    """

    write: bool = False
    servers: bool = False


class BuilderSource(Still):
    """The tools of the procedure over one board.

    Parameters:
        leave: what an agent may do.
    """

    name = NAMESPACE
    kind = KIND

    def __init__(self, leave: Leave) -> None:
        super().__init__()
        self._leave = leave
        self._board: Board | None = None

    def over(self, board: "Board") -> None:
        """Name the board that the tools are about."""
        self._board = board

    async def listing(self) -> Listing:
        """The tools."""
        assert self._board is not None  # the board names itself before it opens its sources
        board = self._board
        leave = self._leave
        tools = [
            *looking(board, leave.servers),
            *judging(board),
            *acting(board, leave.write),
            *publishing(board, leave.write),
        ]
        return Listing(tuple(_placed(tools)))


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
