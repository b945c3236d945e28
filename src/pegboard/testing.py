"""Fakes to test with, part of the product: they behave as the real thing does, without processes, files or clocks."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TypeAlias, cast

import anyio

from pegboard.core import (
    Call,
    Failure,
    Health,
    Listing,
    Note,
    Result,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.errors import SourceError, StoreError
from pegboard.schema.types import Json
from pegboard.trace.record import Run
from pegboard.trace.store import Entry, RunFilter, RunSummary, matches_tool

Script: TypeAlias = Result | Failure | BaseException | Json | Callable[[Call], Awaitable[Result]]
"""What a fake tool does: answer with a result, fail, raise, answer with a value, or run a function."""


@dataclass
class FixedClock:
    """A clock that stands still until it is moved.

    Parameters:
        now: Unix time in seconds.
    """

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        """The time it shows."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Move it on."""
        self.now += seconds


@dataclass
class RecordingHandler:
    """A handler that remembers its calls and answers as told.

    Parameters:
        script: what it does; by default it answers with the call's arguments.
        gate: where set, it waits for this event before it answers, so that a test decides when.
        calls: the calls so far.
        started: set when the first call has arrived.
    """

    script: Script = None
    gate: anyio.Event | None = None
    calls: list[Call] = field(default_factory=list[Call])
    started: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, call: Call) -> Result:
        """Take a call."""
        self.calls.append(call)
        self.started.set()
        if self.gate is not None:
            await self.gate.wait()
        return await play(self.script, call)


async def play(script: Script, call: Call) -> Result:
    """Do for a call what a script says."""
    match script:
        case Result():
            return script
        case Failure():
            return Result(failure=script)
        case BaseException():
            raise script
        case None:
            return Result(value=dict(call.arguments))
        case _ if callable(script):
            return await cast("Callable[[Call], Awaitable[Result]]", script)(call)
        case value:
            return Result(value=value)


