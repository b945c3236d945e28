"""The chains of a board, imported when there is one, over the board's store or one in memory."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pegboard.board.memory import Memory
from pegboard.core import Tool

if TYPE_CHECKING:
    from pegboard.chain import Chains
    from pegboard.chain.chains import Tools
    from pegboard.store import Store

COMPOSITE = "pegboard/composite"


class Procession:
    """The runs of the board's chains.

    Parameters:
        board: the tools that steps call.
        memory: what the board remembers; None: the runs are gone with this process.
    """

    def __init__(self, board: "Tools", memory: Memory | None) -> None:
        self._board, self._memory = board, memory

    def kept(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools, the chains among them so that their runs are kept."""
        if all(tool.spec.meta.get(COMPOSITE) != "chain" for tool in tools):
            return list(tools)
        return self.chains.kept(tools)

    @cached_property
    def chains(self) -> "Chains":
        """The runs."""
        from pegboard.chain import Chains

        return Chains(self._board, self._opened)

    def _opened(self) -> "Store":
        if self._memory is not None:
            return self._memory.store
        from pegboard.store import Store

        return Store.open(":memory:")


class Proceeding:
    """The part of a board that is about the runs of its chains."""

    _procession: Procession

    @property
    def chains(self) -> "Chains":
        """The runs of its chains: resume, fork, cancel, adopt, list, show."""
        return self._procession.chains
