"""The server behind a source while its session is open: its links, what it says on the side, its state."""

import logging
from collections import deque
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any

import anyio
from anyio.abc import TaskGroup

from pegboard.core import Call, Health, SourceState
from pegboard.core.call import Log
from pegboard.schema.types import Json
from pegboard.wire.client import CannotStart, Declared, Endpoint, Link, LinkKey, Pool
from pegboard.wire.client.link import Hooks
from pegboard.wire.client.negotiate import Family

_QUIET = 0.1
"""Seconds without a further change after which a storm of changes is over."""

_log = logging.getLogger(__name__)


class Upstream:
    """One server, as its source sees it.

    Parameters:
        name: the source's name.
        endpoint: where the server is.
        family: which protocol family to speak.
        declared: what the server is told that we can do.
        call_timeout: seconds for one request.
    """

    def __init__(
        self, name: str, endpoint: Endpoint, *, family: Family, declared: Declared, call_timeout: float | None
    ) -> None:
        self.name = name
        self.endpoint = endpoint
        self.declared = declared
        self.call_timeout = call_timeout
        self.events: deque[str] = deque(maxlen=50)
        self.warning: str | None = None
        self._key = LinkKey.of("", family, declared.capabilities)
        self._pool: Pool | None = None
        self._tasks: TaskGroup | None = None
        self._link: Link | None = None
        self._last: Link | None = None
        self._logs: dict[int, tuple[str, Log]] = {}
        self._log_ids = count()
        self._changes = 0
        self._woken = anyio.Event()

    def open(self, tasks: TaskGroup, starting: anyio.CapacityLimiter, start_timeout: float) -> None:
        """Take up work: links will live in `tasks`."""
        self._tasks = tasks
        self._pool = Pool(self.endpoint, tasks, starting, self._hooks, start_timeout)

    def close(self) -> None:
        """End every link, and every wait for changes."""
        if self._pool is not None:
            self._last = self._pool.latest(self._key)
            self._pool.close()
        self._pool = self._tasks = None
        self._woken.set()

    async def link(self, *, patient: bool = True) -> Link:
        """The open link, started if need be.

        Raises:
            CannotStart: it could not be opened, or the source is not open.
        """
        link = self._link
        if link is not None and link.usable:
            return link
        if self._pool is None:
            raise CannotStart("its session is closed", next_step="Open the board first.")
        found = await self._pool.link(self._key, self.declared, patient=patient)
        if self._link is not found:
            # A new process may offer other tools; the first one is about to be listed anyway.
            again, self._link = self._link is not None, found
            if again:
                self.changed()
        return found

    async def call(self, params: dict[str, Any], call: Call, headers: Mapping[str, str] | None) -> dict[str, Any]:
        """Send `tools/call`. Raises what `Link.request` and `link` raise."""
        link = self._link
        if link is None or not link.usable:
            link = await self.link()
        if call.log is None:
            return await link.request(
                "tools/call", params, timeout=self.call_timeout, on_progress=call.progress, headers=headers
            )
        ticket = next(self._log_ids)
        self._logs[ticket] = (call.session.id, call.log)
        try:
            return await link.request(
                "tools/call", params, timeout=self.call_timeout, on_progress=call.progress, headers=headers
            )
        finally:
            del self._logs[ticket]

    def changed(self) -> None:
        """The list of tools may have changed."""
        self._changes += 1
        self._woken.set()
        self._woken = anyio.Event()

    async def changes(self) -> AsyncIterator[None]:
        """Yields once for each burst of changes, until the session ends."""
        seen = self._changes
        while self._pool is not None:
            if seen == self._changes:
                await self._woken.wait()
                continue
            for _ in range(20):
                seen = self._changes
                await anyio.sleep(_QUIET)
                if seen == self._changes:
                    break
            seen = self._changes
            yield None

    def health(self) -> Health:
        """How the server is, from what is known."""
        if self._pool is None:
            return Health(SourceState.IDLE)
        link, trouble = self._pool.latest(self._key), self._pool.trouble(self._key)
        if link is not None and link.usable:
            return Health(SourceState.DEGRADED, self.warning) if self.warning else Health(SourceState.READY)
        if link is not None and not link.ended and not link.is_open:
            return Health(SourceState.STARTING)
        error = (link.error if link is not None else None) or trouble
        if error is not None:
            return Health(SourceState.UNAVAILABLE, str(error))
        return Health(SourceState.IDLE, "its connection ended; it is opened again on use" if link else None)

    @property
    def _latest(self) -> Link | None:
        """The last link, in whatever state; it tells its story even after the session."""
        return self._pool.latest(self._key) if self._pool else self._last

    @property
    def start_seconds(self) -> float | None:
        """How long the last start took."""
        return self._latest.start_seconds if self._latest else None

    @property
    def stderr(self) -> str:
        """The end of what the program wrote to stderr."""
        return self._latest.wire.stderr if self._latest else ""

    def oddities(self) -> list[str]:
        """What was odd about the server so far, besides its list."""
        link, found = self._latest, list(self.events)
        if link is not None and link.is_open and link.peer.oddity:
            found.append(link.peer.oddity)
        if link is not None and link.wire.junk_lines:
            found.append(
                f"{link.wire.junk_lines} lines on its stdout were no messages; the first: {link.wire.junk[0]!r}"
            )
        return found

    def _hooks(self, _key: LinkKey) -> Hooks:
        return Hooks(changed=self.changed, logged=self._on_log, event=self._on_event)

    def _on_event(self, text: str) -> None:
        _log.warning("%s: %s", self.name, text)
        if text not in self.events:
            self.events.append(text)

    def _on_log(self, level: str, data: Json, logger: str | None) -> None:
        """A log message names no call: each session with a call under way hears it once."""
        if self._tasks is None:
            return
        for log in dict(self._logs.values()).values():
            self._tasks.start_soon(_tell, log, level, data, logger)


async def _tell(log: Log, level: str, data: Json, logger: str | None) -> None:
    try:
        await log(level, data, logger)
    except Exception:
        _log.debug("a log listener failed", exc_info=True)