class FakeSource:
    """A source whose tools, failures and delays a test decides.

    Parameters:
        name: its name, and the namespace of tools that name none.
        tools: what each tool does, by its bare name; or a spec, where more than a name matters.
        notes: the notes on its listing.
        kind: its kind.

    Attributes:
        handlers: the handler of each tool, with the calls that it took.
        entered: how many times its session was opened.
    """

    def __init__(
        self,
        name: str,
        tools: Mapping[str, Script] | Sequence[ToolSpec] = (),
        *,
        notes: Sequence[Note] = (),
        kind: str = "fake",
    ) -> None:
        self.name, self.kind = name, kind
        self.notes = tuple(notes)
        self.instructions = ""
        self.entered = 0
        self.handlers: dict[str, RecordingHandler] = {}
        self._specs: dict[str, ToolSpec] = {}
        self._start_gate: anyio.Event | None = None
        self._start_error: BaseException | None = None
        self._health = Health(SourceState.READY)
        self._open = False
        self._changed = anyio.Event()
        if isinstance(tools, Mapping):
            for bare, script in tools.items():
                self.put(bare, script)
        else:
            for spec in tools:
                self.put(spec.name.name, spec=spec)

    def put(
        self, bare: str, script: Script = None, *, spec: ToolSpec | None = None, gate: anyio.Event | None = None
    ) -> None:
        """Add a tool, or replace it; an open board is told that the list has changed.

        Parameters:
            bare: its name in the namespace.
            script: what it does.
            spec: what it is; by default a tool that takes anything.
            gate: where set, its calls wait for this event.
        """
        made = spec or ToolSpec(name=ToolName(self.name, bare))
        self._specs[bare] = replace(made, source=SourceRef(self.name, self.kind))
        self.handlers[bare] = RecordingHandler(script, gate)
        self.announce()

    def drop(self, bare: str) -> None:
        """Take a tool away; an open board is told."""
        del self._specs[bare]
        self.announce()

    def announce(self) -> None:
        """Say that the listing may have changed."""
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def hold_start(self) -> anyio.Event:
        """Make the next start wait for the event that this returns."""
        self._start_gate = anyio.Event()
        return self._start_gate

    def fail_start(self, error: BaseException | None = None) -> None:
        """Make every start fail, by default with a `SourceError`."""
        self._start_error = error or SourceError("It was told to fail.", where=self.name)

    def set_health(self, state: SourceState, reason: str | None = None) -> None:
        """What `health` says from now on."""
        self._health = Health(state, reason)

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold it open."""
        if self._start_gate is not None:
            await self._start_gate.wait()
        if self._start_error is not None:
            raise self._start_error
        self.entered += 1
        self._open = True
        try:
            yield
        finally:
            self._open = False
            self.announce()

    async def listing(self) -> Listing:
        """The tools as they are now."""
        tools = tuple(Tool(spec, self.handlers[bare]) for bare, spec in self._specs.items())
        return Listing(tools, self.notes, self.instructions)

    async def health(self) -> Health:
        """What it was told to say."""
        return self._health

    async def changes(self) -> AsyncIterator[None]:
        """Yields after each `put`, `drop` and `announce`; ends with the session."""
        while self._open:
            await self._changed.wait()
            if self._open:
                yield


class MemoryTraces:
    """A `TraceStore` in memory.

    Attributes:
        entries: every call that was kept, in the order in which it came.
        broken: where set, each `append` fails with a `StoreError` of these words, as on a full disk.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.broken: str | None = None
        self.closed = False

    def append(self, entries: Sequence[Entry]) -> None:
        """Keep these calls."""
        if self.broken is not None:
            raise StoreError(self.broken)
        self.entries += entries

    def runs(self, where: RunFilter = RunFilter(), *, limit: int | None = 100) -> tuple[RunSummary, ...]:
        """The runs, the latest first."""
        found = [summary for summary in map(self._summary, self._ids()) if self._admits(where, summary)]
        found.sort(key=lambda summary: (-(summary.ended or 0), summary.id))
        return tuple(found[:limit])

    def run(self, id: str) -> Run | None:
        """One run, or None."""
        entries = self._of(id)
        agent = next((entry.agent for entry in entries if entry.agent), None)
        return (
            Run(id=id, agent=agent, calls=tuple(entry.record for entry in entries), source="board") if entries else None
        )

    def scan(self, where: RunFilter = RunFilter()) -> Iterator[Run]:
        """Every run, the earliest first."""
        for summary in sorted(self.runs(where, limit=None), key=lambda summary: (summary.started or 0, summary.id)):
            run = self.run(summary.id)
            if run is not None:
                yield run

    def prune(self, before: float, *, most: int | None = None) -> int:
        """Forget the runs that ended before a time, and all but the latest `most`."""
        old = {id for id in self._ids() if (self._summary(id).ended or 0) < before}
        if most is not None:
            old |= {summary.id for summary in self.runs(limit=None)[most:]}
        gone = [entry for entry in self.entries if entry.run in old]
        self.entries = [entry for entry in self.entries if entry.run not in old]
        return len(gone)

    def close(self) -> None:
        """Nothing to let go of."""
        self.closed = True

    def _ids(self) -> list[str]:
        return list(dict.fromkeys(entry.run for entry in self.entries))

    def _of(self, id: str) -> list[Entry]:
        entries = [entry for entry in self.entries if entry.run == id]
        return sorted(entries, key=lambda entry: (entry.record.started or 0, entry.seq))

    def _summary(self, id: str) -> RunSummary:
        entries = self._of(id)
        records = [entry.record for entry in entries]
        timed = [
            (record.started, record.started + (record.seconds or 0)) for record in records if record.started is not None
        ]
        return RunSummary(
            id=id,
            agent=next((entry.agent for entry in entries if entry.agent), None),
            calls=len(records),
            failed=sum(record.ok is False for record in records),
            tools=tuple(dict.fromkeys(record.tool for record in records)),
            started=min((start for start, _ in timed), default=None),
            ended=max((end for _, end in timed), default=None),
        )

    def _admits(self, where: RunFilter, summary: RunSummary) -> bool:
        records = [entry.record for entry in self.entries if entry.run == summary.id]
        return (
            (where.agent is None or (summary.agent is not None and fnmatchcase(summary.agent, where.agent)))
            and (where.failed is None or (summary.failed > 0) is where.failed)
            and (where.since is None or (summary.ended or 0) >= where.since)
            and (where.tool is None or any(matches_tool(where.tool, record.tool) for record in records))
            and (where.source is None or any(record.source == where.source for record in records))
        )
