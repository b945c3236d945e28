"""The resources and prompts of the npm server `everything`, through the gateway as directly."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.sources.mcp import McpSource

DEMO = Path(__file__).parents[2] / "examples/demo"
SERVER = DEMO / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
HAS_NODE = shutil.which("node") is not None and (DEMO / "node_modules/.installed").exists()

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_NODE, reason="the demo's npm servers are not installed"),
]
OWN, BOARD = "everything__", "pegboard://everything/"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def direct() -> AsyncGenerator[Client]:
    async with Client(stdio_client(StdioServerParameters(command="node", args=[str(SERVER)])), mode="legacy") as client:
        yield client


@asynccontextmanager
async def through() -> AsyncGenerator[Client]:
    source = McpSource("everything", ["node", str(SERVER)])
    async with Board.of(source) as board, served(board) as server, Client(server, mode="legacy") as client:
        yield client


async def everything_of(client: Client, name: str, uri: str) -> Any:
    """All that there is beside tools, and what it holds."""
    prompts = (await client.list_prompts()).prompts
    resources = (await client.list_resources()).resources
    templates = (await client.list_resource_templates()).resource_templates
    addresses = [*(row.uri for row in resources), f"{uri}demo://resource/dynamic/blob/{{resourceId}}"]
    given = {"args-prompt": {"city": "Wien"}, "completable-prompt": {"department": "Sales", "name": "David"}}
    given["resource-prompt"] = {"resourceType": "Text", "resourceId": "1"}
    found = [*prompts, *resources, *templates]
    found += [await client.read_resource(one.replace("{resourceId}", "2")) for one in addresses]
    found += [
        await client.get_prompt(one.name, given.get(one.name.removeprefix(name)))
        for one in prompts
    ]  # fmt: skip
    return [one.model_dump(by_alias=True, exclude_none=True, mode="json") for one in found]


def unnamed(value: Any) -> Any:
    match value:
        case str():
            # The server writes the time into what it makes up.
            return value.replace(BOARD, "").replace(OWN, "").partition(" at ")[0]
        case list():
            return [unnamed(one) for one in value]
        case dict():
            return {key: unnamed(one) for key, one in value.items() if key != "blob"}
        case _:
            return value


async def test_every_resource_and_prompt_is_the_same_but_for_its_name() -> None:
    async with direct() as client:
        plain = await everything_of(client, "", "")
    async with through() as client:
        shown = await everything_of(client, OWN, BOARD)
    assert len(shown) > 20
    assert unnamed(shown) == unnamed(plain)
