"""Callers that may not share a connection do not; what is declared for one is answered for that one."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fault_kit import Journal, call, words

from pegboard.core import Call, Session
from pegboard.schema.types import JsonObject
from pegboard.sources.mcp import McpSource
from pegboard.wire.client import Declared, Role

pytestmark = pytest.mark.anyio


def by_principal(call: Call) -> Role:
    return Role(call.session.principal)


async def pid(source: McpSource, listing: Any, principal: str) -> str:
    session = Session(principal=principal)
    return words(await call(source, listing, "count", session=session)).split()[0]


@pytest.mark.requirement("R7.1")
async def test_each_identity_has_a_process_of_its_own_and_keeps_it(stdio: Callable[..., McpSource]) -> None:
    source = stdio(role_of=by_principal)
    async with source.session():
        listing = await source.listing()
        seen = [await pid(source, listing, who) for who in ("ann", "bob", "ann", "bob")]
    assert seen[0] == seen[2] != seen[1] == seen[3]


async def test_the_crash_of_one_identitys_process_leaves_the_others_alone(stdio: Callable[..., McpSource]) -> None:
    source = stdio(role_of=by_principal)
    async with source.session():
        listing = await source.listing()
        before = await pid(source, listing, "bob")
        await call(source, listing, "die", session=Session(principal="ann"))
        assert await pid(source, listing, "bob") == before


async def test_log_messages_of_one_identity_are_not_heard_by_another(stdio: Callable[..., McpSource]) -> None:
    heard: list[str] = []
    source = stdio(role_of=by_principal)

    def listener(name: str) -> Any:
        async def on_log(level: str, data: Any, logger: str | None = None) -> None:
            heard.append(name)

        return on_log

    async with source.session():
        listing = await source.listing()
        async with anyio.create_task_group() as tasks:
            other = {"log": listener("bob"), "session": Session("b", principal="bob")}
            tasks.start_soon(lambda: call(source, listing, "hang", **other))
            await call(source, listing, "log", log=listener("ann"), session=Session("a", principal="ann"))
            await call(source, listing, "echo", session=Session("a", principal="ann"))
            tasks.cancel_scope.cancel()
    assert heard == ["ann"]


async def test_what_is_declared_is_asked_for_and_answered(stdio: Callable[..., McpSource], journal: Journal) -> None:
    async def elicit(params: JsonObject) -> dict[str, Any]:
        return {"action": "accept", "content": {"asked": sorted(params)}}

    asking = Declared({"elicitation": {}}, {"elicitation/create": elicit})
    source = stdio(family="handshake", declared=asking)
    async with source.session():
        result = await call(source, await source.listing(), "ask", arguments={"method": "elicitation/create"})
    assert json.loads(words(result))["action"] == "accept"
    assert journal.of("initialize")[0]["params"]["capabilities"] == {"elicitation": {}}
