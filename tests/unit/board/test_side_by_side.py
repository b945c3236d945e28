"""Searches that are made at once, while the index is still to be made."""

import anyio
import pytest

from pegboard.board import Board
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


async def test_searches_that_are_made_at_once_all_end() -> None:
    found: list[int] = []
    async with Board.of(FakeSource("crm", {"find": None, "drop": None})) as board:

        async def search() -> None:
            found.append(len((await board.search("find")).hits))

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(search)
    assert found == [1] * 5
