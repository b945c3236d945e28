"""Servers on the public SDK, which do nothing wrong: every transport, both families."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from fault_kit import SERVERS, call, names

from pegboard.sources.mcp import McpSource

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SDK = str(SERVERS / "sdk.py")


@pytest.fixture(scope="module")
def addresses() -> Iterator[Callable[[str], str]]:
    """Starts a server for each transport when it is first asked for, and gives its address."""
    running: dict[str, tuple[subprocess.Popen[str], str]] = {}

    def address(transport: str) -> str:
        if transport not in running:
            process = subprocess.Popen([sys.executable, SDK, transport], stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            path = "mcp" if transport == "http" else "sse"
            running[transport] = process, f"http://127.0.0.1:{int(process.stdout.readline())}/{path}"
        return running[transport][1]

    yield address
    for process, _ in running.values():
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


async def exercise(source: McpSource) -> None:
    """List, call, hear progress, get an image and structured content back, and see the list grow."""
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
        steps.append(progress)

    changed = anyio.Event()

    async def listen() -> None:
        async for _ in source.changes():
            changed.set()

    async with source.session(), anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        listing = await source.listing()
        assert names(listing)[:4] == ["echo", "picture", "grow", "slow"]
        assert (await call(source, listing, "echo", arguments={"x": [1]})).value == {"seen": {"x": [1]}}
        assert (await call(source, listing, "picture")).content[0]["mimeType"] == "image/png"
        await call(source, listing, "slow", progress=on_progress)
        with anyio.fail_after(60):
            while not changed.is_set():
                await call(source, listing, "grow")
                with anyio.move_on_after(0.3):
                    await changed.wait()
        assert len(names(await source.listing())) > len(names(listing))
        tasks.cancel_scope.cancel()
    assert steps == [0, 1, 2]


@pytest.mark.parametrize("family", ["auto", "handshake", "modern"])
async def test_over_stdio(family: Any) -> None:
    await exercise(McpSource("sdk", [sys.executable, SDK, "stdio"], family=family))


@pytest.mark.parametrize(
    ("transport", "family"),
    [("http", "auto"), ("http", "handshake"), ("http", "modern"), ("sse", "auto"), ("sse", "handshake")],
)
async def test_over_http(addresses: Callable[[str], str], transport: Any, family: Any) -> None:
    await exercise(McpSource("sdk", addresses(transport), transport=transport, family=family))
