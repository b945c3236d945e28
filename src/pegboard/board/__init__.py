"""The board: sources, catalog, index, pipeline and store, wired together; and what serves it."""

from pegboard.board.board import Board

__all__ = ["Board"]
