"""Lists of tools that are long, broken, endless or restless: everything good is found, everything odd is told."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fault_kit import HttpServer, Journal, call, names, until

from pegboard.board import Board
from pegboard.core import FailureCode, Listing, NoteKind, SourceState
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio
FAMILIES = pytest.mark.parametrize("family", ["handshake", "modern"])


def row(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


async def listed(source: McpSource) -> Listing:
    async with source.session():
        return await source.listing()


def told(listing: Listing, kind: NoteKind = NoteKind.WARNING) -> list[str]:
    return [note.message for note in listing.notes if note.kind is kind]


@FAMILIES
@pytest.mark.case("px-01")
async def test_px_01_every_page_is_read_and_an_empty_cursor_is_one(
    stdio: Callable[..., McpSource], journal: Journal, family: str
) -> None:
    """px-01: all pages; cursors go back verbatim; a missing nextCursor ends, an empty one does not."""
    pages = [
        {"tools": [row("t1"), row("t2")], "nextCursor": "a b/=?"},
        {"tools": [row("t3")], "nextCursor": ""},
        {"tools": [row("t4")]},
    ]
    listing = await listed(stdio({"pages": pages}, family=family))
    assert names(listing) == ["t1", "t2", "t3", "t4"] and told(listing) == []
    assert [frame.get("params", {}).get("cursor") for frame in journal.of("tools/list")] == [None, "a b/=?", ""]


@pytest.mark.case("px-02")
async def test_px_02_a_cursor_that_comes_again_ends_the_walk_and_degrades_the_source(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    """px-02: listing ends, no duplicates, a warning names the server."""
    source = stdio({"loop": True}, name="looper")
    async with source.session():
        listing = await source.listing()
        health = await source.health()
    assert names(listing) == [f"t{n}" for n in range(8)]
    assert len(told(listing)) == 1 and "'looper'" in told(listing)[0]
    assert len(journal.of("tools/list")) == 2
    assert health.state is SourceState.DEGRADED and health.reason == told(listing)[0]


@pytest.mark.parametrize("how", ["mute", "refuse", "perish"])
async def test_a_list_that_stops_half_way_is_taken_as_far_as_it_came(stdio: Callable[..., McpSource], how: str) -> None:
    pages = [{"tools": [row("a")], "nextCursor": "2"}, {"tools": [row("b")]}]
    source = stdio({"pages": pages, how: "2"}, start_timeout=3.0)
    async with source.session():
        listing = await source.listing()
        health = await source.health()
    assert names(listing) == ["a"] and "'faulty'" in told(listing)[0]
    assert health.state is SourceState.DEGRADED


async def test_a_server_that_dies_at_each_page_is_tried_twice_and_not_listed_for_ever(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    pages = [{"tools": [row("a")], "nextCursor": "2"}, {"tools": [row("b")]}]
    async with Board.of(stdio({"pages": pages, "perish": "2"})) as board:
        await board.refresh()
        [status] = await board.statuses()
        assert [str(spec.name) for spec in board.catalog.specs] == ["faulty.a"]
        assert status.state is SourceState.DEGRADED and "next page" in str(status.error)
        asked = len(journal.of("tools/list"))
        await board.refresh()
        assert len(journal.of("tools/list")) == asked + 4  # a page and a death, twice


@pytest.mark.parametrize("kind", [pytest.param("fresh", marks=pytest.mark.slow), "barren"])
async def test_a_list_without_end_is_ended(stdio: Callable[..., McpSource], kind: str) -> None:
    listing = await listed(stdio({"endless": kind}))
    assert len(told(listing)) == 1 and "'faulty'" in told(listing)[0]
    assert len(names(listing)) == (1000 if kind == "fresh" else 1)


@FAMILIES
@pytest.mark.case("mc-04")
async def test_mc_04_one_odd_tool_costs_no_other(stdio: Callable[..., McpSource], family: str) -> None:
    """mc-04: the good tools are listed; a missing schema is filled with a note; what is no tool is set aside."""
    rows: list[Any] = [
        row("good", title="Good"),
        {"name": "bare"},
        {"name": "wild", "inputSchema": "nonsense", "description": 7, "outputSchema": [1]},
        {"name": "boolean", "inputSchema": {"type": "object", "properties": {"x": True}}},
        row(None),
        row(""),
        "no object",
        row("good", description="another of that name"),
        row("last", annotations="none", icons={"a": 1}, x_future={"kept": 1}),
    ]
    listing = await listed(stdio({"pages": [{"tools": rows}]}, family=family))
    assert names(listing) == ["good", "bare", "wild", "boolean", "last"]
    by_name = {tool.name.name: tool.spec for tool in listing.tools}
    assert by_name["bare"].input == {"type": "object", "properties": {}}
    assert by_name["wild"].input["type"] == "object" and by_name["wild"].output is None
    assert by_name["last"].meta["x_future"] == {"kept": 1}
    assert len(told(listing, NoteKind.SET_ASIDE)) == 4
    assert {note.tool for note in listing.notes if note.kind is NoteKind.REPAIRED} >= {"bare", "wild"}


async def test_a_page_that_is_no_list_is_a_warning(stdio: Callable[..., McpSource]) -> None:
    listing = await listed(stdio({"pages": [{"tools": [row("a")], "nextCursor": "n"}, {"tools": {"no": "list"}}]}))
    assert names(listing) == ["a"] and "without a list" in told(listing)[0]


async def test_junk_on_stdout_is_tolerated_and_told(stdio: Callable[..., McpSource]) -> None:
    junk = ["Starting up ...", "{not json", '{"jsonrpc": "1.0"}', "[]", "null", "\x1b[32mready\x1b[0m", "{" * 5000]
    source = stdio({"junk": junk})
    async with source.session():
        assert "echo" in names(await source.listing())
        listing = await source.listing()
        assert (await call(source, listing, "echo")).ok
    assert any("no messages" in text and "Starting up" in text for text in told(listing))


async def test_instructions_are_kept(stdio: Callable[..., McpSource]) -> None:
    assert (await listed(stdio({"instructions": "Ask me first."}))).instructions == "Ask me first."


async def first_change(source: McpSource, act: Callable[[], Any]) -> None:
    """Act once the listening has begun, and wait for a change."""
    heard = anyio.Event()

    async def listen() -> None:
        async for _ in source.changes():
            heard.set()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.lowlevel.checkpoint()
            await act()
            await heard.wait()
            tasks.cancel_scope.cancel()


@FAMILIES
async def test_an_announced_change_is_heard_and_the_new_name_is_listed(
    stdio: Callable[..., McpSource], journal: Journal, family: str
) -> None:
    source = stdio(family=family)
    async with source.session():
        listing = await source.listing()
        if family == "modern":
            await until(lambda: journal.of("subscriptions/listen"))
        await first_change(source, lambda: call(source, listing, "rename"))
        assert "echo_two" in names(await source.listing())
        result = await call(source, listing, "echo")
    assert result.failure is not None and result.failure.code is FailureCode.UNKNOWN_TOOL and result.failure.next_step


async def test_an_announced_change_is_heard_over_http_in_the_modern_family(
    http: Callable[..., HttpServer], journal: Journal
) -> None:
    source = McpSource("faulty", http().url, family="modern")
    async with source.session():
        listing = await source.listing()
        await until(lambda: journal.of("subscriptions/listen"))
        await first_change(source, lambda: call(source, listing, "rename"))


async def test_a_tool_that_is_gone_without_a_word_makes_the_list_be_read_again(stdio: Callable[..., McpSource]) -> None:
    source = stdio({"announce": False})
    async with source.session():
        listing = await source.listing()
        await call(source, listing, "rename")
        await first_change(source, lambda: call(source, listing, "echo"))


@FAMILIES
async def test_a_storm_of_changes_is_heard_as_few(
    stdio: Callable[..., McpSource], journal: Journal, family: str
) -> None:
    source = stdio(family=family)
    heard = 0

    async def listen() -> None:
        nonlocal heard
        async for _ in source.changes():
            heard += 1

    async with source.session():
        listing = await source.listing()
        if family == "modern":
            await until(lambda: journal.of("subscriptions/listen"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            for _ in range(3):
                await call(source, listing, "storm")
            await until(lambda: heard)
            tasks.cancel_scope.cancel()
    assert heard <= 2


async def test_changes_end_with_the_session(stdio: Callable[..., McpSource]) -> None:
    source = stdio()
    ended = anyio.Event()

    async def listen() -> None:
        async for _ in source.changes():
            pass
        ended.set()

    async with anyio.create_task_group() as tasks:
        async with source.session():
            tasks.start_soon(listen)
            await source.listing()
        with anyio.fail_after(60):
            await ended.wait()


async def test_arguments_travel_as_headers_over_http_and_a_tool_that_wants_invalid_ones_is_set_aside_there(
    http: Callable[..., HttpServer], stdio: Callable[..., McpSource], journal: Journal
) -> None:
    def schema(header: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": header}}}

    tools = [
        {"name": "echo", "inputSchema": schema("Region")},
        {"name": "bad", "inputSchema": schema("no good")},
    ]
    source = McpSource("faulty", http(pages=[{"tools": tools}]).url, family="modern")
    async with source.session():
        listing = await source.listing()
        assert (await call(source, listing, "echo", arguments={"region": "eu"})).ok
    assert names(listing) == ["echo"] and "x-mcp-header" in told(listing, NoteKind.SET_ASIDE)[0]
    headers = journal.of("tools/call")[0]["headers"]
    assert headers["mcp-param-region"] == "eu" and headers["mcp-name"] == "echo"
    assert names(await listed(stdio({"pages": [{"tools": tools}]}, family="modern"))) == ["echo", "bad"]
