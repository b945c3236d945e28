"""What an MCP server has beside its tools: its lists of resources, templates and prompts, kept while they hold."""

import logging
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import anyio

from pegboard.core.primitive import AskError, Asking, Notice, Primitive, Rows
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.mcp.call import passed_on
from pegboard.sources.mcp.pages import Walk, walk_pages
from pegboard.sources.mcp.subscriptions import Subscriptions
from pegboard.sources.mcp.upstream import RECONNECTED, Upstream
from pegboard.wire.client import Answered, CannotStart, ConnectionLost, Link, WireError

_log = logging.getLogger(__name__)
_METHOD_NOT_FOUND = -32601
_UPDATED = "notifications/resources/updated"
_CHANGED = {
    "notifications/resources/list_changed": (Primitive.RESOURCES, Primitive.TEMPLATES),
    "notifications/prompts/list_changed": (Primitive.PROMPTS,),
    RECONNECTED: tuple(Primitive),
}
_LIST_SECONDS = 30.0
_LATE_SECONDS = 30.0
"""So long a list is kept that came after everybody had stopped waiting for it."""
NOTHING = Rows(watched=True)
"""What a server lists that does not have the kind at all."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A list as it was read.

    Parameters:
        rows: the list.
        link: the connection that it came over.
        until: when it is stale, on the loop's clock.
    """

    rows: Rows
    link: Link
    until: float


