"""The server behind a source while its session is open: its links, what it says on the side, its state."""

import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

import anyio
from anyio.abc import TaskGroup

from pegboard.core import Call, Health, SourceState
from pegboard.core.call import LOG_LEVELS, Log, wanted_level
from pegboard.core.client import Client
from pegboard.schema.types import Json, JsonObject
from pegboard.sources.mcp.conditional import Declarations
from pegboard.sources.mcp.own import OwnLinks
from pegboard.sources.mcp.page import after_pages
from pegboard.sources.mcp.rounds import in_rounds
from pegboard.sources.mcp.signal import Signal
from pegboard.sources.mcp.task import run_task
from pegboard.wire.client import CannotStart, Declared, Endpoint, Link, LinkKey, Pool, Role, WireError
from pegboard.wire.client.fault import Answered, TimedOut
from pegboard.wire.client.hearing import Hooks
from pegboard.wire.client.negotiate import Family

RoleOf = Callable[[Call], Role]
"""On whose behalf a call is made, and what may be declared for it."""

_log = logging.getLogger(__name__)
_COMPLETE = "notifications/elicitation/complete"
RECONNECTED = "pegboard/reconnected"
"""What is noticed where a new connection stands for one that has ended: everything may be another."""
_LISTING = "listing"
"""Whose the links are on which nothing is called: their only use is a list."""
_ASKED_AGAIN = 300.0
"""Seconds after which a server that speaks the stateless family alone is asked again whether it shakes hands."""
_PROBE_SECONDS = 5.0
"""So long a server may take to a probe; whoever asks waits less, and an answer that never comes is given up."""


