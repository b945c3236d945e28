"""Servers that do not start, or not as they should: the reason is told, and nothing waits for ever."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from fault_kit import SERVERS, HttpServer, Journal, call, names, until

from pegboard.core import Call, FailureCode, SourceState
from pegboard.errors import SourceError
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio


async def failed_start(source: McpSource) -> SourceError:
    async with source.session():
        with pytest.raises(SourceError) as caught:
            await source.listing()
        health = await source.health()
        assert health.state is SourceState.UNAVAILABLE and health.reason
    return caught.value


async def test_a_missing_program_is_named_with_a_remedy() -> None:
    error = await failed_start(McpSource("ghost", ["no-such-program-at-all", "--token", "hunter22"]))
    assert "'no-such-program-at-all' was not found" in error.message
    assert error.where == "sources.ghost" and error.next_step
    assert "hunter22" not in str(error)


async def test_a_program_that_may_not_run_is_named_with_a_remedy(tmp_path: Path) -> None:
    error = await failed_start(McpSource("there", [sys.executable], cwd=str(tmp_path / "nowhere")))
    assert "could not be started" in error.message and "cwd" in str(error.next_step)


@pytest.mark.parametrize("family", ["auto", "handshake", "modern"])
async def test_a_crash_at_start_is_told_with_the_exit_code_and_the_last_words(
    stdio: Callable[..., McpSource], family: str
) -> None:
    error = await failed_start(stdio({"start": "exit", "stderr": "no licence found\n"}, family=family))
    assert "exited with code 3" in error.message and "no licence found" in error.message


async def test_secrets_in_the_environment_never_show_in_what_is_told(stdio: Callable[..., McpSource]) -> None:
    source = stdio({"start": "exit", "stderr": "bad key s3cr3t-key!\n"}, env={"API_KEY": "s3cr3t-key!"})
    error = await failed_start(source)
    assert "bad key ***" in error.message
    assert "s3cr3t-key!" not in f"{error} {source!r} {source.stderr} {source.endpoint!r}"


async def test_a_server_that_hangs_at_start_is_given_up_after_its_time(stdio: Callable[..., McpSource]) -> None:
    error = await failed_start(stdio({"start": "hang"}, start_timeout=0.3))
    assert "did not start within 0.3 s" in error.message


async def test_a_slow_start_is_waited_for(stdio: Callable[..., McpSource]) -> None:
    source = stdio({"start": 0.4})
    async with source.session():
        assert "echo" in names(await source.listing())
        assert source.start_seconds is not None and source.start_seconds >= 0.4


@pytest.mark.parametrize(
    ("families", "unknown", "version"),
    [
        (["handshake"], "error", "2025-11-25"),
        (["handshake"], "exit", "2025-11-25"),
        (["modern"], "error", "2026-07-28"),
        pytest.param(["handshake"], "ignore", "2025-11-25", marks=pytest.mark.slow),
    ],
)
async def test_auto_finds_the_family_that_the_server_speaks(
    stdio: Callable[..., McpSource], journal: Journal, families: list[str], unknown: str, version: str
) -> None:
    source = stdio({"families": families, "unknown": unknown})
    async with source.session():
        listing = await source.listing()
        assert (await call(source, listing, "echo")).ok
    first = journal.of("initialize" if version == "2025-11-25" else "server/discover")
    assert len(first) == 1, journal.frames


async def test_a_family_that_was_found_is_not_looked_for_again(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    source = stdio({"families": ["handshake"], "die_hints": {"readOnlyHint": True}})
    async with source.session():
        listing = await source.listing()
        await call(source, listing, "die")
        assert (await call(source, listing, "echo")).ok
    assert len(journal.of("initialize")) == 2 and len(journal.of("server/discover")) == 1


async def test_a_server_of_another_family_than_the_one_asked_for_is_refused(stdio: Callable[..., McpSource]) -> None:
    error = await failed_start(stdio({"families": ["modern"]}, family="handshake"))
    assert "Unsupported protocol version" in error.message


async def test_the_limit_of_starting_processes_is_shared_by_all_sources(stdio: Callable[..., McpSource]) -> None:
    starting = anyio.CapacityLimiter(2)
    sources = [stdio({"start": 0.2}, name=f"s{n}", starting=starting) for n in range(5)]
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, starting.borrowed_tokens)
            await anyio.sleep(0.01)

    async def listed(source: McpSource) -> None:
        async with source.session():
            await source.listing()

    async with anyio.create_task_group() as watching:
        watching.start_soon(watch)
        async with anyio.create_task_group() as tasks:
            for source in sources:
                tasks.start_soon(listed, source)
        watching.cancel_scope.cancel()
    assert most == 2 and starting.borrowed_tokens == 0


async def test_waiting_for_a_turn_does_not_count_as_start_time(stdio: Callable[..., McpSource]) -> None:
    starting = anyio.CapacityLimiter(1)
    sources = [stdio({"start": 1}, name=f"s{n}", starting=starting, start_timeout=3.5) for n in range(4)]

    async def listed(source: McpSource) -> None:
        async with source.session():
            assert names(await source.listing())

    async with anyio.create_task_group() as tasks:
        for source in sources:
            tasks.start_soon(listed, source)


async def test_callers_that_come_during_the_start_share_it(stdio: Callable[..., McpSource], journal: Journal) -> None:
    source = stdio({"start": 0.2})
    async with source.session(), anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(source.listing)
    assert len(journal.of("server/discover")) == 1


async def test_an_impatient_caller_does_not_stop_the_start_for_the_others(stdio: Callable[..., McpSource]) -> None:
    source = stdio({"start": 0.3})
    async with source.session():
        with anyio.move_on_after(0.05) as hurry:
            await source.listing()
        assert hurry.cancelled_caught
        assert (await source.health()).state is SourceState.STARTING
        assert "echo" in names(await source.listing())


async def test_leaving_the_session_stops_the_whole_process_tree(tmp_path: Path) -> None:
    script = f"""
