"""All pages of a list, whatever the server makes of its cursors (MCP 2026-07-28, pagination)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import anyio

from pegboard.schema.types import Json
from pegboard.wire.client import Answered, ConnectionLost, TimedOut

MAX_PAGES = 1000
"""Pages after which a walk is ended; no real list is that long."""

MAX_BARREN = 10
"""Pages in a row without anything new after which a walk is ended."""

MAX_SECONDS = 120.0
"""Seconds after which no further page is asked for."""

Ask: TypeAlias = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends the request for a list with these params and returns the raw result."""


@dataclass(slots=True)
class Walk:
    """What a walk through all pages brought.

    Parameters:
        rows: the rows as they came, without exact repetitions.
        warnings: what was wrong with the walk; the source is degraded if anything was.
        lost: why the connection was lost before the last page, if it was.
        ttl: for how long every page may be kept (ms).
        public: whether every page may be shared between callers.
    """

    rows: list[Json] = field(default_factory=list[Any])
    warnings: list[str] = field(default_factory=list[str])
    lost: ConnectionLost | None = None
    ttl: int | None = None
    public: bool = True


async def walk_pages(ask: Ask, server: str, *, member: str = "tools", key: str = "name") -> Walk:
    """Read every page. A missing cursor ends the walk, an empty one does not; a repeated one does, with a warning.

    Parameters:
        ask: sends one request.
        server: the server's name, for warnings.
        member: what holds the rows of an answer.
        key: what tells one row from another.

    Raises: what `ask` raises, but for a later page that does not come: what was read until then is kept.
    """
    walk, seen, by_name = Walk(), set[str](), dict[str, Json]()
    cursor: str | None = None
    barren, deadline = 0, anyio.current_time() + MAX_SECONDS
    for _ in range(MAX_PAGES):
        try:
            result = await ask({} if cursor is None else {"cursor": cursor})
        except (Answered, TimedOut, ConnectionLost) as error:
            if cursor is None:
                raise
            walk.lost = error if isinstance(error, ConnectionLost) else None
            why = "in time" if isinstance(error, TimedOut) else f"({error})"
            walk.warnings.append(f"The server {server!r} did not send the next page {why}; the list was ended there.")
            return walk
        grew = _take(walk, by_name, result, server, (member, key))
        barren = 0 if grew else barren + 1
        found = result.get("nextCursor")
        if found is None:
            return walk
        if (wrong := _wrong(found, seen, barren, late=anyio.current_time() > deadline)) is not None:
            walk.warnings.append(f"The server {server!r} {wrong}; the list was ended there.")
            return walk
        cursor = cast("str", found)
        seen.add(cursor)
    walk.warnings.append(f"The server {server!r} has more than {MAX_PAGES} pages of {member}; the rest was not read.")
    return walk


def _wrong(cursor: Json, seen: set[str], barren: int, *, late: bool) -> str | None:
    if not isinstance(cursor, str):
        return "sent a cursor that is no text"
    if cursor in seen:
        return f"sent the cursor {cursor[:40]!r} again"
    if late:
        return f"took more than {MAX_SECONDS:g} s for its pages"
    return f"sent {barren} pages without anything new" if barren >= MAX_BARREN else None


def _take(walk: Walk, by_key: dict[str, Json], page: dict[str, Any], server: str, shape: tuple[str, str]) -> bool:
    """Add the rows of one page; False if nothing in it was new."""
    member, key = shape
    _keep_for(walk, page)
    rows = page.get(member)
    if not isinstance(rows, list):
        walk.warnings.append(f"The server {server!r} sent a page without a list of {member}.")
        return False
    before = len(by_key)
    for row in cast("list[Any]", rows):
        name = cast("dict[str, Any]", row).get(key) if isinstance(row, dict) else None
        if not isinstance(name, str) or by_key.setdefault(name, row) is row or row != by_key[name]:
            walk.rows.append(row)
    return len(by_key) > before


def _keep_for(walk: Walk, page: dict[str, Any]) -> None:
    """Of all pages the shortest time and the narrowest circle (MCP 2026-07-28, caching)."""
    told = page.get("ttlMs")
    ttl = int(told) if isinstance(told, int | float) and told > 0 else 0
    walk.ttl = ttl if walk.ttl is None else min(ttl, walk.ttl)
    walk.public = walk.public and page.get("cacheScope") == "public"