@dataclass(eq=False)
class _Reading:
    """A list while it is read."""

    over: anyio.Event = field(default_factory=anyio.Event)
    waiting: int = 0
    rows: Rows | None = None
    error: AskError | None = None

    @contextmanager
    def awaited(self) -> Generator[None]:
        """Count whoever waits for it."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1


class McpPrimitives:
    """The resources and prompts of one server, which it supplies (it is a `core.primitive.Supplying`).

    Parameters:
        upstream: the server.
        namespace: the namespace of its prompts' names.
        beside: what of it is there: `resources`, `prompts`.
    """

    def __init__(self, upstream: Upstream, namespace: str, beside: Collection[str] = ("resources", "prompts")) -> None:
        self._upstream, self.namespace = upstream, namespace
        self._beside = frozenset(beside)
        self._held: dict[Primitive, _Held] = {}
        self._readings: dict[Primitive, _Reading] = {}
        self._listeners: dict[object, Callable[[Notice], None]] = {}
        self._subscriptions = Subscriptions(upstream, lambda uri: self._tell(Notice(uri=uri)))
        upstream.noticed = self._on_notice

    async def rows(self, kind: Primitive) -> Rows:
        """What the server lists of a kind now: what was read last while that holds, else read anew.

        Whoever gives up waiting leaves the reading to itself; a notice says when it has ended.
        """
        if kind.capability not in self._beside:
            return NOTHING
        reading = self._readings.get(kind)
        if reading is None:
            reading = self._readings[kind] = _Reading()
            self._upstream.spawn(self._run, kind, reading)
        with reading.awaited():
            await reading.over.wait()
        if reading.rows is None:
            raise reading.error or AskError(f"{self._upstream.name!r} was closed meanwhile.")
        return reading.rows

    async def ask(self, asking: Asking) -> JsonObject:
        """The raw answer of the server, over the client's own connection to it first where there is one.

        What a tool hands out may be known on the connection alone over which it was called.
        """
        self._admit(_about(asking))
        own = self._upstream.own_link(asking.owner)
        if own is not None:
            try:
                return await self._asked(asking, own)
            except WireError as error:
                _log.debug("not over the client's own connection: %s", error)
        return await self._ask(asking)

    def _admit(self, kind: str) -> None:
        if kind not in self._beside:
            raise AskError(
                f"The {kind} of {self._upstream.name} are left out in the config.",
                next_step=f"Whoever runs the board can have them with `{kind} = true` of the source.",
            )

    async def _ask(self, asking: Asking) -> JsonObject:
        """All of these only read, so that a lost connection is opened once more."""
        for last in (False, True):
            try:
                return await self._asked(asking, await self._upstream.link())
            except ConnectionLost as error:
                if last or not error.repairable(repeatable=True):
                    raise _said(error, self._upstream.name) from None
            except WireError as error:
                raise _said(error, self._upstream.name) from None
        raise AssertionError("the last attempt always ends")

    async def _asked(self, asking: Asking, link: Link) -> JsonObject:
        timeout, meta = self._upstream.call_timeout, passed_on(asking.meta)
        params = {**asking.params, "_meta": meta} if meta else asking.params
        return await link.request(asking.method, params, timeout=timeout, on_progress=asking.progress)

    async def subscribe(self, uri: str) -> None:
        """Have the server tell of updates of a resource."""
        self._admit("resources")
        try:
            await self._subscriptions.add(uri)
        except WireError as error:
            raise _said(error, self._upstream.name) from None

    async def unsubscribe(self, uri: str) -> None:
        """Take one subscription back; what goes wrong costs nobody anything."""
        await self._subscriptions.drop(uri)

    def heed(self, listener: Callable[[Notice], None]) -> Callable[[], None]:
        """Hear the server's notices."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None) and None

    async def _run(self, kind: Primitive, reading: "_Reading") -> None:
        try:
            reading.rows = await self._rows(kind)
        except WireError as error:
            reading.error = _said(error, self._upstream.name)
        finally:
            self._readings.pop(kind, None)
            reading.over.set()
        if not reading.waiting:
            held = self._held.get(kind)
            if held is not None:
                self._held[kind] = replace(held, until=max(held.until, anyio.current_time() + _LATE_SECONDS))
            self._tell(Notice(changed=kind))

    async def _rows(self, kind: Primitive) -> Rows:
        link = await self._upstream.link()
        held = self._held.get(kind)
        if held is not None and held.link is link and anyio.current_time() < held.until:
            return held.rows
        self._held.pop(kind, None)
        declared = link.peer.capabilities
        if kind.capability not in declared:
            return NOTHING
        watched = bool(as_object(declared[kind.capability]).get("listChanged"))
        # A change that is announced meanwhile makes it stale at once.
        reading = self._held[kind] = _Held(Rows(), link, 0.0)
        rows = await self._read(kind, link, watched=watched)
        if self._held.get(kind) is reading:
            fresh = float("inf") if watched else anyio.current_time() + rows.ttl / 1000
            self._held[kind] = _Held(rows, link, fresh)
        return rows

    async def _read(self, kind: Primitive, link: Link, *, watched: bool) -> Rows:
        async def ask(params: dict[str, Any]) -> dict[str, Any]:
            return await link.request(kind.method, params, timeout=_LIST_SECONDS)

        try:
            walk = await walk_pages(ask, self._upstream.name, member=kind.value, key=kind.key)
        except Answered as error:
            if error.code == _METHOD_NOT_FOUND:  # few have templates, and one capability speaks for both
                return NOTHING
            raise
        kept, odd = _sound(walk, kind)
        return Rows(kept, (*walk.warnings, *odd), walk.ttl or 0, walk.public, watched)

    def _on_notice(self, method: str, params: JsonObject) -> None:
        for kind in _CHANGED.get(method, ()):
            self._held.pop(kind, None)
            self._tell(Notice(changed=kind))
        uri = params.get("uri")
        if method == _UPDATED and isinstance(uri, str):
            self._tell(Notice(uri=uri))
        self._subscriptions.hear(method, params)

    def _tell(self, notice: Notice) -> None:
        for listener in list(self._listeners.values()):
            listener(notice)


def _sound(walk: Walk, kind: Primitive) -> tuple[tuple[JsonObject, ...], list[str]]:
    """The rows that can be told apart, each once, and what is said of the others."""
    found: dict[str, JsonObject] = {}
    odd: list[str] = []
    for index, row in enumerate(walk.rows):
        key = _key(row, kind)
        if key is None:
            odd.append(f"Row {index} of its {kind.value} has no {kind.key} and was set aside.")
        elif key in found:
            odd.append(f"It lists {key[:200]!r} twice among its {kind.value}; the first is kept.")
        else:
            found[key] = cast("JsonObject", row)
    return tuple(found.values()), odd


def _key(row: Json, kind: Primitive) -> str | None:
    key = as_object(row).get(kind.key)
    return key if isinstance(key, str) and key else None


def _about(asking: Asking) -> str:
    """Whether a request is about resources or prompts."""
    named = asking.method == "prompts/get" or "name" in as_object(asking.params.get("ref"))
    return "prompts" if named else "resources"


def _said(error: WireError, source: str) -> AskError:
    if isinstance(error, Answered):
        return AskError(str(error), code=error.code, data=error.data)
    next_step = error.next_step if isinstance(error, CannotStart) else None
    return AskError(f"{source!r} did not answer: {error}", next_step=next_step)
