"""Opening the board that a command is about, with a word on how its sources come up."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from pegboard.board import Board
from pegboard.cli.output import say
from pegboard.config import load


@asynccontextmanager
async def opened(config: Path) -> AsyncGenerator[Board]:
    """The board of a config; what is odd about it is told first."""
    settings = load(config)
    for warning in settings.warnings:
        say(f"pegboard: {warning}")
    async with Board.open(settings) as board:
        yield board
