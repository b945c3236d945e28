"""The run of code, as it is kept: the code, and its journal of what each of its calls came to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pegboard.schema.types import Json, JsonObject, digest


class CodeStatus(StrEnum):
    """How a run of code is."""

    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    """A call of it waits for a person's yes; it goes on once it is there."""
    NEEDS_OPERATOR = "needs_operator"
    """A call may have taken effect, and nobody knows: somebody has to look, and to choose."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether it never goes on."""
        return self in (CodeStatus.DONE, CodeStatus.FAILED, CodeStatus.CANCELLED)


class EntryStatus(StrEnum):
    """How far a call of code has come."""

    BEGUN = "begun"
    """Under way; calling it again does no harm."""
    STARTED = "started"
    """Under way, and it may take effect: written before the tool is called."""
    WAITING = "waiting"
    """It waits for a person's yes; nothing ran."""
    OK = "ok"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether its answer is known."""
        return self in (EntryStatus.OK, EntryStatus.FAILED)


@dataclass(slots=True, kw_only=True)
class Entry:
    """One call in the journal; it is filled in as the call goes on.

    Parameters:
        number: which of the run's calls it is, from 1, in the order in which the code made them.
        name: what the code called.
        digest: of the arguments.
        status: how far it has come.
        place: which answer it was, from 1, in the order in which the code got them; 0 before.
        after: how many calls the code had made by then.
        at: when that was, Unix time in milliseconds.
        answer: what it came to: the value, or the failure, as JSON.
        request: the id of the request that waits for a yes.
    """

    number: int
    name: str
    digest: str
    status: EntryStatus
    place: int = 0
    after: int = 0
    at: int = 0
    answer: str | None = None
    request: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As plain data, without the answer."""
        names = ("number", "name", "status", "at", "request")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRun:
    """One run of code.

    Parameters:
        id: its name.
        code: the code.
        language: what it is written in.
        digest: of both; see `digest_of`.
        principal: on whose behalf it runs.
        session: the session of the call that began it.
        status: how it is.
        owner: the process that holds it; empty where none does.
        lease: until when, Unix time in seconds, unless the owner renews it.
        created: Unix time in seconds; what the clock of the code begins with.
        updated: Unix time in seconds.
        failure: why it stopped, as data.
        entries: the journal, by number.
    """

    id: str
    code: str
    language: str
    digest: str
    principal: str = "local"
    session: str = "local"
    status: CodeStatus = CodeStatus.RUNNING
    owner: str = ""
    lease: float = 0.0
    created: float = 0.0
    updated: float = 0.0
    failure: JsonObject | None = None
    entries: Mapping[int, Entry] = field(default_factory=dict[int, Entry])

    @property
    def seed(self) -> int:
        """What its random numbers begin with: the same whenever it is replayed."""
        return int(digest(self.id)[:8], 16)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        names = ("id", "language", "status", "code", "principal", "session", "owner", "created", "updated", "failure")
        calls = [entry.to_json() for _, entry in sorted(self.entries.items())]
        return {**{name: getattr(self, name) for name in names}, "calls": calls}


def digest_of(code: str, language: str) -> str:
    """What tells one code from another."""
    return digest([language, code])
