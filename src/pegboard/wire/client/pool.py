"""Long-lived links by key, started on use, with patience after failures and a limit on how many start at once."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from pegboard.schema.types import canonical
from pegboard.wire.client.connection import Connection
from pegboard.wire.client.endpoint import Endpoint, StdioEndpoint
from pegboard.wire.client.fault import CannotStart
from pegboard.wire.client.hearing import Hearing, Hooks
from pegboard.wire.client.link import Link
from pegboard.wire.client.negotiate import Declared, Family

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


@dataclass(frozen=True)
class Role:
    """On whose behalf a link is, and what is declared on it.

    Parameters:
        identity: whose; empty where the source has one identity for all.
        declared: what the server is told that we can do.
        family: which protocol family to speak on it; None for the source's.
    """

    identity: str = ""
    declared: Declared = field(default_factory=Declared)
    family: Family | None = None

    @property
    def key(self) -> "LinkKey":
        """What two calls must share to go over one link."""
        return LinkKey(self.identity, canonical(self.declared.capabilities))


@dataclass(frozen=True, slots=True)
class LinkKey:
    """What two calls must share to go over one link: state of one caller is never another's.

    Parameters:
        identity: on whose behalf.
        capabilities: what is declared to the server, as canonical JSON: servers may list by it.
    """

    identity: str = ""
    capabilities: str = "{}"


@dataclass(slots=True)
class _Trouble:
    """How often in a row the links of a key came to nothing, and until when the next one waits."""

    failures: int = 0
    until: float = 0.0
    error: CannotStart | None = None


@dataclass
class Pool:
    """The links of one source in one protocol family.

    Parameters:
        endpoint: where the server is.
        family: which protocol family to speak; `auto` remembers what it found.
        tasks: the task group that the links live in.
        starting: how many processes may start at once, board-wide.
        hooks: who hears what the server says unasked, by link.
        start_timeout: seconds until a link must be open, from the moment that it may start.
    """

    endpoint: Endpoint
    family: Family
    tasks: TaskGroup
    starting: anyio.CapacityLimiter
    hooks: Callable[[LinkKey], Hooks]
    start_timeout: float = 30.0
    _links: dict[LinkKey, Link] = field(default_factory=dict[LinkKey, Link])
    _troubles: dict[LinkKey, _Trouble] = field(default_factory=dict[LinkKey, _Trouble])

    def latest(self, key: LinkKey) -> Link | None:
        """The last link of this key, in whatever state."""
        return self._links.get(key)

    def trouble(self, key: LinkKey) -> CannotStart | None:
        """Why the last attempt to open a link came to nothing, if it did."""
        found = self._troubles.get(key)
        return found.error if found else None

    async def link(self, role: Role, *, patient: bool = True) -> Link:
        """An open link for this role: the one that is there, or a new one.

        Parameters:
            role: what the link is for.
            patient: whether to hold an attempt back for a while after failures.

        Raises:
            CannotStart: none could be opened.
        """
        key = role.key
        link = self._links.get(key)
        if link is not None and link.spent:
            link.retire()
            self._count(key, link)
            link = None
        if link is None:
            if patient:
                self._hold_back(key)
            link = self._start(key, role)
        await link.connection.opened()
        return link

    def drop(self, key: LinkKey) -> None:
        """Let a link go that nobody needs any more: it ends when its last request is answered."""
        link = self._links.pop(key, None)
        self._troubles.pop(key, None)
        if link is not None:
            link.retire()

    async def close(self) -> None:
        """End every link in an orderly way."""
        for link in self._links.values():
            link.connection.end()
        for link in self._links.values():
            await link.connection.ended.wait()

    def _start(self, key: LinkKey, role: Role) -> Link:
        def settled(connection: Connection) -> None:
            if connection.error is not None:
                self._fail(key, connection.error)
            elif connection.peer is not None and role.family is None:
                self.family = "modern" if connection.peer.modern else "handshake"

        connection = Connection(
            self.endpoint,
            family=role.family or self.family,
            hearing=Hearing(role.declared, self.hooks(key)),
            start_timeout=self.start_timeout,
            starting=self.starting if isinstance(self.endpoint, StdioEndpoint) else None,
            settled=settled,
        )
        link = self._links[key] = Link(connection)
        self.tasks.start_soon(connection.run)
        return link

    def _count(self, key: LinkKey, link: Link) -> None:
        """A link that answered clears the trouble; one that opened and never answered adds to it."""
        if link.answered:
            self._troubles.pop(key, None)
        elif link.connection.error is None:
            self._fail(key, CannotStart("its connections end before they answer a request"))

    def _fail(self, key: LinkKey, error: CannotStart) -> None:
        trouble = self._troubles.setdefault(key, _Trouble())
        trouble.failures += 1
        trouble.error = error
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (trouble.failures - 2)) if trouble.failures > 1 else 0.0
        trouble.until = anyio.current_time() + pause

    def _hold_back(self, key: LinkKey) -> None:
        trouble = self._troubles.get(key)
        if trouble is None or trouble.error is None:
            return
        wait = trouble.until - anyio.current_time()
        if wait > 0:
            raise CannotStart(str(trouble.error), next_step=trouble.error.next_step, retry_in=wait)
