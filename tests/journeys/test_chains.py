"""Chains in real processes that are killed: every one comes to its end, and nothing that may not runs twice."""

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from chain_worker import EFFECTS, Moments, board_of

from pegboard.chain import ChainRun, RunStatus
from pegboard.chain.ledger import Ledger
from pegboard.store import Store

WORKER = Path(__file__).with_name("chain_worker.py")
CHAINS, WORKERS, KILLS = 200, 2, 3
pytestmark = [pytest.mark.slow, pytest.mark.anyio]


def launch(folder: Path, worker: int, crash_at: int) -> subprocess.Popen[bytes]:
    numbers = [str(number) for number in range(CHAINS) if number % WORKERS == worker]
    return subprocess.Popen([sys.executable, WORKER, folder, str(crash_at), *numbers])


def over(folder: Path) -> dict[tuple[str, str], tuple[object, int]]:
    """What is kept of each step that is over: its value, and how often it was begun."""
    with Store.open(folder / "store") as store:
        ledger = Ledger(store)
        runs = [ledger.run(id) for id in ledger.ids()]
    return {
        (run.id, point.step): (point.value, point.attempts)
        for run in runs
        for point in run.steps.values()
        if point.status.is_over
    }


@pytest.mark.requirement("C6.3")
async def test_two_hundred_chains_whose_processes_are_killed_come_to_their_end(tmp_path: Path) -> None:
    chance = random.Random(8)
    killed = 0
    kept: dict[tuple[str, str], tuple[object, int]] = {}
    for round in range(KILLS + 1):
        moments = [chance.randrange(20, 400) if round < KILLS else -1 for _ in range(WORKERS)]
        workers = [launch(tmp_path, worker, at) for worker, at in enumerate(moments)]
        codes = [worker.wait(timeout=60) for worker in workers]
        assert set(codes) <= {0, -signal.SIGKILL}
        killed += codes.count(-signal.SIGKILL)
        now = over(tmp_path)
        assert {step: now[step] for step in kept} == kept  # nothing that was over ran again, or was lost
        kept = now
    assert killed >= KILLS
    effects = Counter((tmp_path / "effects.txt").read_text().splitlines())
    async with board_of(tmp_path, Moments(-1)) as board:
        stopped = await board.chains.runs(status=RunStatus.NEEDS_OPERATOR, limit=CHAINS)
        for run in stopped:
            number = run.input["number"]
            if f"add {number}" in effects:
                await board.chains.resume(run.id, skip="add", output=f"add {number}")
            else:
                await board.chains.resume(run.id, redo="add")
        runs: list[ChainRun] = await board.chains.runs(limit=10_000)
    effects = Counter((tmp_path / "effects.txt").read_text().splitlines())
    assert Counter(run.status for run in runs) == {RunStatus.DONE: CHAINS}
    assert sorted(run.input["number"] for run in runs) == list(range(CHAINS))
    assert all(run.value == f"put {run.input['number']}" for run in runs)
    assert all(effects[f"add {number}"] == 1 for number in range(CHAINS))
    assert all(effects[f"{name} {number}"] >= 1 for name in EFFECTS for number in range(CHAINS))
