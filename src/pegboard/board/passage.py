"""What every call of a board passes on its way to its tool, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

import anyio
import anyio.to_thread

from pegboard.board.consent import Consent
from pegboard.config import Config, SourceConfig
from pegboard.core import Call, Failure, Handler, Health, Middleware, Shelf, Source, Tool, ToolName, ToolSpec, pipeline
from pegboard.errors import StoreError
from pegboard.index import Use
from pegboard.invoke.binary import binary
from pegboard.invoke.conceal import conceal
from pegboard.invoke.concurrency import concurrency
from pegboard.invoke.deprecation import deprecation
from pegboard.invoke.dispatch import dispatch
from pegboard.invoke.guard import guard
from pegboard.invoke.handles import handles
from pegboard.invoke.hint import hints
from pegboard.invoke.modes import dry_run, modes
from pegboard.invoke.record import record
from pegboard.invoke.size import DEFAULT_LIMIT, Keep, size
from pegboard.invoke.timeout import timeout
from pegboard.trace.recorder import Recorder
from pegboard.trace.redact import Redactor
from pegboard.trace.shape import Shaper

if TYPE_CHECKING:
    from pegboard.trace.store import TraceStore

_TRACES = "traces.db"
_DAY = 86_400.0
_TIMED_ELSEWHERE = frozenset({"mcp", "subagents"})
"""Kinds of source that end their own calls: they know whether the request ever left."""


class Lookups(Protocol):
    """What the pipeline asks the board."""

    def tool(self, name: ToolName) -> Tool | None:
        """The tool of a full name."""
        ...

    def spec(self, name: ToolName) -> ToolSpec | None:
        """Its spec."""
        ...

    @property
    def version(self) -> str | None:
        """The published version that the board is held to, if any."""
        ...

    def lacking(self, name: ToolName) -> Failure:
        """Why there is no tool of a full name."""
        ...

    async def health_of(self, spec: ToolSpec) -> Health:
        """How a tool's source is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long, how many at once, and how large.

    Parameters:
        seconds: how long a call may take, by source; those that are not named take as long as they like.
        at_once: how many calls of one source run at once, by source, likewise.
        max_result: bytes of an answer that are shown.
    """

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    at_once: dict[str, int] = field(default_factory=dict[str, int])
    max_result: int = DEFAULT_LIMIT

    @classmethod
    def of(cls, config: Config, beside: Sequence[Source] = ()) -> Self:
        """The limits that a config sets, for its own sources and for those beside it."""
        kinds = {source.name: source.kind for source in (*config.sources.values(), *beside)}
        own = {name: source.call_timeout for name, source in config.sources.items()}
        return cls(
            seconds={
                name: own.get(name, config.board.call_timeout)
                for name, kind in kinds.items()
                if kind not in _TIMED_ELSEWHERE
            },
            at_once=dict.fromkeys(kinds, config.board.concurrency),
            max_result=config.board.max_result,
        )

    def know(self, source: SourceConfig, config: Config) -> None:
        """Hold the calls of one more source to its limits."""
        if source.kind not in _TIMED_ELSEWHERE:
            self.seconds[source.name] = source.call_timeout
        self.at_once[source.name] = config.board.concurrency


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The parts of a board's pipeline.

    Parameters:
        limits: its limits.
        redactor: knows its secrets.
        recorder: takes its calls; None where nothing is recorded.
        keep: keeps the whole of answers that were cut; None where nothing is kept.
        shelf: keeps their binary parts; None where those stay in them.
        consent: which calls wait for a person.
    """

    limits: Limits = Limits()
    redactor: Redactor = field(default_factory=Redactor)
    recorder: Recorder | None = None
    keep: Keep | None = None
    shelf: Shelf | None = None
    consent: Consent = field(default_factory=Consent)

    @classmethod
    def of(
        cls,
        config: Config,
        keep: Keep | None,
        beside: Sequence[Source] = (),
        shelf: Shelf | None = None,
        consent: Consent | None = None,
    ) -> Self:
        """The passage that a config sets; it hears of every secret that the config's references lead to.

        Parameters:
            config: the config.
            keep: keeps the whole of answers that were cut.
            beside: sources besides the config's.
            shelf: keeps the binary parts of answers.
            consent: which calls wait for a person.
        """
        redactor = Redactor()
        config.secrets.watch(redactor.register)
        store = exported(config, traces_of(config))
        keep_runs = config.board.keep_runs
        recorder = (
            None if store is None else Recorder(store, keep_seconds=config.board.keep_days * _DAY, keep_runs=keep_runs)
        )
        return cls(
            limits=Limits.of(config, beside),
            redactor=redactor,
            recorder=recorder,
            keep=keep,
            shelf=shelf,
            consent=consent or Consent(),
        )

    def handler(self, board: Lookups, outer: Sequence[Middleware]) -> Handler:
        """The whole pipeline.

        Outermost the size of what goes out and its binary parts, so that what is recorded is whole; then the record,
        which sees every refusal; deprecation; what was given; the mode and the arguments; a person's yes; last the
        place in the queue, the time, the tool.

        Parameters:
            board: what is asked.
            outer: middleware that was given: approval, budget.
        """
        limits = self.limits
        shaper = Shaper(self.redactor, version=lambda: board.version)
        recording = [] if self.recorder is None else [record(board.spec, self.recorder, shaper)]
        return pipeline(
            dispatch(board.tool, board.lacking),
            size(self.keep, limit_of=self._limit),
            binary(self.shelf, board.spec, applies=lambda call: call.parent is None),
            conceal(self.redactor),
            *recording,
            deprecation(board.spec),
            *outer,
            *self.consent.outer(board.spec),
            modes(board.spec),
            handles(self.shelf, board.spec),
            guard(board.spec),
            *self.consent.middleware(board.spec),
            hints(board.spec),
            dry_run(board.health_of, board.spec),
            concurrency(board.spec, lambda spec: _slot(spec, limits.at_once)),
            timeout(board.spec, lambda spec: limits.seconds.get(spec.source.name)),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the recording."""
        if self.recorder is None:
            return ()
        told: tuple[str, ...] = getattr(self.recorder.store, "warnings", ())
        return (*self.recorder.warnings, *told)

    def most_used(self, most: int) -> tuple[str, ...]:
        """The full names of the tools that past runs called most; none where nothing can be read. Blocks."""
        if self.recorder is None:
            return ()
        from pegboard.discovery.learned import most_used

        try:
            return most_used(self.recorder.store, most)
        except StoreError:
            return ()

    def uses(self) -> Mapping[ToolName, Use]:
        """How past runs used the tools; nothing where nothing can be read. Blocks."""
        if self.recorder is None:
            return {}
        from pegboard.discovery.learned import uses

        try:
            return uses(self.recorder.store)
        except StoreError:
            return {}

    async def close(self) -> None:
        """Write what is still to be recorded, even while the board is being cancelled."""
        if self.recorder is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self.recorder.close)

    def _limit(self, call: Call) -> int:
        """Answers to calls from inside of a tool go to code, which wants them whole."""
        return self.limits.max_result if call.parent is None else _NO_LIMIT


_NO_LIMIT = 2**62


def _slot(spec: ToolSpec, at_once: Mapping[str, int]) -> list[tuple[str, int]]:
    name = spec.source.name
    return [(name, at_once[name])] if name in at_once else []


def exported(config: Config, store: "TraceStore | None") -> "TraceStore | None":
    """The traces, sent on to a collector too where the config names one."""
    table = config.tables["otlp"]
    if not table["endpoint"]:
        return store
    from pegboard.trace.export import Exporting, HttpSend
    from pegboard.trace.spans import Spans

    reveal = config.secrets.reveal
    send = HttpSend(
        reveal(table["endpoint"], where="otlp.endpoint"),
        headers=reveal(table["headers"], where="otlp.headers"),
        protobuf=table["protocol"] == "http/protobuf",
    )
    return Exporting(store, send, Spans(config.board.name, content=table["content"]))


def traces_of(config: Config) -> "TraceStore | None":
    """Where a board's traces are; None where nothing outlives the process."""
    if not isinstance(config.board.store, Path):
        return None
    from pegboard.trace.sqlite import SqliteTraces

    return SqliteTraces(config.board.store / _TRACES)
