"""Where tools come from, and how they are."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from pegboard.core.tool import Tool


class SourceState(StrEnum):
    """How a source is. `idle`: known from the store, not started. `degraded`: serving, but something is wrong."""

    READY = "ready"
    IDLE = "idle"
    STARTING = "starting"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"
    DISABLED = "disabled"


class NoteKind(StrEnum):
    """What a note on a listing says."""

    REPAIRED = "repaired"
    SET_ASIDE = "set_aside"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that was repaired, set aside or odd while a source was listed.

    Parameters:
        kind: repaired, set aside, or a warning.
        tool: the tool's own name, or None where the note is on the whole source.
        where: a JSON pointer into the definition.
        message: what was found and what was done.
    """

    kind: NoteKind
    tool: str | None
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source offers now."""

    tools: tuple[Tool, ...]
    notes: tuple[Note, ...] = ()
    instructions: str = ""
    """What the source says of itself (MCP `instructions`); untrusted text."""


@dataclass(frozen=True, slots=True)
class Health:
    """How a source is right now, with the reason where it is not well."""

    state: SourceState
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """What `doctor` tells of one source."""

    name: str
    kind: str
    state: SourceState
    tools: int = 0
    error: str | None = None
    start_seconds: float | None = None
    notes: tuple[Note, ...] = ()


@runtime_checkable
class Source(Protocol):
    """A place that tools come from. Entering it takes what it needs; leaving it gives all back.

    Listing may be called again at any time. A source that cannot serve raises `SourceError`;
    a single broken tool is set aside in a note and never costs the others.
    """

    @property
    def name(self) -> str:
        """The source's name: the key of its table in `pegboard.toml`, and by default its tools' namespace."""
        ...

    @property
    def kind(self) -> str:
        """`mcp`, `python`, `recorded`, `openapi` ...: what selectors call it."""
        ...

    def session(self) -> AbstractAsyncContextManager[None]:
        """Hold the source open."""
        ...

    async def listing(self) -> Listing:
        """The tools it offers now, all pages of them, with notes on what was repaired or set aside."""
        ...

    async def health(self) -> Health:
        """How it is, without a restart; fast."""
        ...

    def changes(self) -> AsyncIterator[None]:
        """Yields whenever the listing may have changed; ends with the session."""
        ...
