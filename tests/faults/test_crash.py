"""Servers that die: what surely did not run is sent again, what may have run is not, and the next call is served."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress

import anyio
import pytest
from fault_kit import Journal, call, names, words

from pegboard.core import FailureCode, SourceState
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio
FAMILIES = pytest.mark.parametrize("family", ["handshake", "modern"])


def kill(pid: int) -> None:
    """Kill a process, and come back when it is dead; the event loop gets no turn meanwhile."""
    os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


@FAMILIES
@pytest.mark.case("px-26")
async def test_px_26_a_call_that_was_under_way_is_not_repeated_and_its_outcome_is_unknown(
    stdio: Callable[..., McpSource], journal: Journal, family: str
) -> None:
    """px-26, variant: the upstream dies after the call was sent; the next call reconnects."""
    source = stdio(family=family)
    async with source.session():
        listing = await source.listing()
        result = await call(source, listing, "die")
        assert result.failure is not None and result.failure.code is FailureCode.OUTCOME_UNKNOWN
        assert "exited with code 7" in result.failure.message and "down in flames" in result.failure.message
        assert result.failure.next_step
        assert journal.calls("die") == 1
        assert (await call(source, listing, "echo")).ok


@pytest.mark.parametrize(("trusted", "sent"), [(True, 2), (False, 1)])
@pytest.mark.parametrize("hint", ["readOnlyHint", "idempotentHint"])
@pytest.mark.case("px-26")
async def test_px_26_only_a_trusted_hint_makes_a_lost_call_be_sent_again_and_only_once(
    stdio: Callable[..., McpSource], journal: Journal, hint: str, trusted: bool, sent: int
) -> None:
    """px-26: not repeated unless the tool is read-only or idempotent; a hint that is not believed does not count."""
    source = stdio({"die_hints": {hint: True}}, trust_annotations=trusted)
    async with source.session():
        result = await call(source, await source.listing(), "die")
    assert result.failure is not None and result.failure.code is FailureCode.OUTCOME_UNKNOWN
    assert journal.calls("die") == sent


@pytest.mark.case("px-26")
async def test_px_26_a_server_that_died_between_two_calls_is_started_again(stdio: Callable[..., McpSource]) -> None:
    """px-26: reconnect, then call."""
    source = stdio()
    async with source.session():
        listing = await source.listing()
        before = words(await call(source, listing, "count")).split()[0]
        await call(source, listing, "die")
        after = words(await call(source, listing, "count")).split()
    assert after[0] != before and after[1] == "1"


@pytest.mark.case("px-26")
async def test_px_26_a_call_just_after_the_server_was_killed_runs_in_a_new_one(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    """px-26: nothing was under way, so nothing is unknown, even before the event loop has heard of the death."""
    source = stdio()
    async with source.session():
        listing = await source.listing()
        for _ in range(3):
            pid = int(words(await call(source, listing, "count")).split()[0])
            kill(pid)
            assert words(await call(source, listing, "count")).split()[1] == "1"
    assert journal.calls("count") == 6


@pytest.mark.case("px-27")
async def test_px_27_tools_are_listed_again_after_a_new_start_and_the_change_is_told(
    stdio: Callable[..., McpSource],
) -> None:
    """px-27: state follows the connection both ways."""
    source = stdio()
    heard = anyio.Event()

    async def listen() -> None:
        async for _ in source.changes():
            heard.set()

    async with source.session(), anyio.create_task_group() as tasks:
        listing = await source.listing()
        tasks.start_soon(listen)
        await call(source, listing, "die")
        assert (await source.health()).state is not SourceState.READY
        await call(source, listing, "echo")
        with anyio.fail_after(60):
            await heard.wait()
        assert names(await source.listing()) == names(listing)
        assert (await source.health()).state is SourceState.READY
        tasks.cancel_scope.cancel()


async def test_half_a_frame_at_the_end_is_no_answer(stdio: Callable[..., McpSource]) -> None:
    source = stdio()
    async with source.session():
        listing = await source.listing()
        result = await call(source, listing, "half")
        assert result.failure is not None and result.failure.code is FailureCode.OUTCOME_UNKNOWN
        assert (await call(source, listing, "echo")).ok


async def test_every_call_under_way_learns_of_the_end(stdio: Callable[..., McpSource]) -> None:
    source = stdio()
    codes: list[FailureCode] = []
    async with source.session():
        listing = await source.listing()

        async def one(tool: str) -> None:
            result = await call(source, listing, tool)
            assert result.failure is not None
            codes.append(result.failure.code)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for tool in ["hang"] * 10 + ["die"]:
                    tasks.start_soon(one, tool)
    assert codes == [FailureCode.OUTCOME_UNKNOWN] * 11


async def test_a_server_that_dies_on_every_call_is_not_started_without_pause(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    source = stdio()
    async with source.session():
        listing = await source.listing()
        codes = [(await call(source, listing, "die")).failure for _ in range(8)]
    found = [failure.code for failure in codes if failure is not None]
    assert found[0] is FailureCode.OUTCOME_UNKNOWN and FailureCode.UNAVAILABLE in found
    assert journal.calls("die") < 8


@pytest.mark.requirement("C11.4")
async def test_the_death_of_one_server_leaves_another_alone(stdio: Callable[..., McpSource]) -> None:
    a, b = stdio(name="a"), stdio(name="b")
    async with a.session(), b.session():
        of_a, of_b = await a.listing(), await b.listing()
        before = words(await call(b, of_b, "count")).split()[0]
        await call(a, of_a, "die")
        assert words(await call(b, of_b, "count")).split()[0] == before
