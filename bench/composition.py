"""What composed tools cost, as ratios in one run: batch, bundle, scatter, mode, import of a large description.

python bench/composition.py [OPENAPI.json]
"""

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from pegboard.board import Board
from pegboard.catalog import Catalog
from pegboard.compose import bind
from pegboard.compose.bundle import Bundle
from pegboard.compose.scatter import scatter
from pegboard.compose.steps import read_steps
from pegboard.config import parse
from pegboard.core import (
    Call,
    Effects,
    Health,
    Mode,
    Result,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
    pipeline,
    with_modes,
)
from pegboard.invoke.modes import dry_run, modes
from pegboard.sources.openapi import OpenApiSource

ROOT = Path(__file__).parents[1]
DESCRIPTIONS = (
    ROOT.parent / "shared" / "corpus" / "openapi" / "slack-web-swagger2.json",  # 580 kB, where the corpus is there
    ROOT / "tests" / "corpus" / "openapi" / "github-slice.json",
)


async def timed(work: Callable[[], Awaitable[Any]], rounds: int = 5) -> float:
    """The median seconds of some rounds."""
    seconds: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        await work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def tool(name: str, pause: float, **more: Any) -> Tool:
    """A tool that waits as a remote one would."""

    async def handler(call: Call) -> Result:
        if pause:
            await anyio.sleep(pause)
        return Result(value=[{"id": call.arguments.get("item", 0)}])

    schema = {"type": "object", "properties": {"item": {"type": "integer"}}}
    return Tool(ToolSpec(name=ToolName("", name), input=schema, effects=Effects.READ_ONLY, **more), handler)


def board(tools: list[Tool], composites: list[Any]) -> Callable[..., Awaitable[Result]]:
    """A pipeline over some tools; call it with a name and arguments."""
    held: dict[str, Catalog] = {}

    async def dispatch(call: Call) -> Result:
        found = held["catalog"].get(call.tool)
        assert found is not None
        return await found.handler(call)

    def spec(name: ToolName) -> ToolSpec | None:
        found = held["catalog"].get(name)
        return found.spec if found else None

    async def health(_: ToolSpec) -> Health:
        return Health(SourceState.READY)

    run = pipeline(dispatch, modes(spec), dry_run(health, spec))
    held["catalog"] = bind(Catalog.of(tools), run, composites).catalog

    async def call(name: str, **arguments: Any) -> Result:
        return await run(Call(tool=ToolName("", name), arguments=arguments, mode=Mode.EXECUTE, id="b"))

    return call


async def batches(url: str) -> None:
    """A batch over HTTP, beside 50 calls in a row, a gather over the same board, and one that knows HTTP alone."""
    import httpx2

    items = list(range(50))
    tables = {
        "board": {"store": ":memory:"},
        "sources": {
            "api": {
                "http": {
                    "url": url + "/{{item}}",
                    "description": "Read an item.",
                    "effects": "read_only",
                    "parameters": {"type": "object", "properties": {"item": {"type": "integer"}}, "required": ["item"]},
                },
                "allow_private": True,
            }
        },
        "batch": {"many": {"tool": "api.api", "over": "item", "limit": 50}},
    }
    async with Board.open(parse(tables, folder=Path())) as opened, httpx2.AsyncClient() as client:

        async def ask(name: str, **arguments: Any) -> None:
            result = await opened.call(name, arguments)
            assert result.ok, result.failure

        async def in_a_row() -> None:
            for item in items:
                await ask("api.api", item=item)

        async def gathered() -> None:
            async with anyio.create_task_group() as tasks:
                for item in items:
                    tasks.start_soon(lambda item=item: ask("api.api", item=item))

        async def by_hand() -> None:
            async def fetch(item: int) -> None:
                (await client.get(f"{url}/{item}")).raise_for_status().json()

            async with anyio.create_task_group() as tasks:
                for item in items:
                    tasks.start_soon(fetch, item)

        await ask("many", item=items)
        await by_hand()
        row = await timed(in_a_row, 2)
        many = await timed(lambda: ask("many", item=items), 9)
        gather, hand = await timed(gathered, 9), await timed(by_hand, 9)
    print(f"batch of 50 over HTTP at 10 ms: {row / many:.1f}x faster than 50 calls in a row (goal 5)")
    print(f"batch of 50 over HTTP at 10 ms: {many / gather:.2f}x of a gather over the board (goal 1.5)")
    print(f"batch of 50 over HTTP at 10 ms: {many / hand:.2f}x of a gather by hand with httpx2 (goal 1.5)")
    print(f"    in a row {row:.3f} s, batch {many:.3f} s, gather over the board {gather:.3f} s, by hand {hand:.3f} s")


def serve() -> None:
    """An HTTP service that takes 10 ms; prints its address and serves until it is stopped."""
    import uvicorn

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        await anyio.sleep(0.01)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"ok": true}'})

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, so that Nagle is off
    listening.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    settings = uvicorn.Config(app, log_level="error", lifespan="off")
    uvicorn.Server(settings).run(sockets=[listening])


async def bundles() -> None:
    steps = [{"id": f"s{n}", "tool": "fast", "args": {"item": "${input.item}"}} for n in range(3)]
    three = Bundle(name=ToolName("", "three"), description="Three.", steps=read_steps(steps, "steps"))
    call = board([tool("fast", 0)], [three])

    async def plain() -> None:
        for _ in range(3):
            await call("fast", item=1)

    steps_alone, whole = await timed(plain, 200), await timed(lambda: call("three", item=1), 200)
    print(f"bundle of 3 steps: {(whole - steps_alone) * 1000:.3f} ms over its steps (goal 1)")


async def scatters() -> None:
    pauses = [0.02, 0.04, 0.06, 0.08, 0.1]
    tools = [tool(f"s{n}", pause) for n, pause in enumerate(pauses)]
    call = board([*tools, scatter("all", {f"s{n}": f"s{n}" for n in range(5)})], [])
    seconds = await timed(lambda: call("all", item=1))
    print(f"scatter over 5 sources: {seconds / max(pauses):.2f}x of the slowest (goal 1.1)")


async def wrappers() -> None:
    plain = tool("plain", 0)
    moded = Tool(with_modes(plain.spec, [Mode.PREVIEW]), plain.handler)
    call = board([moded], [])

    async def bare() -> None:
        await moded.handler(Call(tool=moded.name, arguments={"item": 1}))

    base, whole = await timed(bare, 2_000), await timed(lambda: call("plain", item=1), 2_000)
    print(f"modes: {(whole - base) * 1_000_000:.1f} us a call (goal 20)")


async def imports(path: Path) -> None:
    async def listing() -> None:
        async with Board.of(OpenApiSource("api", str(path))) as opened:
            sizes.append(len(opened.catalog))

    sizes: list[int] = []
    seconds = await timed(listing, 3)
    print(f"import of {path.name} ({path.stat().st_size // 1000} kB, {sizes[0]} tools): {seconds:.2f} s (goal 2)")


async def measure(path: Path, url: str) -> None:
    await batches(url)
    for part in (bundles, scatters, wrappers):
        await part()
    await imports(path)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else next(path for path in DESCRIPTIONS if path.exists())
    json.loads(path.read_text())
    with subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            anyio.run(measure, path, server.stdout.readline().strip())
        finally:
            server.terminate()


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
