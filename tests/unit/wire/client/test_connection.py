"""A connection lives in its own task, and ends in an orderly way whoever ends it."""

from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server

from pegboard.wire.client import ConnectionLost, Declared, Link, MemoryEndpoint
from pegboard.wire.client.connection import Connection
from pegboard.wire.client.hearing import Hearing, Hooks

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def connection(family: Any = "auto") -> Connection:
    async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    return Connection(
        MemoryEndpoint(Server("s", on_list_tools=list_tools)),
        family=family,
        hearing=Hearing(Declared(), Hooks()),
        start_timeout=5,
        starting=None,
        settled=lambda _: None,
    )


@pytest.mark.parametrize(("family", "modern"), [("auto", True), ("modern", True), ("handshake", False)])
async def test_it_serves_requests_until_it_is_ended(family: str, modern: bool) -> None:
    it = connection(family)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(it.run)
        await it.opened()
        link = Link(it)
        assert link.peer.modern is modern and link.usable
        assert (await link.request("tools/list", {}))["tools"] == []
        it.end()
        await it.ended.wait()
        assert not link.usable and link.spent
        with pytest.raises(ConnectionLost) as caught:
            await link.request("tools/list", {})
        assert not caught.value.sent


async def test_cancelling_its_task_ends_it() -> None:
    it = connection()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(it.run)
            await it.opened()
            tasks.cancel_scope.cancel()
    assert it.ended.is_set()


async def test_a_retired_link_waits_for_its_last_answer() -> None:
    it = connection()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(it.run)
        await it.opened()
        link = Link(it)

        async def ask() -> None:
            assert (await link.request("tools/list", {}))["tools"] == []

        async with anyio.create_task_group() as asking:
            asking.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            link.retire()
            assert not link.usable
        await it.ended.wait()
