"""A client of the `mcp` package that talks to a server at an address, as any other client would."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pegboard.schema.types import JsonObject


class Probe:
    """A connected client, answering in plain data.

    Parameters:
        client: the client.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def protocol(self) -> str:
        """The protocol revision that was agreed on."""
        return self._client.protocol_version

    @property
    def server(self) -> str:
        """What the server calls itself."""
        info = self._client.server_info
        return f"{info.name} {info.version}" if info else "a server without a name"

    async def tools(self) -> list[JsonObject]:
        """Every page of the server's list."""
        rows: list[JsonObject] = []
        cursor: str | None = None
        while True:
            page = await self._client.list_tools(cursor=cursor)
            rows += [cast("JsonObject", tool.model_dump(by_alias=True, exclude_none=True)) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return rows

    async def call(self, name: str, arguments: Mapping[str, Any]) -> JsonObject:
        """Call a tool."""
        result = await self._client.call_tool(name, dict(arguments))
        return result.model_dump(by_alias=True, exclude_none=True)


@asynccontextmanager
async def probe(address: str, *, token: str | None = None, legacy: bool = False) -> AsyncGenerator[Probe]:
    """Connect to a server.

    Parameters:
        address: its streamable HTTP endpoint.
        token: the bearer token that it asks for.
        legacy: whether to insist on the handshake family.
    """
    import httpx2

    # Tools that were found by search are not in the list; the client says of each that it cannot check its output.
    logging.getLogger("client").setLevel(logging.ERROR)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode="legacy" if legacy else "auto") as client:
            yield Probe(client)
