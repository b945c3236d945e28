"""Small descriptions, and the one tool that they make."""

from typing import Any

import anyio
from mock_api import Reply, Seen, serving

from pegboard.core import Call, Listing, Mode, Result, Tool
from pegboard.sources.openapi import OpenApiSource
from pegboard.sources.openapi.source import Options

INFO = {"title": "t", "version": "1"}
OK = {"200": {"description": "ok"}}


def described(path: str, method: str, operation: dict[str, Any], **more: Any) -> dict[str, Any]:
    item = {path: {method: {"operationId": "op", "responses": OK, **operation}}}
    return {"openapi": "3.1.0", "info": INFO, "paths": item, **more}


def body_of(schema: Any, **more: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}, **more}}


def listing(document: Any, **options: Any) -> Listing:
    async def main() -> Listing:
        source = OpenApiSource("api", document, options=Options(**options))
        async with source.session():
            return await source.listing()

    return anyio.run(main)


def only(document: Any, **options: Any) -> Tool:
    [tool] = listing(document, **options).tools
    return tool


def call(document: Any, arguments: dict[str, Any], reply: Reply | None = None, **options: Any) -> tuple[Result, Seen]:
    """Call the only tool of a description; what the service saw."""
    with serving((lambda seen: reply) if reply else None) as api:
        base = {"base_url": api.url} | options

        async def main() -> Result:
            source = OpenApiSource("api", document, options=Options(**base))
            async with source.session():
                [tool] = (await source.listing()).tools
                return await tool.handler(Call(tool=tool.name, arguments=arguments, mode=Mode.EXECUTE))

        return anyio.run(main), api.last
