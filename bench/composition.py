"""What composed tools cost, as ratios in one run: batch, bundle, scatter, mode, import of a large description.

python bench/composition.py [OPENAPI.json]
"""

import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from pegboard.board import Board
from pegboard.catalog import Catalog
from pegboard.compose import batch, bind
from pegboard.compose.bundle import Bundle
from pegboard.compose.scatter import scatter
from pegboard.compose.steps import read_steps
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

DESCRIPTION = Path(__file__).parents[1] / "tests" / "corpus" / "openapi" / "github-slice.json"


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


async def batches() -> None:
    one = tool("one", 0.01)
    call = board([one, batch("one", name="many", over="item", concurrency=50, limit=50)], [])

    async def in_a_row() -> None:
        for item in range(50):
            await call("one", item=item)

    async def gathered() -> None:
        async with anyio.create_task_group() as tasks:
            for item in range(50):
                tasks.start_soon(lambda item=item: call("one", item=item))

    row, gather, many = (
        await timed(in_a_row, 2),
        await timed(gathered),
        await timed(lambda: call("many", item=list(range(50)))),
    )
    print(f"batch of 50 at 10 ms: {row / many:.1f}x faster than 50 calls in a row (goal 5)")
    print(f"batch of 50 at 10 ms: {many / gather:.2f}x of a gather by hand (goal 1.5)")


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


async def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DESCRIPTION
    json.loads(path.read_text())
    for part in (batches, bundles, scatters, wrappers):
        await part()
    await imports(path)


if __name__ == "__main__":
    anyio.run(main)
