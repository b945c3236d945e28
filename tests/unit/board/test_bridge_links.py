"""Which connections stand between clients that can be asked and a server, and what is listed and run over them."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (
    CallToolResult,
    ElicitResult,
    EmptyResult,
    ListRootsResult,
    ListToolsResult,
    RequestParams,
    Root,
    SetLevelRequestParams,
    TextContent,
    Tool,
)

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.sources.mcp import McpSource, own

from .asking_server import Asking

pytestmark = pytest.mark.anyio
BEFORE = pytest.mark.parametrize("before", ["legacy", "auto"])
BEHIND = pytest.mark.parametrize("behind", ["handshake", "modern"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def accept(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ann"} if params.mode == "form" else None)


@asynccontextmanager
async def gateway(server: Any, behind: Any, **options: Any) -> AsyncGenerator[tuple[Any, Board]]:
    source = McpSource("shop", server, family=behind, **options)
    async with Board.of(source) as board, served(board) as made:
        yield made, board


class Choosy(Asking):
    """Offers some tools to clients only that can be asked."""

    async def _list(self, ctx: Any, params: Any) -> ListToolsResult:
        declared = ctx.session.client_capabilities
        names = ["plain", *(["form"] if declared and declared.elicitation else [])]
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in names])


@BEFORE
@BEHIND
async def test_what_is_offered_only_to_clients_that_can_be_asked_is_listed_for_them(before: str, behind: str) -> None:
    async with gateway(Choosy().server, behind) as (made, _):
        async with Client(made, mode=before) as mute:
            assert [tool.name for tool in (await mute.list_tools()).tools] == ["shop__plain"]
        async with Client(made, mode=before, elicitation_callback=accept) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["shop__plain", "shop__form"]
            assert not (await client.call_tool("shop__form", {})).is_error
        async with Client(made, mode=before) as mute:
            result = await mute.call_tool("shop__form", {})
    assert result.meta["pegboard/failure"]["code"] == "unavailable"
    assert "only to clients with elicitation" in result.content[0].text


@BEFORE
@BEHIND
async def test_such_a_tool_can_be_called_by_name_without_a_list_before(before: str, behind: str) -> None:
    async with (
        gateway(Choosy().server, behind) as (made, _),
        Client(made, mode=before, elicitation_callback=accept) as client,
    ):
        assert not (await client.call_tool("shop__form", {})).is_error


@BEFORE
async def test_a_client_with_a_connection_keeps_its_link_and_it_ends_with_the_client(before: str) -> None:
    live: list[int] = []

    @asynccontextmanager
    async def counted(server: Any) -> AsyncGenerator[None]:
        live.append(1)
        try:
            yield
        finally:
            live.pop()

    asking = Asking()
    asking.server.lifespan = counted
    async with gateway(asking.server, "handshake") as (made, _):
        made.shared = True
        async with Client(made, mode=before, elicitation_callback=accept) as client:
            for _ in range(3):
                await client.call_tool("shop__form", {})
            assert len(live) == 2  # the source's own, and the client's
        if before == "legacy":
            with anyio.fail_after(60):
                while len(live) > 1:  # noqa: ASYNC110
                    await anyio.sleep(0.01)


async def test_two_clients_never_share_a_link_and_each_is_asked_for_its_own_calls() -> None:
    asking = Asking()
    asked: dict[str, int] = {"ann": 0, "bob": 0}

    def person(name: str) -> Any:
        async def elicit(context: Any, params: Any) -> ElicitResult:
            asked[name] += 1
            return ElicitResult(action="accept", content={"name": name})

        return elicit

    async with gateway(asking.server, "handshake") as (made, _):
        async with (
            Client(made, mode="legacy", elicitation_callback=person("ann")) as ann,
            Client(made, mode="legacy", elicitation_callback=person("bob")) as bob,
        ):
            for client, name in ((ann, "ann"), (bob, "bob"), (ann, "ann")):
                result = await client.call_tool("shop__form", {})
                assert json.loads(result.content[0].text)["content"]["name"] == name
    assert asked == {"ann": 2, "bob": 1}


async def test_calls_of_nobodys_connection_wait_where_too_many_are_asked_at_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(own, "MOST", 2)
    most, now = 0, 0

    async def elicit(context: Any, params: Any) -> ElicitResult:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await anyio.sleep(0.01)
        now -= 1
        return ElicitResult(action="accept", content={"name": "Ann"})

    asking = Asking()
    async with (
        gateway(asking.server, "handshake") as (made, _),
        Client(made, mode="auto", elicitation_callback=elicit) as client,
    ):
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for _ in range(8):
                    tasks.start_soon(client.call_tool, "shop__form", {})
    assert asking.runs == 8
    assert most == 2


async def test_that_roots_have_changed_travels_to_the_server_which_asks_anew() -> None:
    heard, answered = anyio.Event(), list[int]()

    class Rooted(Asking):
        async def _call(self, ctx: Any, params: Any) -> CallToolResult:
            return CallToolResult(content=[TextContent(text="ok")])

    async def on_change(ctx: Any, params: Any) -> None:
        listed = await ctx.session._connection.outbound.send_raw_request("roots/list", None)
        answered.append(len(listed["roots"]))
        heard.set()

    asking = Rooted()
    asking.server.add_notification_handler("notifications/roots/list_changed", RequestParams, on_change)
    folders = ["file:///a"]

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=one) for one in folders])

    async with (
        gateway(asking.server, "handshake") as (made, _),
        Client(made, mode="legacy", list_roots_callback=roots) as client,
    ):
        await client.call_tool("shop__form", {})
        folders.append("file:///b")
        with pytest.warns(MCPDeprecationWarning):
            await client.session.send_roots_list_changed()
        with anyio.fail_after(60):
            await heard.wait()
    assert answered == [2]


class Paged(Asking):
    """Wants a page opened before it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    async def _call(self, ctx: Any, params: Any) -> CallToolResult:
        self.calls += 1
        if self.calls == 1:
            page = {"mode": "url", "elicitationId": "e", "url": "https://example.com/in", "message": "Sign in."}
            bad = {**page, "url": "file:///etc/passwd"}
            raise MCPError(
                -32042, "Sign in first.", {"elicitations": [page] if ctx.params["name"] == "page" else [bad]}
            )
        return CallToolResult(content=[TextContent(text="done")])


