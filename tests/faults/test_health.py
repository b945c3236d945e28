"""A real server that hangs: its health is told in under a second, and the others are not held up."""

import os
import signal
from pathlib import Path

import anyio
import pytest
from journey_kit import workshop

from pegboard.board import Board
from pegboard.core import SourceState

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.requirement("C11.2", "C11.4")
async def test_a_stopped_server_is_unavailable_in_under_a_second_and_healthy_again_when_it_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "local.py").write_text(
        'from pegboard import tool\n@tool\ndef now() -> int:\n    """Now."""\n    return 1\n'
    )
    (tmp_path / "pegboard.toml").write_text(
        f'[board]\nstore = ":memory:"\n[sources.ws]\n{workshop()}\n[sources.own]\npython = "local"\n'
    )
    async with Board.open(tmp_path) as board:
        told = await board.call("ws.pid")
        server = int(told.content[0]["text"])
        [well] = await board.check(["ws"], probe=True)
        assert well.status == "healthy" and well.state is SourceState.READY
        os.kill(server, signal.SIGSTOP)
        try:
            with anyio.fail_after(60):
                found = await board.call("check_service_health", {"probe": True})
            status = {row["service"]: row["status"] for row in found.value["services"]}
            assert status == {"ws": "unavailable", "own": "healthy"}
            assert "no answer within 0.8 s" in found.content[0]["text"]
            with anyio.fail_after(60):
                assert (await board.call("list_available_tools")).ok
        finally:
            os.kill(server, signal.SIGCONT)
        [again] = await board.check(["ws"], probe=True)
        assert again.status == "healthy"
