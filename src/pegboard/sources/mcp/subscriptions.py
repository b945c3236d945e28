"""Subscriptions to updates of resources, kept up whatever becomes of the connection, in both protocol families.

The handshake family has a request for each resource (`resources/subscribe`); the stateless one a stream for a set of
them (`subscriptions/listen`), which is opened anew, before the older one ends, whenever the set has changed.
"""

import logging
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import anyio

from pegboard.schema.types import JsonObject, as_object
from pegboard.sources.mcp.upstream import Upstream
from pegboard.wire.client import Answered, Link, WireError
from pegboard.wire.client.negotiate import Peer

_SECONDS = 10.0
_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_METHOD_NOT_FOUND = -32601

_log = logging.getLogger(__name__)


class Subscriptions:
    """What is subscribed to at one server.

    Parameters:
        upstream: the server.
        missed: called for each resource whose updates may have been missed while the connection was away.
    """

    def __init__(self, upstream: Upstream, missed: Callable[[str], None]) -> None:
        self._upstream, self._missed = upstream, missed
        self._wanted: Counter[str] = Counter()
        self._lock = anyio.Lock()
        self._link: Link | None = None
        self._open: frozenset[str] = frozenset()
        self._stream: anyio.CancelScope | None = None
        self._acknowledged = anyio.Event()
        self._keeping = False

    async def add(self, uri: str) -> None:
        """Subscribe to a resource; the second time costs nothing. Raises what `Link.request` raises."""
        self._wanted[uri] += 1
        try:
            await self._settle()
        except BaseException:
            self._forget(uri)
            raise

    async def drop(self, uri: str) -> None:
        """Take one subscription back."""
        self._forget(uri)
        try:
            await self._settle()
        except WireError as error:
            _log.debug("a subscription could not be ended: %s", error)

    def hear(self, method: str, params: JsonObject) -> None:
        """Hear a notification of the server."""
        if method == _ACKNOWLEDGED and "resourceSubscriptions" in as_object(params.get("notifications")):
            self._acknowledged.set()

    def _forget(self, uri: str) -> None:
        self._wanted[uri] -= 1
        if self._wanted[uri] <= 0:
            del self._wanted[uri]

    async def _settle(self) -> None:
        """Make what is open what is wanted; many who want something at once share one stream."""
        async with self._lock:
            wanted = frozenset(self._wanted)
            if not wanted and self._link is None:
                return
            link = await self._upstream.link()
            if link is not self._link:
                self._link, self._open, self._stream = link, frozenset(), None
            if wanted == self._open:
                return
            await (self._listen(link, wanted) if link.peer.modern else self._ask(link, wanted))
            self._keep()

    async def _ask(self, link: Link, wanted: frozenset[str]) -> None:
        for uri in sorted(wanted - self._open):
            await link.request("resources/subscribe", {"uri": uri}, timeout=_SECONDS)
            self._open |= {uri}
        for uri in sorted(self._open - wanted):
            self._open -= {uri}
            await link.request("resources/unsubscribe", {"uri": uri}, timeout=_SECONDS)

    async def _listen(self, link: Link, wanted: frozenset[str]) -> None:
        if not _announces(link.peer):
            raise Answered(_METHOD_NOT_FOUND, "The server does not tell of updates of its resources.")
        before, self._stream, self._open = self._stream, None, wanted
        if wanted:
            self._acknowledged, scope = anyio.Event(), anyio.CancelScope()
            self._stream = scope
            self._upstream.spawn(self._hold, link, wanted, scope)
            with anyio.move_on_after(_SECONDS):
                await self._acknowledged.wait()
        if before is not None:
            before.cancel()

    async def _hold(self, link: Link, wanted: frozenset[str], scope: anyio.CancelScope) -> None:
        """One stream, to its end."""
        params: dict[str, Any] = {"notifications": {"resourceSubscriptions": sorted(wanted)}}
        with scope:
            try:
                await link.request("subscriptions/listen", params)
            except WireError as error:
                _log.debug("the stream of updates ended: %s", error)
        if self._stream is scope:
            self._stream, self._open = None, frozenset()
            self._acknowledged.set()

    def _keep(self) -> None:
        if not self._keeping and self._wanted:
            self._keeping = True
            self._upstream.spawn(self._kept)

    async def _kept(self) -> None:
        """Subscribe again where a connection or a stream has ended, for as long as anything is wanted."""
        tries = count()
        pause = _PAUSE
        try:
            while self._wanted:
                await anyio.sleep(pause)
                if self._sound():
                    tries, pause = count(), _PAUSE
                    continue
                pause = min(_PAUSE * 2 ** next(tries), _LONGEST_PAUSE)
                try:
                    await self._settle()
                except WireError as error:
                    _log.debug("could not subscribe again: %s", error)
                else:
                    for uri in self._wanted:
                        self._missed(uri)
        finally:
            self._keeping = False

    def _sound(self) -> bool:
        return self._link is not None and self._link.usable and self._open == frozenset(self._wanted)


def _announces(peer: Peer) -> bool:
    return bool(as_object(peer.capabilities.get("resources")).get("subscribe"))