async def test_a_page_that_must_be_opened_first_is_asked_for_in_rounds() -> None:
    asked: list[Any] = []

    async def elicit(context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return ElicitResult(action="accept")

    async with (
        gateway(Paged().server, "handshake") as (made, _),
        Client(made, mode="auto", elicitation_callback=elicit) as client,
    ):
        result = await client.call_tool("shop__page", {})
    assert result.content[0].text == "done"
    assert [(one.url, one.message) for one in asked] == [("https://example.com/in", "shop asks: Sign in.")]


async def test_a_client_with_a_connection_gets_the_error_itself_and_calls_again() -> None:
    async with (
        gateway(Paged().server, "handshake") as (made, _),
        Client(made, mode="legacy", elicitation_callback=accept) as client,
    ):
        with pytest.raises(MCPError) as caught:
            await client.call_tool("shop__page", {})
        assert caught.value.code == -32042
        [page] = caught.value.data["elicitations"]
        assert (page["url"], page["message"]) == ("https://example.com/in", "shop asks: Sign in.")
        assert (await client.call_tool("shop__page", {})).content[0].text == "done"


@BEFORE
async def test_a_client_that_shows_no_pages_is_told_the_address_and_never_a_bad_one(before: str) -> None:
    for tool, told in (("page", "https://example.com/in"), ("form", "a page")):
        async with gateway(Paged().server, "handshake") as (made, _), Client(made, mode=before) as client:
            failure = (await client.call_tool(f"shop__{tool}", {})).meta["pegboard/failure"]
        assert told in failure["next_step"]
        assert "file:" not in failure["next_step"]


class Tasked:
    """A server whose tool runs as a task only (MCP 2025-11-25); the SDK's own results know no tasks.

    Parameters:
        ends: after how many looks at it the task ends.
    """

    def __init__(self, ends: int = 3) -> None:
        self.ends, self.looks = ends, 0
        self.cancelled, self.done = anyio.Event(), anyio.Event()
        self.server = Server("tasked", on_list_tools=self._list)
        self.server.middleware = [self._answer]

    async def _list(self, ctx: Any, params: Any) -> ListToolsResult:
        row = {"name": "long", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
        return ListToolsResult(tools=[Tool.model_validate(row)])

    async def _answer(self, ctx: Any, call_next: Any) -> Any:
        match ctx.method:
            case "tools/call":
                assert ctx.params["task"]["ttl"] > 0
                return {"task": self._task("working")}
            case "tasks/get":
                self.looks += 1
                if self.looks == self.ends:
                    self.done.set()
                return self._task("completed" if self.done.is_set() else "working")
            case "tasks/result":
                await self.done.wait()
                return {"content": [{"type": "text", "text": "the end"}]}
            case "tasks/cancel":
                self.cancelled.set()
                return self._task("cancelled")
            case _:
                return await call_next(ctx)

    def _task(self, status: str) -> dict[str, Any]:
        return {"taskId": "t", "status": status, "statusMessage": f"Step {self.looks}", "ttl": 1000, "pollInterval": 10}


@BEFORE
async def test_a_tool_that_runs_as_a_task_is_called_as_any_other_with_its_states_as_progress(before: str) -> None:
    told: list[str | None] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with gateway(Tasked().server, "handshake") as (made, _), Client(made, mode=before) as client:
        [row] = (await client.list_tools()).tools
        assert row.execution is None
        with anyio.fail_after(60):
            result = await client.call_tool(row.name, {}, progress_callback=progress)
    assert result.content[0].text == "the end"
    assert told[:2] == ["Step 0", "Step 1"]


async def test_who_stops_such_a_call_cancels_the_task() -> None:
    tasked = Tasked(ends=10_000)
    async with gateway(tasked.server, "handshake") as (made, _), Client(made, mode="legacy") as client:
        with anyio.move_on_after(1):
            await client.call_tool("shop__long", {})
        with anyio.fail_after(60):
            await tasked.cancelled.wait()


async def test_a_task_that_takes_too_long_is_cancelled_and_said_so() -> None:
    tasked = Tasked(ends=10_000)
    async with (
        gateway(tasked.server, "handshake", call_timeout=0.5) as (made, _),
        Client(made, mode="legacy") as client,
    ):
        result = await client.call_tool("shop__long", {})
    assert result.meta["pegboard/failure"]["code"] == "timeout"
    assert tasked.cancelled.is_set()


@pytest.mark.parametrize(("chosen", "expected"), [(None, "info"), ("debug", "debug"), ("error", "error")])
async def test_the_level_that_a_client_chose_is_the_one_that_the_server_is_told(chosen: Any, expected: str) -> None:
    told: list[str] = []
    heard = anyio.Event()

    async def set_level(ctx: Any, params: SetLevelRequestParams) -> EmptyResult:
        told.append(params.level)
        heard.set()
        return EmptyResult()

    asking = Asking({"roots": ("ping", {})})
    asking.server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    async with gateway(asking.server, "handshake") as (made, _), Client(made, mode="legacy") as client:
        if chosen:
            with pytest.warns(MCPDeprecationWarning):
                await client.set_logging_level(chosen)
        await client.call_tool("shop__roots", {})
        with anyio.fail_after(60):
            await heard.wait()
    assert told == [expected]


@pytest.mark.parametrize(("before", "family"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_a_server_of_both_families_is_asked_in_the_one_that_the_client_speaks(before: str, family: str) -> None:
    spoken: list[str] = []

    class Both(Asking):
        async def _call(self, ctx: Any, params: Any) -> Any:
            spoken.append(ctx.protocol_version)
            return await super()._call(ctx, params)

    async with (
        gateway(Both().server, "auto") as (made, _),
        Client(made, mode=before, elicitation_callback=accept) as client,
    ):
        assert not (await client.call_tool("shop__form", {})).is_error
    assert set(spoken) == {family}


async def test_a_server_of_the_stateless_family_alone_is_asked_in_rounds_for_a_client_with_a_connection() -> None:
    class Newest(Asking):
        def __init__(self) -> None:
            super().__init__()
            self.tried = 0
            self.server.middleware = [self._refuse]

        async def _refuse(self, ctx: Any, call_next: Any) -> Any:
            if ctx.method == "initialize":
                self.tried += 1
                raise MCPError(-32022, "No handshakes here.", {"supported": ["2026-07-28"]})
            return await call_next(ctx)

    asking = Newest()
    async with (
        gateway(asking.server, "auto") as (made, _),
        Client(made, mode="legacy", elicitation_callback=accept) as client,
    ):
        for _ in range(3):
            assert not (await client.call_tool("shop__form", {})).is_error
    assert asking.tried == 1


async def test_calls_of_nobodys_connection_one_after_the_other_go_over_the_same_one() -> None:
    class Remembering(Asking):
        async def _call(self, ctx: Any, params: Any) -> CallToolResult:
            await super()._call(ctx, params)
            state = ctx.session._connection.state
            state["calls"] = state.get("calls", 0) + 1
            return CallToolResult(content=[TextContent(text=str(state["calls"]))])

    together = anyio.Event()
    waiting = 0

    async def elicit(context: Any, params: Any) -> ElicitResult:
        nonlocal waiting
        waiting += 1
        if waiting == 2:
            together.set()
        await together.wait()
        return ElicitResult(action="accept", content={"name": "Ann"})

    async with (
        gateway(Remembering().server, "handshake") as (made, _),
        Client(made, mode="auto", elicitation_callback=elicit) as client,
    ):
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(client.call_tool, "shop__form", {})
        said = [(await client.call_tool("shop__form", {})).content[0].text for _ in range(3)]
    assert said == ["2", "3", "4"]


async def test_a_client_whose_link_gave_its_place_up_meanwhile_tells_of_its_roots_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(own, "MOST", 1)
    heard: list[str] = []

    async def on_change(ctx: Any, params: Any) -> None:
        heard.append("changed")

    asking = Asking()
    asking.server.add_notification_handler("notifications/roots/list_changed", RequestParams, on_change)

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[])

    async with gateway(asking.server, "handshake") as (made, _):
        async with (
            Client(made, mode="legacy", list_roots_callback=roots) as ann,
            Client(made, mode="legacy", list_roots_callback=roots) as bob,
        ):
            for client in (ann, bob, ann):
                await client.call_tool("shop__roots", {})
            with pytest.warns(MCPDeprecationWarning):
                await ann.session.send_roots_list_changed()
            with anyio.fail_after(60):
                while not heard:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
            await ann.call_tool("shop__roots", {})
    assert heard == ["changed"]


async def test_a_burst_of_calls_leaves_few_connections_behind() -> None:
    live: list[int] = []
    most = 0

    @asynccontextmanager
    async def counted(server: Any) -> AsyncGenerator[None]:
        live.append(1)
        try:
            yield
        finally:
            live.pop()

    async def elicit(context: Any, params: Any) -> ElicitResult:
        nonlocal most
        most = max(most, len(live))
        await anyio.sleep(0.05)
        return ElicitResult(action="accept", content={"name": "Ann"})

    asking = Asking()
    asking.server.lifespan = counted
    async with (
        gateway(asking.server, "handshake") as (made, _),
        Client(made, mode="auto", elicitation_callback=elicit) as client,
    ):
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(client.call_tool, "shop__form", {})
        with anyio.fail_after(60):
            while len(live) > 1 + own.SPARE:  # noqa: ASYNC110
                await anyio.sleep(0.01)
    assert most > 1 + own.SPARE