import subprocess, sys, pathlib
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(tmp_path / "child")!r}).write_text(str(child.pid))
sys.argv = ["x", "{{}}"]
sys.path.insert(0, {str(SERVERS)!r})
import over_stdio
over_stdio.main()
"""
    source = McpSource("tree", [sys.executable, "-c", script])
    async with source.session():
        await source.listing()
        pid = int((tmp_path / "child").read_text())
        assert Path(f"/proc/{pid}").exists()
    await until(lambda: not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text())


async def test_a_program_inherits_little_and_gets_what_is_given(
    stdio: Callable[..., McpSource], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRIVATE_THING", "not-for-servers")
    source = stdio(env={"GIVEN": "yes"}, cwd=str(tmp_path))
    async with source.session():
        seen = (await call(source, await source.listing(), "environment")).value
    assert seen["env"]["GIVEN"] == "yes" and "PATH" in seen["env"] and "PRIVATE_THING" not in seen["env"]
    assert seen["cwd"] == str(tmp_path)


async def test_a_program_beside_the_running_python_is_found_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    source = McpSource("beside", ["python", str(SERVERS / "over_stdio.py")])
    async with source.session():
        assert "echo" in names(await source.listing())


async def test_nobody_at_an_address_is_told_without_its_path(http: Callable[..., HttpServer]) -> None:
    server = http()
    server.stop()
    error = await failed_start(McpSource("away", f"{server.url}/s3cr3t-path", headers={"x-key": "s3cr3t-key"}))
    assert "connection was refused" in error.message and error.next_step
    assert "s3cr3t" not in str(error)


@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize(("status", "remedy"), [(401, "credentials"), (403, "credentials"), (404, "address")])
async def test_an_address_that_refuses_is_told_with_its_status_and_a_remedy(
    http: Callable[..., HttpServer], transport: Any, status: int, remedy: str
) -> None:
    error = await failed_start(McpSource("away", http(refuse=status).url, transport=transport))
    assert f"HTTP {status}" in error.message and remedy in str(error.next_step)


async def test_after_failed_starts_calls_are_held_back_and_say_for_how_long(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    good = stdio()
    async with good.session():
        listing = await good.listing()
    bad = stdio({"start": "exit"})
    tool = bad.tool(listing.tools[0].spec)
    async with bad.session():
        results = [await tool.handler(Call(tool=tool.name, arguments={})) for _ in range(4)]
    assert {result.failure.code for result in results if result.failure} == {FailureCode.UNAVAILABLE}
    held = [result.failure.details.get("retry_in", 0) for result in results if result.failure]
    assert held[0] == 0 and held[-1] > 0
