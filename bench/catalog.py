"""How a board carries many tools: 100, 1,000 and 10,000, each in processes of their own.

    python bench/catalog.py [--sizes 100 1000 10000]

The tools are recorded sources, read, normalised, stored and served like any other, and 16 live ones to measure
dispatch. Build: from nothing to a board that answers. Reopen: the same from its stored catalog. List: the first
`tools/list` through an SDK client in this process, with search (what a board of this size does) and without (every
tool, page by page). Dispatch: a call through the whole pipeline, recorded, to a live tool by its wire name. Memory:
what a process has at most that builds, serves, lists and searches, its client included. CPU times stand beside the
wall times, for machines that have other work.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

NOUNS = (
    "issue", "repository", "invoice", "message", "event", "file", "order", "ticket",
    "contact", "report", "branch", "user", "team", "payment", "task", "page",
)  # fmt: skip
VERBS = ("create", "update", "delete", "list", "search", "fetch", "archive", "export", "assign", "close")
SERVERS = 16
ROWS = (
    "build s", "build cpu s", "reopen s", "reopen cpu s", "search first ms", "search first cpu ms", "search ms",
    "list ms", "all: page 1 ms", "all: every page ms", "dispatch us", "memory MB",
)  # fmt: skip
GOALS = {"build s": "< 3", "dispatch us": "as with 100", "memory MB": "< 250"}


def row(number: int) -> dict[str, Any]:
    """One tool, of the size and shape that real servers have."""
    verb, noun = VERBS[number % len(VERBS)], NOUNS[number // len(VERBS) % len(NOUNS)]
    properties = {
        f"{noun}_id": {"type": "string", "description": f"The {noun}'s id, as {noun}_search gives it."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        "state": {"type": "string", "enum": ["open", "closed", "all"], "description": "Which ones."},
        "fields": {"type": "array", "items": {"type": "string"}, "description": "What to return of each."},
    }
    return {
        "name": f"{verb}_{noun}_{number}",
        "description": f"{verb.capitalize()} a {noun} in workspace {number}. Returns the {noun} with its state.",
        "inputSchema": {"type": "object", "properties": properties, "required": [f"{noun}_id"]},
        "annotations": {"readOnlyHint": verb in ("list", "search", "fetch")},
    }


def write(folder: Path, size: int) -> dict[str, Any]:
    """The board's tables, its recordings written beside it."""
    sources: dict[str, Any] = {}
    for server in range(SERVERS):
        path = folder / f"server{server}.json"
        path.write_text(json.dumps({"tools": [row(number) for number in range(server, size, SERVERS)]}))
        sources[f"server{server}"] = {"recorded": str(path)}
    return sources


def live() -> Any:
    """A few tools that answer."""
    from pegboard.core import Call, Result, ToolName, ToolSpec
    from pegboard.testing import FakeSource

    async def answer(call: Call) -> Result:
        return Result(value={"state": call.arguments["state"]})

    source = FakeSource("live")
    for number in range(SERVERS):
        spec = ToolSpec(name=ToolName("live", f"tool_{number}"), input=row(number)["inputSchema"] | {"required": []})
        source.put(spec.name.name, answer, spec=spec)
    return source


async def milliseconds(step: Callable[[], Awaitable[Any]], times: int = 1) -> float:
    """The median time of a step."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        await step()
        found.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(found)


async def measure(size: int) -> dict[str, float]:
    """Everything about one size."""
    from mcp import Client

    from pegboard.board import Board
    from pegboard.board.gateway import served
    from pegboard.config import parse

    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables: dict[str, Any] = {"sources": write(folder, size), "board": {"store": name}}
        config = parse(tables, folder=folder)

        async def opened() -> None:
            async with Board.open(config) as board:
                assert len(board.catalog) == size

        for step in ("build", "reopen"):
            cpu = time.process_time()
            found[f"{step} s"] = await milliseconds(opened) / 1e3
            found[f"{step} cpu s"] = time.process_time() - cpu
        async with Board.open(config, beside=[live()]) as board:
            cpu = time.process_time()
            found["search first ms"] = await milliseconds(lambda: board.search("close the tickets of a team"))
            found["search first cpu ms"] = (time.process_time() - cpu) * 1e3
            async with served(board) as server, Client(server) as client:
                found["list ms"] = await milliseconds(client.list_tools)
            found["search ms"] = await milliseconds(lambda: board.search("archive an invoice"), 20)
            arguments = {"state": "open", "limit": 5}
            await milliseconds(lambda: board.call("live__tool_7", arguments), 200)
            found["dispatch us"] = await milliseconds(lambda: board.call("live__tool_7", arguments), 2000) * 1e3
        tables["board"] |= {"search": "off", "max_direct": size}
        async with Board.open(parse(tables, folder=folder)) as board, served(board) as server, Client(server) as client:
            begun = time.perf_counter()
            page = await client.list_tools()
            found["all: page 1 ms"] = (time.perf_counter() - begun) * 1e3
            count = len(page.tools)
            while page.next_cursor is not None:
                page = await client.list_tools(cursor=page.next_cursor)
                count += len(page.tools)
            found["all: every page ms"] = (time.perf_counter() - begun) * 1e3
            assert count == size, count
    return found


async def memory(size: int) -> dict[str, float]:
    """What a process has at most that builds a board, serves it, searches and lists."""
    from mcp import Client

    from pegboard.board import Board
    from pegboard.board.gateway import served
    from pegboard.config import parse

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = parse({"sources": write(folder, size), "board": {"store": name}}, folder=folder)
        async with Board.open(config) as board, served(board) as server, Client(server) as client:
            await client.list_tools()
            await client.call_tool("tool_search", {"query": "close the tickets of a team"})
            return {"memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main(sizes: list[int]) -> None:
    """Measure each size in its own process, and print them side by side."""
    columns = []
    for size in sizes:
        columns.append({})
        for part in ("--one", "--memory"):
            answer = subprocess.run([sys.executable, __file__, part, str(size)], stdout=subprocess.PIPE, check=True)
            columns[-1] |= json.loads(answer.stdout)
    print(f"{'tools':20}" + "".join(f"{size:12,}" for size in sizes) + "   goal at the last")
    for name in ROWS:
        print(f"{name:20}" + "".join(f"{column[name]:12.3g}" for column in columns) + f"   {GOALS.get(name, '')}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one or options.memory:
        print(json.dumps(anyio.run(measure, options.one) if options.one else anyio.run(memory, options.memory)))
    else:
        main(options.sizes)
