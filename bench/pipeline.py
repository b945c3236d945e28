"""What the pipeline costs a call: each middleware alone, all together, and recording, in microseconds (medians).

CPU time of the event loop's thread, so that other work on the machine does not count.

Run it with: python bench/pipeline.py
"""

import asyncio
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, thread_time

from pegboard.board.memory import Memory
from pegboard.board.passage import Limits, Passage
from pegboard.board.shelf import Assets
from pegboard.core import (
    Call,
    Effects,
    Failure,
    Handler,
    Health,
    Middleware,
    Result,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
    pipeline,
)
from pegboard.define import tool
from pegboard.invoke.binary import binary
from pegboard.invoke.conceal import conceal
from pegboard.invoke.concurrency import concurrency
from pegboard.invoke.dispatch import dispatch, unknown
from pegboard.invoke.guard import guard
from pegboard.invoke.handles import handles
from pegboard.invoke.modes import dry_run, modes
from pegboard.invoke.record import record
from pegboard.invoke.size import size
from pegboard.invoke.timeout import timeout
from pegboard.sources.shaped import Shape, reshape
from pegboard.trace.recorder import Recorder
from pegboard.trace.redact import Redactor
from pegboard.trace.shape import Shaper
from pegboard.trace.sqlite import SqliteTraces

ROUNDS, CALLS = 9, 2000
SHELF = Assets(Memory(":memory:", {}, ()))
NAME = ToolName("files", "search")
SPEC = ToolSpec(
    name=NAME,
    effects=Effects.READ_ONLY,
    source=SourceRef("files", "python"),
    input={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "paths": {"type": "array", "items": {"type": "string"}},
            "limit": {"type": "integer", "minimum": 1, "default": 10},
            "order": {"enum": ["name", "date", "size"]},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
ARGUMENTS = {"query": "annual report", "paths": ["a/b", "c/d"], "limit": 5, "order": "date"}
ANSWER = Result(value={"hits": [{"path": f"a/b/{n}.txt", "size": n * 1000} for n in range(5)]})

PHOTO = ToolSpec(
    name=NAME, input={"type": "object", "properties": {"photo": {"type": "string", "contentEncoding": "base64"}}}
)
SHAPES = {
    "input": Shape(input={"query": "text", "order": False, "limit": {"fix": 5}}),
    "fields": Shape(input={"query": "text"}, records="hits[0]", output={"file": "path", "bytes": "size"}),
    "conversions": Shape(
        input={"query": "text"},
        records="hits[0]",
        output={"file": "${path}", "size": {"path": "size", "unit": "B -> kB"}},
    ),
}


async def answer(call: Call) -> Result:
    """The tool itself: nothing."""
    return ANSWER


class Lookups:
    """The board's answers."""

    catalog = {NAME: Tool(SPEC, answer)}
    version: str | None = None

    def tool(self, name: ToolName) -> Tool | None:
        return self.catalog.get(name)

    def spec(self, name: ToolName) -> ToolSpec | None:
        found = self.catalog.get(name)
        return found.spec if found else None

    def lacking(self, name: ToolName) -> Failure:
        return unknown(name)

    async def health_of(self, spec: ToolSpec) -> Health:
        return Health(SourceState.READY)


async def median(handler: Handler, call: Call | None = None) -> float:
    """Microseconds of CPU a call, in the event loop's thread."""
    made = call or Call(tool=NAME, arguments=ARGUMENTS)
    found: list[float] = []
    for _ in range(ROUNDS):
        begun = thread_time()
        for _ in range(CALLS):
            await handler(made)
        found.append((thread_time() - begun) / CALLS * 1e6)
    return statistics.median(found)


async def main() -> None:
    """Print the table."""
    board, redactor = Lookups(), Redactor(["a-secret-of-some-length", "another-secret-value"])
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteTraces(Path(folder) / "traces.db")
        recorder = Recorder(store, capacity=10**9)
        alone: dict[str, Middleware | None] = {
            "nothing": None,
            "size": size(),
            "binary": binary(SHELF, board.spec),
            "conceal": conceal(redactor),
            "record": record(board.spec, recorder, Shaper(redactor)),
            "modes": modes(board.spec),
            "handles": handles(SHELF, lambda name: PHOTO),
            "guard": guard(board.spec),
            "dry run": dry_run(board.health_of, board.spec),
            "concurrency": concurrency(board.spec, lambda spec: [("files", 16)]),
            "timeout": timeout(board.spec, lambda spec: 60.0),
        }
        base = await median(dispatch(board.tool))
        print(f"{'dispatch':24}{base:8.2f} us")
        for name, middleware in alone.items():
            if middleware is not None:
                cost = await median(pipeline(dispatch(board.tool), middleware)) - base
                print(f"  + {name:20}{cost:8.2f} us")
        recorder.flush()
        for name, shape in SHAPES.items():
            one = reshape(Tool(SPEC, answer), shape)
            cost = await median(one.handler, Call(tool=NAME, arguments={"text": "annual report"})) - base
            print(f"{'reshaped: ' + name:24}{cost:8.2f} us")
        limits = Limits(seconds={"files": 60.0}, at_once={"files": 16})
        silent = Passage(limits=limits, redactor=redactor).handler(board, ())
        print(f"{'whole, no recording':24}{await median(silent):8.2f} us")
        whole = Passage(limits=limits, redactor=redactor, recorder=recorder).handler(board, ())
        print(f"{'whole':24}{await median(whole):8.2f} us")
        recorder.flush()
        print_writing(recorder, store)
        recorder.close()
    await python_tools()


def print_writing(recorder: Recorder, store: SqliteTraces) -> None:
    """What a record costs the writing thread: shaping, and the store."""
    entries = [entry for entry in store_entries(store)][:10_000]
    begun = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        other = SqliteTraces(Path(folder) / "traces.db")
        for start in range(0, len(entries), 100):
            other.append(entries[start : start + 100])
        other.close()
    spent = perf_counter() - begun
    print(
        f"{'writing, batches of 100':24}{spent / len(entries) * 1e6:8.2f} us a record ({len(entries) / spent:,.0f}/s)"
    )
    print(f"{'recorded':24}{recorder.status.written:8} calls, {recorder.status.dropped} dropped")


def store_entries(store: SqliteTraces):  # noqa: ANN201
    """The calls of a store, to be written again."""
    from pegboard.trace import Entry

    for run in store.scan():
        for number, call in enumerate(run.calls):
            yield Entry(run.id, number, call)


async def python_tools() -> None:
    """A function as a tool: asynchronous, and in a worker thread."""

    @tool
    async def later(query: str, limit: int = 5) -> dict[str, int]:
        return {query: limit}

    @tool
    def now(query: str, limit: int = 5) -> dict[str, int]:
        return {query: limit}

    call = Call(tool=later.name, arguments={"query": "x"})
    functions: list[tuple[str, Callable[..., object], Handler]] = [
        ("async function", later.function, later.tool.handler),
        ("function in a thread", now.function, now.tool.handler),
    ]
    for name, _, handler in functions:
        print(f"{name:24}{await median(handler, call):8.2f} us")


if __name__ == "__main__":
    asyncio.run(main())
