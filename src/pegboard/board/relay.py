"""The resources and prompts of a board for MCP clients: pages of lists, requests passed on, and who hears of what."""

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from pegboard.board.answered import Target
from pegboard.board.bursts import Bursts
from pegboard.board.gathered import Gathered
from pegboard.board.primitives import INVALID, NOT_FOUND, Primitives, UnknownPrimitiveError
from pegboard.core import Progress, Session
from pegboard.core.primitive import AskError, Asking, Notice, Primitive
from pegboard.schema.types import JsonObject, as_object
from pegboard.surface.mcp import REPORT_KEY
from pegboard.wire.server.front import Peer, Refusal

PAGE = 1000
"""Rows of one page."""
MOST_SUBSCRIPTIONS = 1000
"""Resources that one client may be subscribed to at once."""
UNANSWERED = -32603
_STREAM_SECONDS = 5.0
"""So long a client's stream of updates waits until its sources know of it."""
_CURSOR = re.compile(r"(\d{1,9}):(.*)", re.DOTALL)
_BY_METHOD = {kind.method: kind for kind in Primitive}


class Announcer(Protocol):
    """A server that can tell its clients what is new."""

    async def announce_lists(self, lists: Iterable[str]) -> None:
        """Tell every client that lists may have changed."""
        ...

    async def announce_update(self, spellings: Mapping[object, str]) -> None:
        """Tell subscribers that a resource was updated, by the address that each knows."""
        ...


class Relay:
    """Answers the clients of one server (it is a `wire.server.Relay`).

    Parameters:
        primitives: the board's resources and prompts.
        session_of: whose list a client sees; None for what all see.
        tasks: where subscriptions are ended when their client is gone.
    """

    def __init__(self, primitives: Primitives, session_of: Callable[[Peer], Session | None], tasks: TaskGroup) -> None:
        self._primitives, self._session_of, self._tasks = primitives, session_of, tasks
        self._shown: dict[tuple[Primitive, str], Gathered] = {}
        self._subscribed: dict[Target, dict[object, str]] = {}
        self.news: Bursts[tuple[str, Notice]] = Bursts()

    async def list(self, peer: Peer, method: str, cursor: str | None) -> JsonObject:
        """One page of a list; later pages are of the list that the first was of, wherever that still holds.

        Raises:
            Refusal: the cursor is none of ours.
        """
        kind = _BY_METHOD[method]
        key = kind, "" if peer.stateless else peer.id
        found = self._shown.get(key) if cursor is not None else None
        if found is None:
            found = await self._primitives.listed(kind, self._session_of(peer))
        start = _start(cursor, found)
        rows = found.rows[start : start + PAGE]
        body: dict[str, Any] = {kind.value: list(rows)}
        if start + PAGE < len(found.rows):
            body["nextCursor"] = f"{start + PAGE}:{rows[-1][kind.key]}"
            self._shown[key] = found
        if found.errors:
            told = {source: {"status": "failed", "error": error} for source, error in found.errors.items()}
            body["_meta"] = {REPORT_KEY: {"sources": told}}
        if peer.stateless:
            body |= {"ttlMs": found.ttl, "cacheScope": "public" if found.public else "private"}
        return body

    async def answer(self, peer: Peer, method: str, params: JsonObject, progress: Progress | None) -> JsonObject:
        """The answer to `resources/read`, `prompts/get` or `completion/complete`. Raises `Refusal`."""
        session = self._session_of(peer)
        owner = "" if peer.shared else peer.id
        asking = Asking(method=method, meta=as_object(params.get("_meta")), progress=progress, owner=owner)
        try:
            match method:
                case "resources/read":
                    body = await self._primitives.read(_text(params, "uri", method), session, asking)
                    return _kept_for(body, peer)
                case "prompts/get":
                    name, arguments = _text(params, "name", method), params.get("arguments")
                    if arguments is not None and not isinstance(arguments, dict):
                        raise Refusal(f"`arguments` of {method} must be an object.")
                    given = None if arguments is None else as_object(arguments)
                    return await self._primitives.prompt(name, given, session, asking)
                case _:
                    return await self._primitives.complete(params, session, asking)
        except UnknownPrimitiveError as problem:
            code = NOT_FOUND if method == "resources/read" and not peer.stateless else INVALID
            raise Refusal(str(problem), code=code, data=_named(params)) from None
        except AskError as error:
            raise _refusal(error, peer) from None

    async def subscribe(self, peer: Peer, uri: str) -> None:
        """Tell a client of updates of a resource from now on. Raises `Refusal`."""
        mine = [target for target, peers in self._subscribed.items() if peer in peers]
        if len(mine) >= MOST_SUBSCRIPTIONS:
            raise Refusal(f"A client can be subscribed to {MOST_SUBSCRIPTIONS} resources at most.")
        try:
            target = await self._primitives.resource(uri, self._session_of(peer))
            if target not in mine:
                await self._primitives.subscribe(target)
                self._subscribed.setdefault(target, {})[peer] = uri
        except UnknownPrimitiveError as problem:
            raise Refusal(str(problem), code=NOT_FOUND, data={"uri": uri}) from None
        except AskError as error:
            raise _refusal(error, peer) from None

    async def unsubscribe(self, peer: Peer, uri: str) -> None:
        """Tell it no more."""
        for target, peers in list(self._subscribed.items()):
            if peers.get(peer) == uri:
                await self._end(target, peer)

    def forget(self, peer: Peer) -> None:
        """The client has left."""
        for kind in Primitive:
            self._shown.pop((kind, peer.id), None)
        for target, peers in list(self._subscribed.items()):
            if peer in peers:
                self._tasks.start_soon(self._end, target, peer)

    @asynccontextmanager
    async def subscribed(self, peer: Peer, uris: Iterable[str]) -> AsyncGenerator[None]:
        """Updates of these resources are told meanwhile, of those at least whose sources can tell of them."""
        stream, ready = object(), anyio.Event()
        wanted = list(dict.fromkeys(uris))[:MOST_SUBSCRIPTIONS]

        async def take() -> None:
            for uri in wanted:
                try:
                    target = await self._primitives.resource(uri, self._session_of(peer))
                    if stream not in self._subscribed.get(target, {}):
                        await self._primitives.subscribe(target)
                        self._subscribed.setdefault(target, {})[stream] = uri
                except (UnknownPrimitiveError, AskError):
                    continue
            ready.set()

        async with anyio.create_task_group() as tasks:
            if wanted:
                tasks.start_soon(take)
                with anyio.move_on_after(_STREAM_SECONDS):
                    await ready.wait()
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                for target, peers in list(self._subscribed.items()):
                    if stream in peers:
                        self._tasks.start_soon(self._end, target, stream)

    async def announce(self, server: "Announcer") -> None:
        """Tell the clients what is new, for as long as the task runs."""
        async for burst in self.news.told():
            lists = {notice.changed.capability for _, notice in burst if notice.changed is not None}
            if lists:
                await server.announce_lists(sorted(lists))
            for source, notice in burst:
                spellings = self.spellings(Target(source, notice.uri)) if notice.uri is not None else {}
                if spellings:
                    await server.announce_update(spellings)

    def spellings(self, target: Target) -> dict[object, str]:
        """By what address each subscriber knows a resource.

        A source may tell of a part of what was subscribed to, in its own words (MCP 2025-11-25, resources): whoever
        is subscribed to an address that it begins with hears of it too.
        """
        found = dict(self._subscribed.get(target, {}))
        if not found:
            for other, peers in self._subscribed.items():
                if other.source == target.source and target.key.startswith(other.key):
                    found |= peers
        return found

    async def _end(self, target: Target, subscriber: object) -> None:
        peers = self._subscribed.get(target, {})
        if peers.pop(subscriber, None) is not None:
            if not peers:
                del self._subscribed[target]
            await self._primitives.unsubscribe(target)


