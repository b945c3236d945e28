"""Ends: of sessions that are left in the middle of something, and of servers that do not want to go."""

import os
from collections.abc import Callable

import anyio
import pytest
from fault_kit import HttpServer, Journal, call, names, until, words

from pegboard.core import FailureCode
from pegboard.errors import SourceError
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_session_that_is_left_closes_its_session_with_the_server(
    http: Callable[..., HttpServer], journal: Journal
) -> None:
    source = McpSource("a", http().url, family="handshake")
    async with source.session():
        await source.listing()
    assert len(journal.of("DELETE")) == 1 and journal.of("DELETE")[0]["session"]


async def test_a_session_that_is_cancelled_closes_it_too(http: Callable[..., HttpServer], journal: Journal) -> None:
    source = McpSource("a", http().url, family="handshake")
    async with anyio.create_task_group() as tasks:

        async def hold() -> None:
            async with source.session():
                await source.listing()
                tasks.cancel_scope.cancel()
                await anyio.sleep_forever()

        tasks.start_soon(hold)
    assert len(journal.of("DELETE")) == 1


async def test_whoever_waits_for_a_start_learns_that_the_session_was_closed(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    source = stdio({"families": [], "unknown": "ignore"})
    errors: list[str] = []

    async def wait() -> None:
        try:
            await source.listing()
        except SourceError as error:
            errors.append(error.message)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            async with source.session():
                tasks.start_soon(wait)
                await until(lambda: journal.frames)
    assert errors and "closed while it started" in errors[0]


async def test_a_start_that_is_broken_off_gives_its_turn_back(stdio: Callable[..., McpSource]) -> None:
    starting = anyio.CapacityLimiter(1)
    hanging = [stdio({"start": "hang"}, name=f"h{n}", starting=starting) for n in range(3)]

    async def hang(source: McpSource) -> None:
        async with source.session():
            await source.listing()

    async with anyio.create_task_group() as tasks:
        for source in hanging:
            tasks.start_soon(hang, source)
        await until(lambda: starting.borrowed_tokens and starting.statistics().tasks_waiting == 2)
        tasks.cancel_scope.cancel()
    assert starting.borrowed_tokens == 0
    good = stdio(starting=starting)
    async with good.session():
        assert "echo" in names(await good.listing())


@pytest.mark.slow
async def test_a_stubborn_process_is_killed(stdio: Callable[..., McpSource]) -> None:
    source = stdio({"stubborn": True})
    async with source.session():
        pid = int(words(await call(source, await source.listing(), "count")).split()[0])
        assert runs(pid)
    await until(lambda: not runs(pid))


@pytest.mark.slow
async def test_a_server_that_stops_reading_holds_neither_its_callers_nor_the_end(
    stdio: Callable[..., McpSource],
) -> None:
    source = stdio(call_timeout=0.2)
    codes: list[FailureCode] = []
    with anyio.fail_after(30):
        async with source.session():
            listing = await source.listing()
            for tool in ("block", "echo", "echo", "echo"):
                result = await call(source, listing, tool, arguments={"x": "x" * 300_000})
                assert result.failure is not None
                codes.append(result.failure.code)
    assert codes == [FailureCode.TIMEOUT] * 4


async def test_a_flood_of_noise_on_both_outputs_drowns_nothing(stdio: Callable[..., McpSource]) -> None:
    source = stdio({"flood": 20_000})
    async with source.session():
        listing = await source.listing()
        assert (await call(source, listing, "echo")).ok
        assert len(source.stderr) <= 8192
    assert any("20000 lines" in note.message for note in listing.notes)


@pytest.mark.parametrize(
    "argument", [float("nan"), "\ud800", object(), {1, 2}], ids=["nan", "surrogate", "object", "set"]
)
@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_arguments_that_no_json_can_carry_fail_their_own_call_only(
    stdio: Callable[..., McpSource], http: Callable[..., HttpServer], over: str, argument: object
) -> None:
    source = stdio() if over == "stdio" else McpSource("faulty", http().url)
    async with source.session():
        listing = await source.listing()
        before = words(await call(source, listing, "count")).split()[0]
        result = await call(source, listing, "echo", arguments={"x": argument})
        assert words(await call(source, listing, "count")).split()[0] == before
    assert result.failure is not None and result.failure.code is FailureCode.INVALID_ARGUMENTS


@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_numbers_that_are_no_json_arrive_as_null(
    stdio: Callable[..., McpSource], http: Callable[..., HttpServer], over: str
) -> None:
    source = stdio() if over == "stdio" else McpSource("faulty", http().url)
    async with source.session():
        result = await call(source, await source.listing(), "numbers")
    assert result.value == {"numbers": [1.5, None, None, None], "text": "NaN"}
