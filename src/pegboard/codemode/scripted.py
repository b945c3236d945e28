"""Tools that are a few lines of JavaScript: run in the sandbox, with no tool to call, no file and no network.

In the code `input` is the object of arguments, and what it returns is the result. (Runtype calls these custom tools,
and in a flow transform-data.)
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from pegboard.codemode.clock import Clock
from pegboard.codemode.deno import DenoEngine
from pegboard.codemode.limits import Limits
from pegboard.codemode.outcome import Outcome, Stop
from pegboard.codemode.toolbox import Toolbox
from pegboard.core import (
    Call,
    Effects,
    FailureCode,
    Handler,
    Health,
    Listing,
    Note,
    NoteKind,
    Result,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.shorthand import read_object
from pegboard.schema.types import Json, JsonObject, as_object

KIND = "script"
_KEYS = ("code", "name", "description", "parameters", "timeout_ms")
_MOST_CODE = 200_000
_TIMEOUT_MS = 60_000


class ScriptSource:
    """Tools that are JavaScript.

    Parameters:
        name: the source's name.
        table: one tool (`code`, `name`, `description`, `parameters`, `timeout_ms`), or a table of such by name.
        prefix: the namespace of its tools; the source's name by default.
    """

    kind = KIND

    def __init__(self, name: str, table: JsonObject, *, prefix: str | None = None) -> None:
        self.name, self._table = name, table
        self._namespace = name if prefix is None else prefix
        self._engines: dict[int, DenoEngine] = {}
        self._ended = anyio.Event()

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Nothing is started before the first call; the processes that wait for more end with the session."""
        self._ended = anyio.Event()
        try:
            yield
        finally:
            self._ended.set()
            with anyio.CancelScope(shield=True):
                for engine in self._engines.values():
                    await engine.close()
            self._engines.clear()

    async def listing(self) -> Listing:
        """The tools; one that cannot be read is set aside alone."""
        tools: list[Tool] = []
        notes: list[Note] = []
        for name, row in self._rows().items():
            try:
                tools.append(self._tool(name, row))
            except DefinitionError as problem:
                notes.append(Note(NoteKind.SET_ASIDE, name, problem.where or "", str(problem)))
        return Listing(tuple(tools), tuple(notes))

    async def health(self) -> Health:
        """Ready: each call starts a process of its own."""
        return Health(SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """None; ends with the session."""
        await self._ended.wait()
        for never in ():
            yield never

    def _rows(self) -> Mapping[str, JsonObject]:
        if "code" in self._table:
            return {str(self._table.get("name", self.name)): self._table}
        return {name: {"code": row} if isinstance(row, str) else as_object(row) for name, row in self._table.items()}

    def _tool(self, name: str, row: JsonObject) -> Tool:
        where = f"sources.{self.name}.script.{name}"
        for key in row:
            if key not in _KEYS:
                near = nearest(key, _KEYS) or list(_KEYS)
                raise DefinitionError(f"A script has no {key!r}.", where=where, next_step=f"Use {' or '.join(near)}.")
        code: Any = row.get("code")
        if not isinstance(code, str) or not code.strip() or len(code) > _MOST_CODE:
            raise DefinitionError("`code` is a text of JavaScript.", where=where, next_step='Write "return input.a;".')
        spec = ToolSpec(
            name=ToolName(self._namespace, name),
            description=str(row.get("description") or f"Compute {name.replace('_', ' ')}."),
            input=read_object(row.get("parameters"), where) or {"type": "object", "additionalProperties": True},
            effects=Effects.READ_ONLY,
            source=SourceRef(self.name, KIND),
        )
        return Tool(spec, self._handler(code, _milliseconds(row, where)))

    def _handler(self, code: str, timeout_ms: int) -> Handler:
        limits = Limits(timeout_ms=timeout_ms, max_calls=0)

        async def run(call: Call) -> Result:
            engine = self._engines.setdefault(timeout_ms, DenoEngine(limits, warm=1))
            return result_of(await compute(engine, code, dict(call.arguments), limits))

        return run


async def compute(engine: DenoEngine, code: str, given: JsonObject, limits: Limits) -> Outcome:
    """Run code as the body of a function of `input`.

    Parameters:
        engine: the sandbox.
        code: the body.
        given: what `input` is.
        limits: what it may take.
    """
    text = json.dumps(json.dumps(given, ensure_ascii=True))
    body = f"return await (async (input) => {{ {code}\n}})(JSON.parse({text}));"
    box = Toolbox((), _none, limits, _nothing)
    return await engine.run(body, box, Clock(limits.seconds))


def result_of(outcome: Outcome) -> Result:
    """What a run came to, as a tool's result."""
    fault = outcome.error
    if fault is None:
        return Result(value=outcome.value)
    code = {
        Stop.TIMEOUT: FailureCode.TIMEOUT,
        Stop.OUTPUT: FailureCode.TOO_LARGE,
        Stop.UNAVAILABLE: FailureCode.UNAVAILABLE,
    }.get(fault.stop, FailureCode.FAILED)
    said = f"{fault.name}: {fault.message}" if fault.name else fault.message
    where = f"line {fault.line}" if fault.line else None
    step = "Whoever runs the board sees more with `pegboard doctor`." if code is FailureCode.UNAVAILABLE else None
    return Result.failed(code, said, where=where, next_step=step or "Correct the script or what it was given.")


def _milliseconds(row: JsonObject, where: str) -> int:
    given: Any = row.get("timeout_ms", _TIMEOUT_MS)
    if isinstance(given, bool) or not isinstance(given, int) or not 10 <= given <= 3_600_000:
        raise DefinitionError(f"timeout_ms cannot be {given!r}.", where=where, next_step="Use milliseconds: 60000.")
    return given


async def _none(spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
    return Result.failed(FailureCode.BLOCKED, "A script calls no tools.")


def _nothing(result: Result) -> Json:
    return result.value