def _start(cursor: str | None, found: Gathered) -> int:
    """Where a page begins: behind the row that the one before ended with, wherever that stands now."""
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Refusal("This cursor is not valid. Start the list again without one.")
    at, last = int(match[1]), match[2]
    key, rows = found.kind.key, found.rows
    if 0 < at <= len(rows) and rows[at - 1][key] == last:
        return at
    return next((index + 1 for index, row in enumerate(rows) if row[key] == last), min(at, len(rows)))


def _kept_for(body: JsonObject, peer: Peer) -> JsonObject:
    if not peer.stateless:
        return {key: value for key, value in body.items() if key not in ("ttlMs", "cacheScope")}
    ttl = body.get("ttlMs")
    kept = {"ttlMs": ttl if isinstance(ttl, int) and ttl >= 0 else 0}
    return {**body, **kept, "cacheScope": "public" if body.get("cacheScope") == "public" else "private"}


def _text(params: JsonObject, key: str, method: str) -> str:
    found = params.get(key)
    if not isinstance(found, str):
        raise Refusal(f"{method} needs a `{key}` (string).")
    return found


def _named(params: JsonObject) -> JsonObject | None:
    return {"uri": params["uri"]} if isinstance(params.get("uri"), str) else None


def _refusal(error: AskError, peer: Peer) -> Refusal:
    code = UNANSWERED if error.code is None else error.code
    if peer.stateless and code == NOT_FOUND:
        code = INVALID  # what the stateless family says where there is no such resource
    message = f"{error.message} {error.next_step}" if error.next_step else error.message
    return Refusal(message, code=code, data=error.data)
