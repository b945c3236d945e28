"""What a step of a chain costs, as ratios in one run: bare calls, a bundle, a chain on SQLite, and the same on DBOS.

python bench/runtime.py [STEPS]
"""

import logging
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from pegboard.catalog import Catalog
from pegboard.chain import Chain, Chains
from pegboard.compose import bind
from pegboard.compose.bundle import Bundle
from pegboard.core import Call, Effects, Result, Tool, ToolName, ToolSpec
from pegboard.store import Store

ROUNDS = 7


async def step(call: Call) -> Result:
    """A tool that does nothing."""
    return Result(value=call.arguments.get("number", 0))


SPEC = ToolSpec(
    name=ToolName("t", "step"),
    input={"type": "object", "properties": {"number": {"type": "integer"}}},
    effects=Effects.IDEMPOTENT,
)


class Small:
    """The tools without a pipeline, so that what is measured is the chain's own."""

    def __init__(self, store: Store, steps: int) -> None:
        rows = [{"id": f"s{at}", "tool": "t.step", "args": {"number": at}} for at in range(steps)]
        chain = Chain.read("chain", {"description": "Steps.", "steps": rows})
        bundle = Bundle(name=ToolName("", "bundle"), description="Steps.", steps=chain.steps)
        bound = bind(Catalog.of([Tool(SPEC, step)]), self.run, [chain, bundle]).catalog
        self.catalog = Catalog.of(Chains(self, lambda: store).kept(list(bound)))

    async def run(self, call: Call) -> Result:
        """Call a tool."""
        return await self.catalog.tools[call.tool].handler(call)

    async def call(self, name: str) -> None:
        """Run one of the composed tools."""
        result = await self.run(Call(tool=ToolName("", name), arguments={}))
        assert result.ok, result.failure


async def per_step(work: Callable[[], Awaitable[Any]], steps: int) -> float:
    """The median milliseconds a step takes."""
    seconds: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds) / steps * 1000


async def ours(folder: Path, steps: int) -> dict[str, float]:
    """Bare calls, a bundle and a chain."""
    with Store.open(folder) as store:
        small = Small(store, steps)

        async def bare() -> None:
            for at in range(steps):
                await step(Call(tool=SPEC.name, arguments={"number": at}))

        return {
            "bare calls": await per_step(bare, steps),
            "bundle": await per_step(lambda: small.call("bundle"), steps),
            "chain": await per_step(lambda: small.call("chain"), steps),
        }


def dbos(folder: Path, steps: int) -> float | None:
    """The same steps as one DBOS workflow over SQLite, as it comes; None where it is not installed."""
    try:
        from dbos import DBOS, DBOSConfig
    except ModuleNotFoundError:
        return None
    logging.disable(logging.CRITICAL)
    config: DBOSConfig = {"name": "bench", "system_database_url": f"sqlite:///{folder / 'dbos.sqlite'}"}
    DBOS(config=config)

    @DBOS.step()
    async def one(number: int) -> int:
        return number

    @DBOS.workflow()
    async def chain(count: int) -> None:
        for at in range(count):
            await one(at)

    DBOS.launch()
    try:
        return anyio.run(per_step, lambda: chain(steps), steps)
    finally:
        DBOS.destroy()


def main(steps: int) -> None:
    """Print milliseconds a step, and how many times a bare call that is."""
    with TemporaryDirectory() as folder:
        found: dict[str, float | None] = {**anyio.run(ours, Path(folder), steps), "dbos": dbos(Path(folder), steps)}
    bare = found["bare calls"] or 1.0
    for name, value in found.items():
        print(
            f"{name:12} not installed" if value is None else f"{name:12} {value:8.4f} ms a step {value / bare:9.0f} x"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
