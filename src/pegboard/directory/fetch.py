"""A registry at an address: all its pages, and what it answered last for when it cannot be reached.

Source: the API of modelcontextprotocol/registry (`GET /v0/servers` with `cursor`, and `metadata.nextCursor`).
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pegboard.directory.reading import Unreadable
from pegboard.directory.registry import servers_of
from pegboard.errors import MissingExtraError
from pegboard.schema.types import Json, as_object

PAGES = 200
"""The most pages that are read of one registry."""
PAGE = 100
SECONDS = 20.0


async def fetch(url: str, headers: Mapping[str, str], cache: Path | None) -> tuple[list[Json], str | None]:
    """The servers of a registry.

    Parameters:
        url: its address, with or without `/v0/servers`; an address that ends with .json is one document.
        headers: HTTP headers.
        cache: the file that keeps the last answer.

    Returns:
        The servers, and why they are those of the last answer, where they are.

    Raises:
        Unreadable: it cannot be reached, and there is no last answer.
    """
    try:
        rows = await _pages(url, headers)
    except Unreadable as problem:
        with suppress(OSError, ValueError, AttributeError):
            if cache is not None and (kept := json.loads(cache.read_text(encoding="utf-8")))["url"] == url:
                return list(kept["servers"]), problem.message
        raise
    if cache is not None:
        with suppress(OSError):
            cache.parent.mkdir(parents=True, exist_ok=True)
            cache.write_text(json.dumps({"url": url, "servers": rows}), encoding="utf-8")
    return rows, None


async def _pages(url: str, headers: Mapping[str, str]) -> list[Json]:
    try:
        from pegboard.sources.http.address import Allowance
        from pegboard.sources.http.client import SafeClient
    except ImportError:
        raise MissingExtraError("gateway", feature="Reading a registry") from None
    found: list[Json] = []
    start = _list_address(url)
    cursor: str | None = None
    async with SafeClient(Allowance.of([url]), timeout=SECONDS) as client:
        for _ in range(PAGES):
            document = await _document(client, _page_address(start, cursor), headers)
            found += servers_of(document)
            table = as_object(document)
            meta = as_object(table.get("metadata"))
            following = meta.get("nextCursor") or meta.get("next_cursor")
            if not isinstance(following, str) or following == cursor:
                return found
            cursor = following
    return found


def _list_address(url: str) -> str:
    path = urlsplit(url).path.rstrip("/")
    return url if path.endswith((".json", "/servers")) else f"{url.rstrip('/')}/v0/servers"


def _page_address(url: str, cursor: str | None) -> str:
    if urlsplit(url).path.endswith(".json"):
        return url
    more = f"limit={PAGE}" + (f"&cursor={quote(cursor, safe='')}" if cursor else "")
    return f"{url}{'&' if urlsplit(url).query else '?'}{more}"


async def _document(client: Any, url: str, headers: Mapping[str, str]) -> Json:
    from pegboard.sources.http.client import Request

    try:
        answer = await client.send(Request(method="GET", url=url, headers=tuple(headers.items())))
    except Exception as problem:
        reason = str(problem) or type(problem).__name__
        raise Unreadable(f"{url} cannot be read: {reason}.", "Correct the address, or try later.") from problem
    if answer.status != 200:
        raise Unreadable(f"{url} answered with status {answer.status}.", "Correct the address or the headers.")
    try:
        return json.loads(answer.body)
    except ValueError as problem:
        raise Unreadable(f"{url} did not answer with JSON.", "Name the address of an MCP registry.") from problem
