"""Code mode on a board: `run_code` over the tools that a config lets code call."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import anyio

from pegboard.board.memory import Memory
from pegboard.config import Config
from pegboard.core import Call, Result, Selection, Session, Shelf, Tool, ToolName, ToolSpec, default_mode, take_mode
from pegboard.schema.types import Json, JsonObject

if TYPE_CHECKING:
    from pegboard.codemode import Limits, Outcome, Runner, Toolbox
    from pegboard.codemode.journal import Journal
    from pegboard.codemode.runs import CodeRuns
    from pegboard.codemode.stubs import Language
    from pegboard.index import Found

_KIND = "codemode"
_PATIENCE = 5.0
"""Seconds for ending the processes, even while the board is being cancelled."""


class Over(Protocol):
    """The board, as code mode sees it."""

    async def run(self, call: Call) -> Result:
        """Run a call through the whole pipeline."""
        ...

    async def search(self, query: str, limit: int = 8) -> "Found":
        """Search the catalog."""
        ...


class Coding:
    """Puts `run_code` on a board, and runs it.

    Parameters:
        board: the board.
        config: its config; without its table `codemode` there is no code mode.
        shelf: keeps returned values that are too large to be shown.
        memory: keeps runs that wait, or that may have taken effect; without it none is kept.
    """

    def __init__(
        self, board: Over, config: Config | None, shelf: Shelf | None = None, memory: Memory | None = None
    ) -> None:
        self._board, self._shelf, self._memory = board, shelf, memory
        self._table: JsonObject = config.tables["codemode"] if config is not None else {}
        self._pool: tuple[ToolSpec, ...] = ()
        self._made: Runner | None = None

    @property
    def listed(self) -> bool:
        """Whether the config asks for code mode."""
        return bool(self._table.get("tools"))

    @property
    def pool(self) -> Sequence[ToolSpec]:
        """The tools that code may call now."""
        return self._pool

    def after(self, compose: Callable[[Sequence[Tool]], Sequence[Tool]]) -> Callable[[Sequence[Tool]], Sequence[Tool]]:
        """What composes the board's tools, with `run_code` behind them."""
        return lambda tools: self._with_code(compose(tools))

    def _with_code(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        if not self.listed:
            return tools
        from pegboard.codemode import run_code_spec
        from pegboard.codemode.stubs import Language

        picked = Selection.parse(self._table["tools"])
        self._pool = tuple(tool.spec for tool in tools if tool.spec in picked and tool.spec.source.kind != _KIND)
        languages = [Language(name) for name in self._table["languages"]] or list(Language)
        spec = run_code_spec(self._pool, languages, self._table["description"])
        taken = any(tool.name == spec.name for tool in tools)
        return tools if taken else [*tools, Tool(spec, self._run)]

    async def _run(self, call: Call) -> Result:
        return await self.runner(self.limits)(call)

    @property
    def limits(self) -> "Limits":
        """What a run may take, by the config."""
        from pegboard.codemode import Limits

        given = self._table
        return Limits(
            timeout_ms=given["timeout_ms"],
            max_calls=given["max_calls"],
            at_once=given["concurrency"],
            max_memory_mb=given["max_memory_mb"],
            max_output=given["max_output"],
            log_tail=given["log_tail"],
        )

    def runner(self, limits: "Limits") -> "Runner":
        """What runs code; the limits of the first asking hold."""
        if self._made is None:
            from pegboard.codemode import Runner

            given = self._table
            self._made = Runner(
                limits,
                self._box(limits),
                shelf=self._shelf,
                shown=given["max_shown"],
                most=given["max_runs"],
                warm=given["warm"],
                runs=self.runs,
            )
        return self._made

    async def run(self, code: str, language: "Language", call: Call, limits: "Limits") -> "Outcome":
        """Run code for somebody who reads the whole outcome.

        Parameters:
            code: the code.
            language: what it is written in.
            call: who calls; the code's calls are its children.
            limits: what the run may take.
        """
        return await self.runner(limits).run(code, language, call)

    @cached_property
    def runs(self) -> "CodeRuns | None":
        """The runs that are kept; None where nothing is."""
        from pegboard.codemode.runs import CodeRuns

        memory = self._memory
        return CodeRuns(lambda: memory.store) if memory is not None else None

    async def resume(
        self, id: str, limits: "Limits", *, redo: int | None = None, skip: int | None = None, output: Json = None
    ) -> "Outcome":
        """Go on with a run that waits, or was cut off: the code runs again, and its journal answers what was called.

        Parameters:
            id: the run; the beginning of its id is enough.
            limits: what it may take.
            redo: make this call again, of which nobody knows whether it took effect.
            skip: take `output` for what this call came to.
            output: that.

        Raises:
            CodeError: there is no such run or call, the run is over, or another process has it.
            StoreError: the store cannot be written.
        """
        from pegboard.codemode.fault import unknown_run
        from pegboard.codemode.stubs import Language
        from pegboard.codemode.tool import NAME

        if self.runs is None:
            raise unknown_run(id, ())
        hold = await self.runs.taken(id, redo=redo, skip=skip, output=output)
        run = hold.run
        call = Call(
            tool=NAME,
            arguments={"code": run.code, "language": run.language},
            session=Session(run.session, principal=run.principal),
            id=uuid4().hex[:12],
        )
        return await self.runner(limits).go(run.code, Language(run.language), call, hold)

    def _box(self, limits: "Limits") -> "Callable[[Call, Language, Journal], Toolbox]":
        from pegboard.codemode import Toolbox
        from pegboard.compose.inner import IDEMPOTENCY_KEY, Inner, payload

        def box(call: Call, language: "Language", journal: "Journal") -> Toolbox:
            inner = Inner.of(self._board.run, call)

            async def dial(spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
                mode, rest = take_mode(spec, arguments)
                meta = {IDEMPOTENCY_KEY: f"{journal.id}:{key}"} if journal.id else {}
                return await inner.call(spec, rest, key=key, mode=mode or default_mode(spec), meta=meta)

            return Toolbox(self._pool, dial, limits, payload, find=self._find, language=language, journal=journal)

        return box

    async def _find(self, query: str, limit: int) -> Sequence[ToolName]:
        found: Any = await self._board.search(query, limit=limit)
        return [hit.spec.name for hit in found.hits]

    async def tested(self) -> dict[str, str | None]:
        """Whether each language can be started on this machine: None, or why not."""
        from pegboard.codemode.selftest import selftest

        return await selftest(self._table["languages"] or ("javascript", "python")) if self.listed else {}

    async def close(self) -> None:
        """End the processes that wait for code."""
        if self._made is not None:
            with anyio.move_on_after(_PATIENCE, shield=True):
                await self._made.close()
