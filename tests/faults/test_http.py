"""Servers behind an address: lost sessions, restarts, refusals and broken streams."""

from collections.abc import Callable

import anyio
import pytest
from fault_kit import HttpServer, Journal, call, words

from pegboard.core import FailureCode
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio
FAMILIES = pytest.mark.parametrize("family", ["handshake", "modern"])


@pytest.mark.parametrize("status", [404, 400])
@pytest.mark.case("px-06")
async def test_px_06_a_lost_session_is_opened_anew_and_the_call_is_retried_once(
    http: Callable[..., HttpServer], journal: Journal, status: int
) -> None:
    """px-06: initialised anew without a session id, the call retried once, a healthy upstream undisturbed."""
    a = McpSource("a", http(expire=1, expired=status).url, family="handshake")
    b = McpSource("b", http().url, family="handshake")
    async with a.session(), b.session():
        of_a, of_b = await a.listing(), await b.listing()
        before = words(await call(b, of_b, "count")).split()[0]
        assert words(await call(a, of_a, "count")).split()[1] == "1"
        assert words(await call(a, of_a, "count")).split()[1] == "2"
        assert words(await call(b, of_b, "count")).split()[0] == before
    opened = journal.of("initialize")
    assert len(opened) == 3 and all(frame["headers"]["mcp-session-id"] is None for frame in opened)


@pytest.mark.case("px-06")
async def test_px_06_a_second_loss_is_an_error_that_names_the_upstream(
    http: Callable[..., HttpServer], journal: Journal
) -> None:
    """px-06: a second 404 ends in an error naming upstream a, not in a loop."""
    source = McpSource("a", http(expire=-1).url, family="handshake")
    async with source.session():
        listing = await source.listing()
        assert (await call(source, listing, "count")).ok
        result = await call(source, listing, "count")
    assert result.failure is not None and result.failure.code is FailureCode.UNAVAILABLE
    assert "'a'" in result.failure.message and result.failure.next_step
    assert journal.calls("count") == 3


@pytest.mark.case("px-06")
async def test_px_06_calls_that_lose_the_session_together_share_the_new_one(
    http: Callable[..., HttpServer], journal: Journal
) -> None:
    source = McpSource("a", http(expire=1).url, family="handshake")
    async with source.session():
        listing = await source.listing()
        await call(source, listing, "count")
        oks: list[bool] = []

        async def one() -> None:
            oks.append((await call(source, listing, "count")).ok)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(one)
    assert oks == [True] * 8 and len(journal.of("initialize")) == 2


@FAMILIES
@pytest.mark.case("px-08")
async def test_px_08_a_restart_between_two_calls_goes_unnoticed(http: Callable[..., HttpServer], family: str) -> None:
    """px-08: the second call succeeds without restarting anything on our side."""
    server = http()
    source = McpSource("a", server.url, family=family)
    async with source.session():
        listing = await source.listing()
        first = words(await call(source, listing, "count"))
        server.stop()
        server.start()
        second = words(await call(source, listing, "count"))
    assert first.split()[1] == second.split()[1] == "1" and first != second


@pytest.mark.requirement("C11.4")
async def test_a_server_that_is_away_is_unavailable_and_found_again(http: Callable[..., HttpServer]) -> None:
    server = http()
    source = McpSource("a", server.url)
    async with source.session():
        listing = await source.listing()
        server.stop()
        result = await call(source, listing, "count")
        assert result.failure is not None and result.failure.code is FailureCode.UNAVAILABLE
        assert result.failure.next_step and result.failure.retryable
        server.start()
        assert (await source.listing()).tools
        assert (await call(source, listing, "count")).ok


@FAMILIES
@pytest.mark.parametrize("drop", ["before", "after"])
@pytest.mark.case("px-08")
async def test_px_08_a_connection_lost_after_sending_is_not_sent_again(
    http: Callable[..., HttpServer], journal: Journal, drop: str, family: str
) -> None:
    """px-08: a broken stream after sending is not safe to repeat."""
    source = McpSource("a", http(drop=drop).url, family=family)
    async with source.session():
        result = await call(source, await source.listing(), "count")
    assert result.failure is not None and result.failure.code is FailureCode.OUTCOME_UNKNOWN
    assert journal.calls("count") == 1


@pytest.mark.parametrize("drop", ["before", "after"])
async def test_a_lost_call_of_a_trusted_read_only_tool_is_sent_once_more(
    http: Callable[..., HttpServer], journal: Journal, drop: str
) -> None:
    source = McpSource("a", http(drop=drop).url, trust_annotations=True)
    async with source.session():
        result = await call(source, await source.listing(), "echo")
    assert result.failure is not None and result.failure.code is FailureCode.OUTCOME_UNKNOWN
    assert journal.calls("echo") == 2


@pytest.mark.parametrize(
    ("status", "code", "sent"),
    [
        (401, FailureCode.UNAVAILABLE, 1),
        (403, FailureCode.UNAVAILABLE, 1),
        (429, FailureCode.UNAVAILABLE, 1),
        (500, FailureCode.UPSTREAM, 1),
        (502, FailureCode.OUTCOME_UNKNOWN, 1),
        (503, FailureCode.UNAVAILABLE, 1),
    ],
)
@FAMILIES
async def test_a_status_is_told_in_our_codes_and_costs_only_its_call(
    http: Callable[..., HttpServer], journal: Journal, family: str, status: int, code: FailureCode, sent: int
) -> None:
    source = McpSource("a", http(status=status).url, family=family)
    async with source.session():
        listing = await source.listing()
        result = await call(source, listing, "count")
        assert (await source.listing()).tools
    assert result.failure is not None and result.failure.code is code
    assert f"HTTP {status}" in result.failure.message and "'a'" in result.failure.message
    assert journal.calls("count") == sent
    assert len(journal.of("initialize")) + len(journal.of("server/discover")) <= 2


async def test_one_broken_call_leaves_the_others_under_way(http: Callable[..., HttpServer]) -> None:
    source = McpSource("a", http(sse=True).url, family="modern", call_timeout=5)
    async with source.session():
        listing = await source.listing()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, source, listing, "hang")
            for _ in range(5):
                assert (await call(source, listing, "echo")).ok
            tasks.cancel_scope.cancel()


@FAMILIES
async def test_headers_of_the_config_go_out_with_every_request(
    http: Callable[..., HttpServer], journal: Journal, family: str
) -> None:
    source = McpSource("a", http().url, headers={"authorization": "Bearer s3cr3t-key"}, family=family)
    async with source.session():
        await call(source, await source.listing(), "echo")
    seen = {frame["headers"]["authorization"] for frame in journal.frames if "headers" in frame}
    assert seen == {"Bearer s3cr3t-key"}
    assert "s3cr3t-key" not in repr(source) + repr(source.endpoint)


async def test_a_result_larger_than_the_sdk_takes_by_default_comes_through(http: Callable[..., HttpServer]) -> None:
    source = McpSource("a", http(sse=True).url, family="modern")
    big = "x" * 2_000_000
    async with source.session():
        result = await call(source, await source.listing(), "echo", arguments={"x": big})
    assert result.ok and big in words(result)
