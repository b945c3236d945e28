"""Resources and prompts of MCP sources through the gateway, in both protocol families on both sides."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.board.primitives import UnknownPrimitiveError
from pegboard.core import Session
from pegboard.discovery import Residency
from pegboard.sources.mcp import McpSource
from pegboard.sources.wrap import disabled
from pegboard.testing import FakeSource

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

BLOB = base64.b64encode(bytes(range(256)) * 40).decode()
ICON = {"src": "data:image/png;base64,AAAA", "mimeType": "image/png", "sizes": ["16x16"]}
FULL = {
    "uri": "note://café/a b%20c?x=1#frag",
    "name": "note",
    "title": "A note",
    "description": "Words",
    "mimeType": "text/plain; charset=utf-8",
    "size": 12,
    "icons": [ICON],
    "annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"},
    "_meta": {"example/key": [1, None]},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Library(Server[Any]):
    """A server whose lists and answers are plain data."""

    def __init__(self, name: str = "library") -> None:
        self.bus = InMemorySubscriptionBus()
        super().__init__(name, on_subscriptions_listen=ListenHandler(self.bus))
        self.lists: dict[str, list[Any]] = {"resources": [], "resourceTemplates": [], "prompts": []}
        self.cache: dict[str, Any] = {}
        self.contents: dict[str, Any] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.connections: dict[int, Any] = {}
        self.page = 1000
        self.middleware = [self._answer]
        for method in _METHODS:
            self.add_request_handler(method, types.RequestParams, _never)

    def create_initialization_options(self, *_: Any, **__: Any) -> Any:
        from mcp.server.lowlevel.server import NotificationOptions

        return super().create_initialization_options(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        )

    async def _answer(self, ctx: Any, call_next: Any) -> Any:
        params = dict(ctx.params or {})
        params.pop("_meta", None)
        self.connections[id(ctx.session._connection)] = ctx
        if ctx.method not in _METHODS:
            return await call_next(ctx)
        self.asked.append((ctx.method, params))
        return {"resultType": "complete", **self.answer(ctx.method, params)}

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "resources/list":
                return self._page("resources", params)
            case "resources/templates/list":
                return self._page("resourceTemplates", params)
            case "prompts/list":
                return self._page("prompts", params)
            case "resources/read":
                if params["uri"] not in self.contents:
                    raise MCPError(-32002, f"no {params['uri']}", {"uri": params["uri"]})
                return {"contents": self.contents[params["uri"]], **self.cache}
            case "prompts/get":
                if (params.get("arguments") or {}).get("who") is None:
                    raise MCPError(-32602, "who is missing")
                block = {"type": "resource", "resource": {"uri": "note://1", "text": "1"}}
                link = {"type": "resource_link", "uri": "note://2", "name": "two"}
                text = {"type": "text", "text": f"Hello {params['arguments']['who']}"}
                messages = [{"role": "user", "content": one} for one in (text, block, link)]
                return {"messages": messages, "description": "greets"}
            case "completion/complete":
                return {"completion": {"values": [params["argument"]["value"] + "!"], "total": 1, "hasMore": False}}
            case _:
                return {}

    def _page(self, member: str, params: dict[str, Any]) -> dict[str, Any]:
        start = int(params.get("cursor") or 0)
        rows = self.lists[member]
        more = {"nextCursor": str(start + self.page)} if start + self.page < len(rows) else {}
        return {member: rows[start : start + self.page], **self.cache, **more}

    async def tell(self, event: Any) -> None:
        """Announce something, in both families."""
        await self.bus.publish(event)
        for ctx in self.connections.values():
            if ctx.protocol_version == "2026-07-28":
                continue
            match event:
                case ResourceUpdated(uri):
                    await ctx.session.send_resource_updated(uri)
                case ResourcesListChanged():
                    await ctx.session.send_resource_list_changed()
                case _:
                    await ctx.session.send_prompt_list_changed()


_METHODS = (
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "resources/read",
    "prompts/get",
    "completion/complete",
    "resources/subscribe",
    "resources/unsubscribe",
)


async def _never(*_: Any) -> Any:
    raise AssertionError


def library(*uris: str, prompts: tuple[str, ...] = ()) -> Library:
    made = Library()
    made.lists["resources"] = [{"uri": uri, "name": uri} for uri in uris]
    made.contents = {uri: [{"uri": uri, "mimeType": "text/plain", "text": f"of {uri}"}] for uri in uris}
    made.lists["prompts"] = [{"name": name} for name in prompts]
    return made


@asynccontextmanager
async def client_of(*sources: Any, mode: str = "auto", **more: Any) -> AsyncGenerator[Client]:
    async with Board.of(*sources) as board, served(board) as server, Client(server, mode=mode, **more) as client:
        yield client


FRONTS, UPSTREAMS = ("auto", "legacy"), ("modern", "handshake")


@pytest.mark.parametrize("family", UPSTREAMS)
@pytest.mark.parametrize("mode", FRONTS)
async def test_a_resource_is_listed_under_the_boards_address_and_read_byte_for_byte(mode: str, family: Any) -> None:
    server = Library()
    server.lists["resources"] = [FULL, {"uri": "bin://x", "name": "bin", "size": 10240}]
    text = "\ufeffa\r\nb\u2028\x00é"
    meta = {"k": {"deep": [1.5]}}
    server.contents = {
        FULL["uri"]: [{"uri": FULL["uri"], "mimeType": "text/plain; charset=utf-8", "text": text, "_meta": meta}],
        "bin://x": [{"uri": "bin://x", "mimeType": "application/octet-stream", "blob": BLOB}],
    }
    async with client_of(McpSource("shelf", server, family=family), mode=mode) as client:
        listed = (await client.list_resources()).resources
        shown = listed[0].model_dump(by_alias=True, exclude_none=True, mode="json")
        assert shown == {**FULL, "uri": f"pegboard://shelf/{FULL['uri']}"}
        read = (await client.read_resource(listed[0].uri)).contents[0]
        assert (read.uri, read.text, read.meta) == (listed[0].uri, text, meta)
        assert read.mime_type == "text/plain; charset=utf-8"
        blob = (await client.read_resource(listed[1].uri)).contents[0]
        assert blob.blob == BLOB


@pytest.mark.parametrize("family", UPSTREAMS)
@pytest.mark.parametrize("mode", FRONTS)
async def test_a_prompt_is_listed_and_got_under_a_name_like_a_tools(mode: str, family: Any) -> None:
    server = library(prompts=("greet",))
    row = {"name": "greet", "title": "Greet", "arguments": [{"name": "who", "required": True, "title": "Who"}]}
    server.lists["prompts"] = [{**row, "icons": [ICON], "_meta": {"a": 1}}]
    async with client_of(McpSource("shelf", server, family=family), mode=mode) as client:
        [prompt] = (await client.list_prompts()).prompts
        assert prompt.model_dump(by_alias=True, exclude_none=True, mode="json") == {
            **row, "name": "shelf__greet", "icons": [ICON], "_meta": {"a": 1},
        }  # fmt: skip
        got = await client.get_prompt("shelf__greet", {"who": "Ada"})
        assert [message.role for message in got.messages] == ["user"] * 3
        assert got.messages[0].content.text == "Hello Ada"
        assert got.messages[1].content.resource.uri == "pegboard://shelf/note://1"
        assert got.messages[2].content.uri == "pegboard://shelf/note://2"
        with pytest.raises(MCPError, match="who is missing") as refused:
            await client.get_prompt("shelf__greet", {})
        assert refused.value.code == -32602


@pytest.mark.parametrize("family", UPSTREAMS)
@pytest.mark.parametrize("mode", FRONTS)
async def test_arguments_of_prompts_and_templates_are_completed_by_their_source(mode: str, family: Any) -> None:
    server = library(prompts=("greet",))
    server.lists["resourceTemplates"] = [{"uriTemplate": "row://{id}{?q*}", "name": "row"}]
    async with client_of(McpSource("shelf", server, family=family), mode=mode) as client:
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "pegboard://shelf/row://{id}{?q*}"
        ref = types.ResourceTemplateReference(uri=template.uri_template)
        found = await client.complete(ref, {"name": "id", "value": "4"})
        assert found.completion.values == ["4!"]
        await client.complete(types.PromptReference(name="shelf__greet"), {"name": "who", "value": "A"})
        assert [params["ref"] for method, params in server.asked if method == "completion/complete"] == [
            {"type": "ref/resource", "uri": "row://{id}{?q*}"},
            {"type": "ref/prompt", "name": "greet"},
        ]
        with pytest.raises(MCPError, match="No source of this board has a prompt 'other'"):
            await client.complete(types.PromptReference(name="other"), {"name": "who", "value": "A"})


async def test_two_sources_with_the_same_address_and_the_same_prompt_do_not_clash() -> None:
    one, two = library("file:///a", prompts=("go",)), library("file:///a", prompts=("go",))
    two.contents["file:///a"][0]["text"] = "of two"
    async with client_of(McpSource("one", one), McpSource("two", two)) as client:
        uris = [row.uri for row in (await client.list_resources()).resources]
        assert uris == ["pegboard://one/file:///a", "pegboard://two/file:///a"]
        texts = [(await client.read_resource(uri)).contents[0].text for uri in uris]
        assert texts == ["of file:///a", "of two"]
        assert [row.name for row in (await client.list_prompts()).prompts] == ["one__go", "two__go"]
        with pytest.raises(MCPError, match="pegboard://one/file:///a, pegboard://two/file:///a"):
            await client.read_resource("file:///a")


async def test_an_address_that_names_no_source_is_read_where_only_one_can_have_it() -> None:
    one, two = library("file:///a"), library("file:///b")
    two.lists["resourceTemplates"] = [{"uriTemplate": "row://{table}/{id}{?q*}", "name": "row"}]
    two.contents["row://t/4?x=1"] = [{"uri": "row://t/4?x=1", "text": "four"}]
    async with client_of(McpSource("one", one), McpSource("two", two)) as client:
        assert (await client.read_resource("file:///b")).contents[0].uri == "pegboard://two/file:///b"
        assert (await client.read_resource("row://t/4?x=1")).contents[0].text == "four"


@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
async def test_what_nobody_has_is_refused_in_the_words_of_the_protocol(mode: str, code: int) -> None:
    async with client_of(McpSource("one", library("file:///a", prompts=("greet",))), mode=mode) as client:
        for uri in ("pegboard://one/file:///none", "pegboard://nobody/x", "file:///none"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.code == code
        with pytest.raises(MCPError, match="Did you mean one__greet"):
            await client.get_prompt("greeet", {})


async def test_a_resource_that_its_source_does_not_list_is_read_all_the_same() -> None:
    server = library("file:///a")
    server.contents["secret://é é"] = [{"uri": "secret://é é", "text": "unlisted"}]
    async with client_of(McpSource("one", server)) as client:
        assert (await client.read_resource("pegboard://one/secret://é é")).contents[0].text == "unlisted"


async def test_an_address_that_a_client_has_escaped_is_the_one_that_was_listed() -> None:
    async with client_of(McpSource("one", library("note://café/a b"))) as client:
        await client.list_resources()
        read = await client.read_resource("pegboard://one/note://caf%C3%A9/a%20b")
        assert read.contents[0].text == "of note://café/a b"


async def test_a_source_that_cannot_be_listed_costs_only_its_own_rows_and_that_is_said() -> None:
    broken = library("file:///x")
    broken.lists["resources"] = None  # type: ignore[assignment]
    sources = McpSource("one", library("file:///a")), McpSource("gone", ["/no/such/program"]), McpSource("odd", broken)
    async with client_of(*sources) as client:
        listed = await client.list_resources()
        assert [row.uri for row in listed.resources] == ["pegboard://one/file:///a"]
        assert listed.meta is not None
        assert set(listed.meta["pegboard/report"]["sources"]) == {"gone", "odd"}


async def test_a_row_that_no_client_would_take_is_mended_or_set_aside_alone() -> None:
    server = library()
    server.lists["resources"] = [
        {"uri": "a://1"}, {"name": "no address"}, 7, {"uri": "a://2", "name": 5, "size": "big", "icons": [{}]},
        {"uri": "a://1", "name": "again"},
    ]  # fmt: skip
    server.lists["prompts"] = [{"name": "p", "arguments": [{"name": "x"}, {"no": 1}, 3], "description": ["d"]}]
    async with Board.of(McpSource("one", server)) as board, served(board) as front, Client(front) as client:
        rows = (await client.list_resources()).resources
        assert [(row.uri, row.name) for row in rows] == [
            ("pegboard://one/a://1", "a://1"),
            ("pegboard://one/a://2", "a://2"),
        ]
        [prompt] = (await client.list_prompts()).prompts
        assert prompt.arguments is not None
        assert [argument.name for argument in prompt.arguments] == ["x"]
        [status] = await board.statuses()
        told = "\n".join(note.message for note in status.notes)
        assert "Row 1 of its resources has no uri" in told
        assert "lists 'a://1' twice" in told
        assert "/name, /icons/0, /size left out" in told
        assert "no tools at all" not in told


async def test_long_lists_come_in_pages_whose_cursors_outlive_a_change() -> None:
    server = library(*(f"n://{number}" for number in range(2500)))
    async with client_of(McpSource("one", server)) as client:
        first = await client.list_resources()
        assert len(first.resources) == 1000
        server.lists["resources"].insert(0, {"uri": "n://new", "name": "new"})
        await server.tell(ResourcesListChanged())
        second = await client.list_resources(cursor=first.next_cursor)
        third = await client.list_resources(cursor=second.next_cursor)
        uris = [row.uri for page in (first, second, third) for row in page.resources]
        assert uris == [f"pegboard://one/n://{number}" for number in range(2500)]
        assert third.next_cursor is None
        with pytest.raises(MCPError, match="cursor is not valid"):
            await client.list_resources(cursor="nonsense")


@pytest.mark.parametrize("family", UPSTREAMS)
@pytest.mark.parametrize("mode", FRONTS)
async def test_a_change_of_a_list_is_announced_once_a_burst_and_followed(mode: str, family: Any) -> None:
    server, heard = library("n://1", prompts=("p",)), list[str]()
    changed = anyio.Event()

    async def on_message(message: Any) -> None:
        heard.append(getattr(message, "method", ""))
        changed.set()

    more = {"message_handler": on_message} if mode == "legacy" else {}
    async with client_of(McpSource("one", server, family=family), mode=mode, **more) as client:
        await client.list_resources()
        await client.list_prompts()
        server.lists["resources"].append({"uri": "n://2", "name": "2"})
        with anyio.fail_after(60):
            if mode == "legacy":
                for _ in range(200):
                    await server.tell(ResourcesListChanged())
                while "notifications/resources/list_changed" not in heard:
                    changed = anyio.Event()
                    await changed.wait()
                assert "notifications/prompts/list_changed" not in heard
                assert len(heard) < 20
            else:
                async with client.listen(resources_list_changed=True, prompts_list_changed=True) as events:
                    await server.tell(ResourcesListChanged())
                    assert await anext(aiter(events)) == ResourcesListChanged()
                    await server.tell(PromptsListChanged())
                    assert await anext(aiter(events)) == PromptsListChanged()
        assert len((await client.list_resources()).resources) == 2


@pytest.mark.parametrize("family", UPSTREAMS)
@pytest.mark.parametrize("mode", FRONTS)
async def test_who_is_subscribed_hears_of_updates_by_the_address_that_it_knows(mode: str, family: Any) -> None:
    server, heard = library("n://1", "n://2"), list[str]()
    told = anyio.Event()

    async def on_message(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            heard.append(message.params.uri)
            told.set()

    more = {"message_handler": on_message} if mode == "legacy" else {}
    async with client_of(McpSource("one", server, family=family), mode=mode, **more) as client:
        uri = "pegboard://one/n://1"
        with anyio.fail_after(60):
            if mode == "legacy":
                await client.subscribe_resource(uri)
                for _ in range(500):
                    await server.tell(ResourceUpdated("n://1"))
                    await server.tell(ResourceUpdated("n://2"))
                await told.wait()
                assert set(heard) == {uri} and len(heard) < 20
                await client.unsubscribe_resource(uri)
                heard.clear()
                if family == "handshake":
                    assert [method for method, _ in server.asked[-2:]] == [
                        "resources/subscribe",
                        "resources/unsubscribe",
                    ]
            else:
                async with client.listen(resource_subscriptions=[uri]) as events:
                    await server.tell(ResourceUpdated("n://1"))
                    assert await anext(aiter(events)) == ResourceUpdated(uri)


async def test_how_long_a_list_may_be_kept_is_the_shortest_of_all_and_for_the_fewest() -> None:
    one, two = library("n://1"), library("n://2")
    one.cache, two.cache = {"ttlMs": 60000, "cacheScope": "public"}, {"ttlMs": 5000, "cacheScope": "public"}
    async with client_of(McpSource("one", one), McpSource("two", two)) as client:
        listed = await client.list_resources()
        assert (listed.ttl_ms, listed.cache_scope) == (5000, "public")
        read = await client.read_resource("pegboard://one/n://1")
        assert (read.ttl_ms, read.cache_scope) == (60000, "public")
    two.cache = {"ttlMs": 5000, "cacheScope": "private"}
    async with client_of(McpSource("one", one), McpSource("two", two)) as client:
        assert (await client.list_resources()).cache_scope == "private"
    async with client_of(McpSource("one", one), McpSource("old", two, family="handshake"), mode="legacy") as client:
        assert (await client.list_resources()).resources


async def test_a_source_that_is_switched_off_or_hidden_shows_nothing() -> None:
    server = library("n://1", prompts=("p",))
    off = disabled(McpSource("off", server))
    async with client_of(off, McpSource("on", library("n://2"))) as client:
        assert [row.uri for row in (await client.list_resources()).resources] == ["pegboard://on/n://2"]
        for uri in ("pegboard://off/n://1", "n://1"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        with pytest.raises(MCPError):
            await client.get_prompt("off__p", {"who": "x"})
    assert server.asked == []


async def test_long_texts_are_cut_to_the_boards_limit_and_that_is_said_beside_them() -> None:
    server = library("n://1")
    server.contents["n://1"][0]["text"] = "x" * 300_000
    async with client_of(McpSource("one", server)) as client:
        read = await client.read_resource("pegboard://one/n://1")
        assert len(read.contents[0].text) < 101_000
        assert "300000 bytes" in read.contents[1].text
        assert read.meta is not None
        assert read.meta["pegboard/report"]["changes"][0]["where"].startswith("/contents/0")


async def test_a_board_without_mcp_sources_answers_with_empty_lists() -> None:
    async with client_of(FakeSource("files", {"t": None}), mode="legacy") as client:
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []
        capabilities = client.server_capabilities
        assert capabilities is not None and capabilities.resources is not None
        assert capabilities.resources.list_changed and capabilities.resources.subscribe


async def test_a_link_in_a_tools_result_can_be_read_from_the_board() -> None:
    server = library("n://1")

    async def tools(*_: Any) -> Any:
        return types.ListToolsResult(
            tools=[
                types.Tool(name="give", input_schema={"type": "object"}, _meta={"ui": {"resourceUri": "ui://c/x.html"}})
            ]
        )

    async def call(*_: Any) -> Any:
        return types.CallToolResult(
            content=[
                types.ResourceLink(uri="n://1", name="one"),
                types.ResourceLink(uri="https://example.org/a", name="web"),
                types.EmbeddedResource(resource=types.TextResourceContents(uri="n://1", text="of n://1")),
            ]
        )

    server.add_request_handler("tools/list", types.PaginatedRequestParams, tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    server.contents["ui://c/x.html"] = [
        {"uri": "ui://c/x.html", "mimeType": "text/html;profile=mcp-app", "text": "<p>"}
    ]
    async with client_of(McpSource("one", server)) as client:
        content = (await client.call_tool("one__give", {})).content
        assert content[1].uri == "https://example.org/a"
        assert content[2].resource.uri == content[0].uri
        assert (await client.read_resource(content[0].uri)).contents[0].text == "of n://1"
        [tool] = (await client.list_tools()).tools
        assert tool.meta is not None
        page = tool.meta["ui"]["resourceUri"]
        assert page == "ui://one/ui://c/x.html"
        assert (await client.read_resource(page)).contents[0].uri == page


async def test_what_a_tool_made_for_one_client_is_read_over_that_clients_own_connection() -> None:
    server = library()
    made: dict[int, str] = {}

    async def tools(*_: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name="make", input_schema={"type": "object"})])

    async def call(ctx: Any, _: Any) -> Any:
        made[id(ctx.session._connection)] = "mine"
        return types.CallToolResult(content=[types.ResourceLink(uri="own://1", name="own")])

    async def read(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "resources/read":
            server.contents = {
                "own://1": [{"uri": "own://1", "text": made.get(id(ctx.session._connection), "nobody's")}]
            }
        return await server._answer(ctx, call_next)

    async def ask(*_: Any) -> Any:
        return types.ElicitResult(action="decline")

    server.add_request_handler("tools/list", types.PaginatedRequestParams, tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    server.middleware = [read]
    source = McpSource("one", server, family="handshake", may_ask=("elicitation",))
    async with client_of(source, mode="legacy", elicitation_callback=ask) as client:
        [link] = (await client.call_tool("one__make", {})).content
        assert (await client.read_resource(link.uri)).contents[0].text == "mine"
        assert len(made) == 1


@pytest.mark.parametrize(
    ("method", "answer", "shown"),
    [
        ("resources/read", {"contents": "words"}, "sent no contents"),
        ("resources/read", {}, "sent no contents"),
        ("resources/read", {"contents": [{"odd": 1}]}, '{"odd": 1}'),
        ("resources/read", {"contents": [{"text": "no address"}]}, "no address"),
        ("prompts/get", {"messages": 7}, "sent no messages"),
        ("prompts/get", {"messages": [{"role": "wizard", "content": "words"}]}, "words"),
        ("prompts/get", {"messages": [{"content": {"type": "hologram"}}]}, "hologram"),
        ("completion/complete", {"completion": 5}, "sent no completion"),
    ],
)
async def test_an_odd_answer_becomes_one_that_clients_take_or_an_error_that_says_what_was_odd(
    method: str, answer: dict[str, Any], shown: str
) -> None:
    server = library("n://1", prompts=("p",))
    known = server.answer
    server.answer = lambda asked, params: answer if asked == method else known(asked, params)  # type: ignore[method-assign]
    async with client_of(McpSource("one", server)) as client:
        try:
            match method:
                case "resources/read":
                    told = (await client.read_resource("pegboard://one/n://1")).contents[0].text
                case "prompts/get":
                    told = (await client.get_prompt("p", {})).messages[0].content.text
                case _:
                    told = str(await client.complete(types.PromptReference(name="p"), {"name": "a", "value": "b"}))
        except MCPError as error:
            told = error.message
        assert shown in told


async def test_a_slow_source_is_left_out_and_announced_when_its_list_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.board.gathered.PATIENCE", 0.05)
    slow, go_on = library("n://slow"), anyio.Event()
    known = slow._answer

    async def held(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "resources/list":
            await go_on.wait()
        return await known(ctx, call_next)

    slow.middleware = [held]
    async with client_of(McpSource("slow", slow), McpSource("ok", library("n://1"))) as client:
        async with client.listen(resources_list_changed=True) as events:
            listed = await client.list_resources()
            assert [row.uri for row in listed.resources] == ["pegboard://ok/n://1"]
            assert listed.meta is not None and "slow" in listed.meta["pegboard/report"]["sources"]
            go_on.set()
            with anyio.fail_after(60):
                assert await anext(aiter(events)) == ResourcesListChanged()
            assert len((await client.list_resources()).resources) == 2


@pytest.mark.parametrize(("cls", "rows"), [("endless", 1000), ("loop", 1)])
async def test_a_list_without_an_end_is_ended_and_that_is_said(cls: str, rows: int) -> None:
    server = Library()

    def page(member: str, params: dict[str, Any]) -> dict[str, Any]:
        number = int(params.get("cursor") or 0) + 1
        cursor = str(number) if cls == "endless" else "1"
        return {member: [{"uri": f"e://{cursor}", "name": "x"}], "nextCursor": cursor}

    server._page = page  # type: ignore[method-assign]
    async with Board.of(McpSource("one", server)) as board:
        assert len((await board.resources()).rows) == rows
        [status] = await board.statuses()
        assert any("was ended" in note.message or "was not read" in note.message for note in status.notes)


async def test_resources_or_prompts_of_a_source_can_be_left_out() -> None:
    server = library("n://1", prompts=("p",))
    async with client_of(McpSource("one", server, beside=["prompts"])) as client:
        assert (await client.list_resources()).resources == []
        assert [row.name for row in (await client.list_prompts()).prompts] == ["one__p"]
        with pytest.raises(MCPError, match="resources of one are left out"):
            await client.read_resource("pegboard://one/n://1")
    assert not any(method.startswith("resources/") for method, _ in server.asked)


async def test_whoever_sees_no_tool_of_a_source_sees_nothing_else_of_it() -> None:
    server = library("n://1", prompts=("p",))

    async def tools(*_: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name="look", input_schema={"type": "object"})])

    server.add_request_handler("tools/list", types.PaginatedRequestParams, tools)
    async with Board.of(McpSource("one", server), residency=Residency(hidden=("one.*",))) as board:
        assert (await board.resources()).rows == () == (await board.prompts()).rows
    async with Board.of(McpSource("one", server)) as board:
        for tools_of, seen in ((("one.look",), 1), (("other.*",), 0), (None, 1)):
            session = Session("s", tools=tools_of)
            assert len((await board.resources(session)).rows) == seen
            if not seen:
                with pytest.raises(UnknownPrimitiveError):
                    await board.read_resource("pegboard://one/n://1", session)
                with pytest.raises(UnknownPrimitiveError):
                    await board.get_prompt("one__p", {"who": "x"}, session)


async def test_an_answer_does_not_carry_the_stamp_of_the_server_behind_the_gateway() -> None:
    server = library("n://1")
    server.cache = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "behind", "version": "1"}, "kept": 1}}
    async with client_of(McpSource("one", server), mode="legacy") as client:
        assert (await client.read_resource("pegboard://one/n://1")).meta == {"kept": 1}