class Upstream:
    """One server, as its source sees it.

    Parameters:
        name: the source's name.
        endpoint: where the server is.
        family: which protocol family to speak.
        role: what the server is listed as, and called as where no call says otherwise.
        role_of: the role of each call, where calls differ.
        call_timeout: seconds for one request.
        may_ask: which features of a caller's client the server may use.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        family: Family,
        role: Role,
        role_of: RoleOf | None,
        call_timeout: float | None,
        may_ask: frozenset[str] = frozenset(),
    ) -> None:
        self.may_ask = may_ask
        self.declarations = Declarations(may_ask)
        self._own: OwnLinks | None = None
        self.tasks_only = set[str]()
        self._stateless_only = 0.0
        self.name = name
        self.endpoint = endpoint
        self.family: Family = family
        self.role = role
        self.call_timeout = call_timeout
        self.events: deque[str] = deque(maxlen=50)
        self.warning: str | None = None
        self.changes = Signal()
        self.noticed: Callable[[str, JsonObject], None] = lambda _method, _params: None
        self._role_of = role_of
        self._pool: Pool | None = None
        self._tasks: TaskGroup | None = None
        self._link: Link | None = None
        self._last: Link | None = None
        self._logs: dict[int, tuple[LinkKey, str, Log]] = {}
        self._log_ids = count()

    def open(self, tasks: TaskGroup, starting: anyio.CapacityLimiter, start_timeout: float) -> None:
        """Take up work: links will live in `tasks`."""
        self._tasks = tasks
        self._pool = Pool(self.endpoint, self.family, tasks, starting, self._hooks, start_timeout)
        self._own = OwnLinks(self.name, self._pool)
        self.changes.open()

    async def close(self) -> None:
        """End every link, and every wait for changes."""
        pool, self._pool = self._pool, None
        self.changes.close()
        if pool is not None:
            self._last = pool.latest(self.role.key)
            await pool.close()
        self._tasks = None

    def spawn(self, work: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> None:
        """Let work go on beside, for as long as the session lasts."""
        if self._tasks is not None:
            self._tasks.start_soon(work, *args)

    def own_link(self, owner: str) -> Link | None:
        """The open link that belongs to this client alone, if it has one: its server may know what no other knows."""
        return self._own.of(owner) if self._own is not None else None

    async def link(self, *, patient: bool = True) -> Link:
        """The open link of the source's own role, started if need be.

        Parameters:
            patient: whether to hold an attempt back for a while after failures. A listing does not: it is the answer
                to what a new process offers, so that none need be announced.

        Raises:
            CannotStart: it could not be opened, or the source is not open.
        """
        link = self._link
        if link is not None and link.usable:
            return link
        found = await self._linked(self.role, patient=patient)
        if self._link is not found:
            # A new process may offer other tools; the first one, and one that is listed now, need no further listing.
            again, self._link = self._link is not None and patient, found
            if again:
                self.changes.raise_()
                self.noticed(RECONNECTED, {})
        return found

    @asynccontextmanager
    async def listing_link(self, features: JsonObject) -> AsyncGenerator[tuple[Link, JsonObject | None]]:
        """A link to list the tools that are offered to a client which declared this; what to declare in the request.

        Raises:
            CannotStart: it could not be opened.
        """
        link = await self.link()
        if link.peer.modern:
            yield link, features
            return
        role = Role(_LISTING, Declared(features))
        try:
            yield await self._linked(role), None
        finally:
            if self._pool is not None:
                self._pool.drop(role.key)

    async def call(self, params: dict[str, Any], call: Call, headers: Mapping[str, str] | None) -> dict[str, Any]:
        """Send `tools/call`, over a link on which the caller's client can be asked, as far as the server may ask it.

        Raises what `Link.request` and `link` raise, and:
            ClientError: the client refused what the server cannot do without.
        """
        if self._role_of is not None:
            role = self._role_of(call)
            return await self._send(await self._linked(role), role.key, params, call, headers)
        link = self._link
        client, features = call.client, call.client.of(self.may_ask) if call.client is not None else {}
        if client is None or not features:
            if link is None or not link.usable:
                link = await self.link()
            return await self._send(link, self.role.key, params, call, headers)
        try:
            with anyio.fail_after(self.call_timeout):
                return await self._call_asking(client, features, params, call, headers)
        except TimeoutError:
            raise TimedOut(f"no answer within {self.call_timeout:g} s") from None

    async def _call_asking(
        self,
        client: Client,
        features: JsonObject,
        params: dict[str, Any],
        call: Call,
        headers: Mapping[str, str] | None,
    ) -> dict[str, Any]:
        if self._pool is None or self._own is None:
            raise CannotStart("its session is closed", next_step="Open the board first.")
        link = await self._stateless(client, features)
        if link is not None:

            async def send(params: dict[str, Any]) -> dict[str, Any]:
                return await self._send(link, self.role.key, params, call, headers, features)

            return await in_rounds(self.name, send, params, client.request, features)
        async with self._own.link(client, features) as (own, key):

            async def again() -> dict[str, Any]:
                return await self._send(own, key, params, call, headers)

            return await after_pages(self.name, again, client, features)

    async def _stateless(self, client: Client, features: JsonObject) -> Link | None:
        """The source's own link where this client is to be asked in rounds over it; None where it gets its own.

        A server of both families can often ask in one only; a client meets it in its own, as it does without a gateway.
        """
        if self._pool is None or self._own is None or self._pool.family == "handshake":
            return None
        link = await self.link()
        if not link.peer.modern:
            return None
        if self.family != "auto" or client.connection is None or anyio.current_time() < self._stateless_only:
            return link
        try:
            async with self._own.link(client, features):
                return None
        except CannotStart:
            self._stateless_only = anyio.current_time() + _ASKED_AGAIN
            return link

    async def _send(
        self,
        link: Link,
        key: LinkKey,
        params: dict[str, Any],
        call: Call,
        headers: Mapping[str, str] | None,
        features: JsonObject | None = None,
    ) -> dict[str, Any]:
        timeout, progress = self.call_timeout, call.progress
        if params["name"] in self.tasks_only and not link.peer.modern:
            send = run_task(link, params, timeout=timeout, on_progress=progress, headers=headers)
        else:
            send = link.request(
                "tools/call", params, timeout=timeout, on_progress=progress, headers=headers, capabilities=features
            )
        if call.log is None:
            return await send
        ticket = next(self._log_ids)
        self._logs[ticket] = (key, call.session.id, call.log)
        self._ask_for_logs(link, wanted_level(call.log))
        try:
            return await send
        finally:
            del self._logs[ticket]

    def health(self) -> Health:
        """How the server is, from what is known."""
        link = self._latest
        if link is not None and link.usable:
            return Health(SourceState.DEGRADED, self.warning) if self.warning else Health(SourceState.READY)
        if link is not None and not link.spent and self._pool is not None:
            return Health(SourceState.STARTING)
        error = link.connection.error if link is not None else None
        if error is not None:
            return Health(SourceState.UNAVAILABLE, str(error))
        if link is not None and self.warning:
            return Health(SourceState.DEGRADED, self.warning)
        return Health(SourceState.IDLE, "its connection ended; it is opened again on use" if link else None)

    async def probe(self) -> Health:
        """How the server is, asking it where its connection looks well; any answer will do. Without a start."""
        known, link = self.health(), self._latest
        if link is None or not link.usable:
            return known
        try:
            await link.request("server/discover" if link.peer.modern else "ping", {}, timeout=_PROBE_SECONDS)
        except Answered:
            return known
        except WireError as error:
            return Health(SourceState.UNAVAILABLE, str(error))
        return known

    @property
    def start_seconds(self) -> float | None:
        """How long the last start took."""
        return self._latest.connection.start_seconds if self._latest else None

    @property
    def stderr(self) -> str:
        """The end of what the program wrote to stderr."""
        return self._latest.connection.wire.stderr if self._latest else ""

    def oddities(self) -> list[str]:
        """What was odd about the server so far, besides its list."""
        found = list(self.events)
        if self._latest is None:
            return found
        wire, peer = self._latest.connection.wire, self._latest.connection.peer
        if peer is not None and peer.oddity:
            found.append(peer.oddity)
        if wire.junk_lines:
            found.append(f"{wire.junk_lines} lines on its stdout were no messages; the first: {wire.junk[0]!r}")
        return found

    @property
    def _latest(self) -> Link | None:
        """The last link, in whatever state; it tells its story even after the session."""
        return self._pool.latest(self.role.key) if self._pool else self._last

    async def _linked(self, role: Role, *, patient: bool = True) -> Link:
        if self._pool is None:
            raise CannotStart("its session is closed", next_step="Open the board first.")
        return await self._pool.link(role, patient=patient)

    def _hooks(self, key: LinkKey) -> Hooks:
        if key.identity == _LISTING:
            return Hooks()
        return Hooks(
            changed=self.changes.raise_,
            noticed=lambda method, params: self.noticed(method, params),
            logged=partial(self._on_log, key),
            event=self._on_event,
            completed=partial(self._on_completed, key),
        )

    def _on_completed(self, key: LinkKey, params: JsonObject) -> None:
        """What a page was opened for is done; the client that was shown it hears so."""
        connection = self._own.connection(key) if self._own is not None else None
        if connection is not None and not connection.closed and self._tasks is not None:
            self._tasks.start_soon(connection.notify, _COMPLETE, params)

    def _on_event(self, text: str) -> None:
        _log.warning("%s: %s", self.name, text)
        if text not in self.events:
            self.events.append(text)

    def _on_log(self, key: LinkKey, level: str, data: Json, logger: str | None) -> None:
        """A log message names no call: each session with a call under way on the link hears it once."""
        if self._tasks is None:
            return
        listeners = {session: log for of, session, log in self._logs.values() if of == key}
        for log in listeners.values():
            self._tasks.start_soon(_tell, log, level, data, logger)

    def _ask_for_logs(self, link: Link, level: str) -> None:
        """Tell a server of the handshake family from which level on log messages are wanted; some wait for that.

        A link that several callers share is as talkative as the one who wants most: each hears what it wants.
        """
        known = link.log_level
        if known is not None and LOG_LEVELS.index(known) <= LOG_LEVELS.index(level):
            return
        if link.peer.modern or "logging" not in link.peer.capabilities or self._tasks is None:
            return
        link.log_level = level
        self._tasks.start_soon(_set_level, link, level)


async def _set_level(link: Link, level: str) -> None:
    try:
        await link.request("logging/setLevel", {"level": level}, timeout=10)
    except WireError as error:
        _log.debug("the log level could not be set: %s", error)


async def _tell(log: Log, level: str, data: Json, logger: str | None) -> None:
    try:
        await log(level, data, logger)
    except Exception:
        _log.debug("a log listener failed", exc_info=True)
