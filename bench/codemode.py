"""What code mode costs, as ratios in one run: start, call, many at once; and the same work by single calls.

python bench/codemode.py [CALLS]
"""

import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from pegboard.board import Board
from pegboard.codemode import Limits, Toolbox
from pegboard.codemode.clock import Clock
from pegboard.codemode.deno import DenoEngine
from pegboard.codemode.engine import Engine
from pegboard.codemode.monty import MontyEngine
from pegboard.codemode.stubs import Language
from pegboard.codemode.tool import run_code_spec
from pegboard.config import parse
from pegboard.core import Effects, Result, Session, ToolName, ToolSpec
from pegboard.schema.types import JsonObject
from pegboard.surface import mcp
from pegboard.testing import FakeSource

LIMITS = Limits(timeout_ms=60_000, max_calls=100_000)
ROWS = [{"id": n, "title": f"Issue number {n}", "state": "open" if n % 3 else "closed"} for n in range(30)]
SPEC = ToolSpec(
    name=ToolName("repo", "issues"),
    description="List the issues of a repository.",
    input={"type": "object", "properties": {"repo": {"type": "string"}}, "required": ["repo"]},
    effects=Effects.READ_ONLY,
)
EMPTY = {Language.JAVASCRIPT: "return 1", Language.PYTHON: "1"}
CALLING = {
    Language.JAVASCRIPT: "for (let n = 0; n < {n}; n++) await tools.repo.issues({{ repo: 'r' + n }});",
    Language.PYTHON: "for n in range({n}):\n    repo__issues(repo='r' + str(n))",
}
COUNTING = """
const found = {{}};
const repos = Array.from({{ length: {n} }}, (_, at) => "r" + at);
await Promise.all(repos.map(async (repo) => {{
  found[repo] = (await tools.repo.issues({{ repo }})).filter((one) => one.state === "open").length;
}}));
return Object.values(found).reduce((sum, one) => sum + one, 0);
"""


async def timed(work: Callable[[], Awaitable[Any]], rounds: int = 7) -> tuple[float, float]:
    """The least and the median milliseconds of some rounds."""
    spent: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        await work()
        spent.append((time.perf_counter() - began) * 1000)
        await anyio.sleep(0.15)
    return min(spent), statistics.median(spent)


async def dial(spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
    """A tool that answers at once."""
    return Result(value=1)


async def run(engine: Engine, code: str, language: Language) -> None:
    """Run code over one tool that answers at once."""
    box = Toolbox((SPEC,), dial, LIMITS, lambda result: result.value, language=language)
    outcome = await engine.run(code, box, Clock(LIMITS.seconds))
    assert outcome.error is None, outcome.error


async def engine_of(language: Language, *, warm: int) -> Engine:
    """A sandbox that has run once."""
    engine: Engine = DenoEngine(LIMITS, warm=warm) if language is Language.JAVASCRIPT else MontyEngine(LIMITS)
    await run(engine, EMPTY[language], language)
    await anyio.sleep(0.5)
    return engine


async def starts(language: Language) -> None:
    """How long one empty run takes, with and without a process that waits."""
    for warm in (0, 2) if language is Language.JAVASCRIPT else (2,):
        engine = await engine_of(language, warm=warm)
        least, middle = await timed(lambda e=engine: run(e, EMPTY[language], language))
        print(f"{language} {'warm' if warm else 'cold'}: {least:.1f} ms at least, {middle:.1f} ms in the middle")
        await engine.close()


async def calls(language: Language, count: int) -> None:
    """How long one call takes, without the tool and without the board."""
    engine = await engine_of(language, warm=2)
    least, middle = await timed(lambda: run(engine, CALLING[language].format(n=count), language), rounds=5)
    print(f"{language}: {least * 1000 / count:.0f} us a call at least, {middle * 1000 / count:.0f} us in the middle")
    await engine.close()


async def many(language: Language) -> None:
    """How long 50 runs of 5 calls take that start together."""
    engine = await engine_of(language, warm=2)
    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(run, engine, CALLING[language].format(n=5), language)
    print(f"{language}: 50 runs of 5 calls at once: {time.perf_counter() - began:.2f} s")
    await engine.close()


def tokens(*values: Any) -> int:
    """Tokens of what a model reads or writes, four bytes each."""
    return sum(len(json.dumps(value).encode()) for value in values) // 4


async def beside(folder: Path, count: int) -> None:
    """The same question by code and by single calls: what passes a model's context, and how long the board takes."""
    source = FakeSource("repo")
    source.put("issues", Result(value=ROWS), spec=SPEC)
    config = parse({"board": {"store": str(folder / "store")}, "codemode": {"tools": ["repo.*"]}}, folder=folder)
    async with Board.open(config, beside=[source]) as board:
        code = COUNTING.format(n=count)
        await board.call("run_code", {"code": "return 1"})
        await anyio.sleep(0.5)
        began = time.perf_counter()
        answer = await board.call("run_code", {"code": code}, session=Session("code"))
        by_code = time.perf_counter() - began
        assert answer.ok, answer.failure
        began = time.perf_counter()
        single = [await board.call("repo.issues", {"repo": f"r{n}"}, session=Session("one")) for n in range(count)]
        by_call = time.perf_counter() - began
    shown = tokens(mcp.tool(run_code_spec([SPEC], list(Language)), "run_code"), {"code": code}, answer.value)
    passed = tokens(mcp.tool(SPEC, "repo__issues"), [[{"repo": f"r{n}"}, one.value] for n, one in enumerate(single)])
    print(f"{count} calls by code: {shown} tokens, {by_code * 1000:.0f} ms, 1 turn of the model")
    print(f"{count} calls one by one: {passed} tokens, {by_call * 1000:.0f} ms, {count} turns of the model")
    print(f"ratio: {passed / shown:.1f} x the tokens, {by_call / by_code:.2f} x the time on the board")


def pool() -> None:
    """What the definition costs with a pool of 5 and of 500 tools."""
    for size in (5, 500):
        specs = [ToolSpec(name=ToolName("ns", f"tool_{n}"), input=SPEC.input) for n in range(size)]
        whole = tokens(*(mcp.tool(spec, spec.name.qualified) for spec in specs))
        print(f"pool of {size}: run_code {tokens(mcp.tool(run_code_spec(specs, list(Language)), 'run_code'))} tokens, "
              f"the tools themselves {whole}")  # fmt: skip


async def main(count: int) -> None:
    """All of it."""
    for language in Language:
        await starts(language)
        await calls(language, 500)
        await many(language)
    with TemporaryDirectory() as folder:
        await beside(Path(folder), count)
    pool()


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 40)
