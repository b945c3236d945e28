"""Chains through a real gateway and the public client of both families; the gateway is killed, and another goes on."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from journey_kit import Gateway, until
from mcp import Client
from mcp_types import ElicitResult

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SHOP = '''
import os
from pathlib import Path

import anyio

from pegboard import tool
from pegboard.core import Effects

BOOK = Path(__file__).with_name("book")


def note(words: str) -> str:
    with BOOK.open("a") as book:
        book.write(words + os.linesep)
    return words


@tool(effects=Effects.IDEMPOTENT)
async def mail(to: str) -> str:
    """Send a mail."""
    return note(f"mail {to}")


@tool(effects=Effects.ADDITIVE)
async def charge(note_: str) -> str:
    """Charge for it."""
    return note(f"charge {note_}")


@tool(effects=Effects.READ_ONLY)
async def look(at: str) -> str:
    """Look at something, for as long as it takes."""
    note(f"look {at}")
    if at == "long":
        await anyio.sleep(600)
    if at == "nothing":
        raise ValueError("there is nothing")
    return at
'''
CONFIG = """
[sources.shop]
python = "shop"

[approval]
require = ["shop.charge"]
wait = 30

[chain.checkout]
description = "Mail, charge, look."
steps = [
  { id = "sent", tool = "shop.mail", args = { to = "${input.name}" } },
  { id = "paid", tool = "shop.charge", args = { note_ = "${sent}" } },
  { id = "seen", tool = "shop.look", args = { at = "${paid}" } },
]

[chain.broken]
description = "Mail, then look at nothing."
steps = [
  { id = "sent", tool = "shop.mail", args = { to = "${input.name}" } },
  { id = "seen", tool = "shop.look", args = { at = "nothing" } },
  { id = "late", tool = "shop.mail", args = { to = "${seen}" } },
]

[chain.long]
description = "Look for long."
steps = [
  { id = "seen", tool = "shop.look", args = { at = "${input.at}" } },
  { id = "sent", tool = "shop.mail", args = { to = "${seen}" } },
]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "pegboard.toml").write_text(CONFIG)
    return tmp_path


def book(folder: Path) -> list[str]:
    path = folder / "book"
    return path.read_text().splitlines() if path.exists() else []


def pegboard(folder: Path, *arguments: str) -> Any:
    command = [sys.executable, "-m", "pegboard", *arguments, "--json", "--config", str(folder)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout)


def unheld(folder: Path, chain: str) -> list[Any]:
    """The runs of a chain that no process has."""
    runs = pegboard(folder, "chain", "list")["runs"]
    return [run for run in runs if run["chain"] == chain and not run["owner"]]


async def agrees(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"decision": "allow_once"})


@pytest.mark.requirement("C6.3", "C6.5")
@pytest.mark.parametrize("family", ["legacy", "auto"])
async def test_a_client_sees_how_far_a_chain_is_is_asked_in_the_middle_and_hears_which_step_failed(
    folder: Path, family: str
) -> None:
    served = Gateway(folder, "stdio")
    heard: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total))

    async with Client(served.target, mode=family, elicitation_callback=agrees) as client:
        result = await client.call_tool("checkout", {"name": "ann"}, progress_callback=progress)
        assert not result.is_error, result
        assert book(folder) == ["mail ann", "charge mail ann", "look charge mail ann"]
        assert heard == [(1, 3), (2, 3), (3, 3)]

        broken = await client.call_tool("broken", {"name": "bob"})
        failure = broken.meta["pegboard/failure"]
        assert broken.is_error
        assert failure["where"] == "/steps/seen"
        assert "there is nothing" in failure["message"]
        assert failure["details"]["not_done"] == ["seen", "late"]

        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "long", {"at": "long"})
                await until(lambda: "look long" in book(folder))
                scope.cancel()
        runs = await until(lambda: unheld(folder, "long"))
    assert [run["status"] for run in runs] == ["running"]  # nobody has it: whoever wants to may resume it
    assert "mail long" not in book(folder)


@pytest.mark.requirement("C6.3")
async def test_a_gateway_that_is_killed_while_a_person_is_asked_leaves_a_run_that_the_next_one_finishes(
    folder: Path,
) -> None:
    first = Gateway(folder, "http")
    address = first.start()
    requests: list[Any] = []
    with pytest.raises(BaseExceptionGroup):
        async with Client(address, read_timeout_seconds=60) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "checkout", {"name": "ann"})
            requests += await until(lambda: pegboard(folder, "approvals", "list")["requests"])
            first.processes[0].send_signal(signal.SIGKILL)
            first.processes[0].wait(timeout=30)
    run = pegboard(folder, "chain", "list")["runs"][0]
    shown = pegboard(folder, "chain", "show", run["id"])
    assert {step["step"]: step["status"] for step in shown["steps"]} == {"sent": "ok", "paid": "waiting"}
    pegboard(folder, "approvals", "allow", requests[0]["id"])
    second = Gateway(folder, "http")
    try:
        second.start()
        await until(lambda: pegboard(folder, "chain", "show", run["id"])["status"] == "done")
    finally:
        first.close()
        second.close()
    assert book(folder) == ["mail ann", "charge mail ann", "look charge mail ann"]
