"""A board for code that is not asynchronous: the same object, its event loop in a thread of its own."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

if TYPE_CHECKING:
    from pegboard.board.board import Board


class BlockingBoard:
    """The methods and properties of a `Board`; those that are coroutines there wait here for their result.

    Parameters:
        board: the board, entered in the portal's loop.
        portal: the way into that loop.
    """

    def __init__(self, board: "Board", portal: BlockingPortal) -> None:
        self._board = board
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        """The board's attribute of this name."""
        found = getattr(self._board, name)
        return partial(self._wait, found) if callable(found) else found

    def _wait(self, method: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        if iscoroutinefunction(method):
            return self._portal.call(partial(method, *arguments, **more))
        return method(*arguments, **more)


@contextmanager
def blocking(board: "Board") -> Generator[BlockingBoard]:
    """Run a board's event loop in a thread, for as long as the context lasts."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(board):
        yield BlockingBoard(board, portal)
