"""Links of the handshake family for clients that can be asked: each has its own, for exactly what it declared.

A server of that family asks outside of its answers, and names no call. So nobody else's calls may be on the link: a
client with a connection keeps its link as long as that, and a call of nobody's connection has one to itself.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio

from pegboard.core.client import FEATURE_OF, WITHDRAWN, Client, ClientConnection, ClientError, Request
from pegboard.schema.types import JsonObject, as_object
from pegboard.sources.mcp.addressed import ask
from pegboard.wire.client import Declared, Link, LinkKey, Pool, Role, StdioEndpoint

SPARE = 2
"""Idle links of nobody's that are kept for the next calls."""
MOST, MOST_PROGRAMS = 128, 16
"""Links of one source that belong to single clients or calls, and how many where each is a process of its own.

A further one takes an idle one's place, or waits.
"""


@dataclass(eq=False)
class _Owned:
    """One link, from the side of whoever may be asked over it.

    Parameters:
        owner: whose it is; empty where each call takes one for itself.
        source: the source's name.
        features: what was declared to the server.
        connection: the client's connection, if it has one.
        calls: the clients of the calls under way.
    """

    owner: str
    source: str
    features: JsonObject
    connection: ClientConnection | None
    number: int
    calls: list[Client] = field(default_factory=list[Client])
    undo: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    @property
    def role(self) -> Role:
        """What the link is opened as."""
        asked = {method: partial(self.answer, method) for method, name in FEATURE_OF.items() if name in self.features}
        identity = f"client {self.owner}" if self.owner else f"call {self.number}"
        return Role(identity, Declared(self.features, asked), "handshake")

    async def answer(self, method: str, params: JsonObject) -> dict[str, Any]:
        """Ask the client of the latest call; of an earlier one where that has ended; else outside of all calls."""
        tried: list[Client] = []
        while True:
            request = self._next(tried)
            try:
                return dict(await ask(self.source, request, method, params, self.features))
            except ClientError as error:
                if error.code != WITHDRAWN or all(one in tried for one in self.calls):
                    raise

    def _next(self, tried: list[Client]) -> Request:
        for client in reversed(self.calls):
            if client not in tried:
                tried.append(client)
                return client.request
        if self.connection is None or self.connection.closed:
            raise ClientError(WITHDRAWN, "Nobody can be asked now: no call is under way.")
        return self.connection.request


class OwnLinks:
    """The links of one source that belong to single clients.

    Parameters:
        source: the source's name.
        pool: opens links.
    """

    def __init__(self, source: str, pool: Pool) -> None:
        self._most = MOST_PROGRAMS if isinstance(pool.endpoint, StdioEndpoint) else MOST
        self._source = source
        self._pool = pool
        self._owned: dict[LinkKey, _Owned] = {}
        self._freed = anyio.Event()
        self._made = 0

    def connection(self, key: LinkKey) -> ClientConnection | None:
        """The connection of the client that a link belongs to, if it has one."""
        owned = self._owned.get(key)
        return owned.connection if owned is not None else None

    def of(self, owner: str) -> Link | None:
        """An open link of this client; None where it has none."""
        for key, owned in self._owned.items():
            link = self._pool.latest(key) if owner and owned.owner == owner else None
            if link is not None and link.usable:
                return link
        return None

    @asynccontextmanager
    async def link(self, client: Client, features: JsonObject) -> AsyncGenerator[tuple[Link, LinkKey]]:
        """An open link for a call of this client; waits where too many are in use.

        Parameters:
            client: who may be asked while the call runs.
            features: what is declared to the server: no more than the client declared.

        Raises:
            CannotStart: it could not be opened.
        """
        while (owned := self._free(client, features) or self._make(client, features)) is None:
            await self._freed.wait()
        owned.calls.append(client)
        try:
            yield await self._pool.link(owned.role), owned.role.key
        finally:
            owned.calls.remove(client)
            self._spare(owned)
            self._freed.set()
            self._freed = anyio.Event()

    def _free(self, client: Client, features: JsonObject) -> _Owned | None:
        owner = _owner(client)
        for key, owned in self._owned.items():
            if owned.owner == owner and owned.features == features and (owner or not owned.calls):
                if owner:
                    self._owned[key] = self._owned.pop(key)  # the latest used stands last
                return owned  # calls of nobody's one after the other go over the same one: servers remember things
        return None

    def _make(self, client: Client, features: JsonObject) -> _Owned | None:
        if len(self._owned) >= self._most and not self._make_room():
            return None
        self._made += 1
        owned = _Owned(_owner(client), self._source, features, client.connection, self._made)
        self._owned[owned.role.key] = owned
        if client.connection is not None:
            self._follow(owned, client.connection)
        return owned

    def _follow(self, owned: _Owned, connection: ClientConnection) -> None:
        """Let the link end with its client, and hear when the client's roots change."""
        key = owned.role.key
        heard = [(connection.on_close, partial(self._drop, key))]
        if as_object(owned.features.get("roots")).get("listChanged"):
            heard.append((connection.on_roots, partial(self._tell_roots, key)))
        for listeners, hear in heard:
            listeners.append(hear)
            owned.undo.append(partial(_unheard, listeners, hear))

    def _spare(self, owned: _Owned) -> None:
        """Let a link of nobody's go where enough others stand idle: a burst of calls must not leave its processes."""
        if owned.owner or owned.calls:
            return
        idle = [one for one in self._owned.values() if not (one.owner or one.calls) and one.features == owned.features]
        if len(idle) > SPARE:
            self._drop(owned.role.key if owned is not idle[0] else idle[-1].role.key)

    def _make_room(self) -> bool:
        idle = next((key for key, owned in self._owned.items() if not owned.calls), None)
        if idle is not None:
            self._drop(idle)
        return idle is not None

    def _drop(self, key: LinkKey) -> None:
        owned = self._owned.pop(key, None)
        if owned is not None:
            for undo in owned.undo:
                undo()
            self._pool.drop(key)

    def _tell_roots(self, key: LinkKey) -> None:
        link = self._pool.latest(key)
        if link is not None and key in self._owned:
            self._pool.tasks.start_soon(link.notify, "notifications/roots/list_changed")


def _unheard(listeners: list[Callable[[], None]], hear: Callable[[], None]) -> None:
    if hear in listeners:
        listeners.remove(hear)


def _owner(client: Client) -> str:
    return client.connection.id if client.connection is not None else client.alone
