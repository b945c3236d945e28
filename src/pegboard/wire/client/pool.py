"""Long-lived links by key, started on use, with patience after failures and a limit on how many start at once."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from pegboard.schema.types import JsonObject, canonical
from pegboard.wire.client.endpoint import Endpoint, StdioEndpoint
from pegboard.wire.client.fault import CannotStart
from pegboard.wire.client.link import Hooks, Link
from pegboard.wire.client.negotiate import Declared, Family

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class LinkKey:
    """What two calls must share to go over one link: state of one caller is never another's.

    Parameters:
        identity: on whose behalf; empty where the source has one identity for all.
        family: the protocol family.
        capabilities: what is declared to the server, as canonical JSON: servers may list by it.
    """

    identity: str = ""
    family: Family = "auto"
    capabilities: str = "{}"

    @classmethod
    def of(cls, identity: str, family: Family, capabilities: JsonObject) -> "LinkKey":
        """The key for what is declared."""
        return cls(identity, family, canonical(capabilities))


@dataclass(slots=True)
class _Trouble:
    """How often in a row the links of a key came to nothing, and until when the next one waits."""

    failures: int = 0
    until: float = 0.0
    error: CannotStart | None = None


@dataclass
class Pool:
    """The links of one source.

    Parameters:
        endpoint: where the server is.
        tasks: the task group that the links live in.
        starting: how many processes may start at once, board-wide.
        hooks: makes the hooks of a link with this key.
        start_timeout: seconds until a link must be open, from the moment that it may start.
    """

    endpoint: Endpoint
    tasks: TaskGroup
    starting: anyio.CapacityLimiter
    hooks: Callable[[LinkKey], Hooks]
    start_timeout: float = 30.0
    _links: dict[LinkKey, Link] = field(default_factory=dict[LinkKey, Link])
    _troubles: dict[LinkKey, _Trouble] = field(default_factory=dict[LinkKey, _Trouble])
    _families: dict[LinkKey, Family] = field(default_factory=dict[LinkKey, Family])

    def ready(self, key: LinkKey) -> Link | None:
        """The link of this key, if it is open now."""
        link = self._links.get(key)
        return link if link is not None and link.usable else None

    def latest(self, key: LinkKey) -> Link | None:
        """The last link of this key, in whatever state."""
        return self._links.get(key)

    def trouble(self, key: LinkKey) -> CannotStart | None:
        """Why the last attempt to open a link came to nothing, if it did."""
        found = self._troubles.get(key)
        return found.error if found else None

    async def link(self, key: LinkKey, declared: Declared, *, patient: bool = True) -> Link:
        """An open link of this key: the one that is there, or a new one.

        Parameters:
            key: what the link is for.
            declared: what to declare on a new one.
            patient: whether to hold an attempt back for a while after failures.

        Raises:
            CannotStart: none could be opened.
        """
        link = self._links.get(key)
        if link is None or link.ended or (link.is_open and not link.usable):
            if link is not None:
                link.retire()
                self._count(key, link)
            if patient:
                self._hold_back(key)
            link = self._start(key, declared)
        await link.opened()
        return link

    def close(self) -> None:
        """End every link; nothing waits for an answer any more."""
        for link in self._links.values():
            link.close()

    def _start(self, key: LinkKey, declared: Declared) -> Link:
        link = Link(
            self.endpoint,
            family=self._families.get(key, key.family),
            declared=declared,
            hooks=self.hooks(key),
            start_timeout=self.start_timeout,
        )
        self._links[key] = link
        self.tasks.start_soon(self._own, key, link)
        return link

    async def _own(self, key: LinkKey, link: Link) -> None:
        if not isinstance(self.endpoint, StdioEndpoint):
            self.tasks.start_soon(self._see_start, key, link)
            await link.run()
            return
        await self.starting.acquire_on_behalf_of(link)
        self.tasks.start_soon(self._see_start, key, link)
        await link.run()

    async def _see_start(self, key: LinkKey, link: Link) -> None:
        try:
            await link.opened()
        except CannotStart as error:
            self._fail(key, error)
        else:
            self._families[key] = "modern" if link.peer.modern else "handshake"
        finally:
            if isinstance(self.endpoint, StdioEndpoint):
                self.starting.release_on_behalf_of(link)

    def _count(self, key: LinkKey, link: Link) -> None:
        """A link that answered clears the trouble; one that opened and never answered adds to it."""
        if link.answered:
            self._troubles.pop(key, None)
        elif link.error is None:
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
