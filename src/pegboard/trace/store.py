"""Where traces are kept: the protocol, and what is asked of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from pegboard.trace.record import CallRecord, Run


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished call and the run that it belongs to.

    Parameters:
        run: the id of the run.
        seq: where the call stands in its run: calls are ordered by when they started.
        record: the call.
        agent: the agent that made it.
    """

    run: str
    seq: int
    record: CallRecord
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs are wanted; what is None does not matter.

    Parameters:
        agent: runs of this agent (a glob).
        tool: runs with a call of this tool (a glob over its full name, or a bare name).
        failed: runs with a failed call, or without one.
        since: runs that were still going on at this Unix time, in seconds.
        source: runs with a call that this source served.
    """

    agent: str | None = None
    tool: str | None = None
    failed: bool | None = None
    since: float | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One run, in a list of runs.

    Parameters:
        id: the run.
        agent: the agent, where it told its name.
        calls: how many calls it made.
        failed: how many of them failed.
        tools: the tools that it called, in the order of the first calls.
        started: Unix time of the first call's start, in seconds.
        ended: Unix time of the last call's end.
    """

    id: str
    agent: str | None = None
    calls: int = 0
    failed: int = 0
    tools: tuple[str, ...] = ()
    started: float | None = None
    ended: float | None = None


class TraceStore(Protocol):
    """Keeps traces. Every method may be called from any thread, and blocks; `append` only ever from one at a time.

    All raise `StoreError` where the store cannot be read or written.
    """

    def append(self, entries: Sequence[Entry]) -> None:
        """Keep these calls, all or none of them."""
        ...

    def runs(self, where: RunFilter = RunFilter(), *, limit: int | None = 100) -> tuple[RunSummary, ...]:
        """The runs, the latest first."""
        ...

    def run(self, id: str) -> Run | None:
        """One run with its calls in the order in which they started, or None."""
        ...

    def scan(self, where: RunFilter = RunFilter()) -> Iterator[Run]:
        """Every run with its calls, the earliest first, one at a time."""
        ...

    def prune(self, before: float, *, most: int | None = None) -> int:
        """Forget the runs that ended before a Unix time, and all but the latest `most`; returns how many calls went."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


def matches_tool(pattern: str, tool: str) -> bool:
    """Whether a tool is meant by a glob over its full name, or by a bare name."""
    return fnmatchcase(tool, pattern) or ("." not in pattern and fnmatchcase(tool.partition(".")[2], pattern))
