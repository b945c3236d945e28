"""A process that runs chains over a store which it shares, until it is through, or kills itself at a chosen moment.

python chain_worker.py FOLDER CRASH_AT NUMBER...
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from pegboard.board import Board
from pegboard.chain.ledger import Ledger
from pegboard.config import parse
from pegboard.core import Call, Effects, Result, ToolName, ToolSpec
from pegboard.testing import FakeSource

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
EFFECTS = {"read": Effects.READ_ONLY, "add": Effects.ADDITIVE, "put": Effects.IDEMPOTENT}
CHAIN = {
    "description": "Read, add, put.",
    "steps": [{"id": name, "tool": f"w.{name}", "args": {"number": "${input.number}"}} for name in EFFECTS],
}


class Moments:
    """Counts what happens, and kills the process at one of the moments."""

    def __init__(self, crash_at: int) -> None:
        self.left = crash_at

    def pass_(self) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


def told_by(folder: Path, name: str, moments: Moments) -> Callable[[Call], Any]:
    """A tool that writes down that it took effect, in one write that outlives the process."""

    async def handler(call: Call) -> Result:
        moments.pass_()
        descriptor = os.open(folder / "effects.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{name} {call.arguments['number']}\n".encode())
        os.close(descriptor)
        moments.pass_()
        return Result(value=f"{name} {call.arguments['number']}")

    return handler


def board_of(folder: Path, moments: Moments) -> Board:
    """The board with the three tools and the chain over them."""
    source = FakeSource("w")
    for name, effects in EFFECTS.items():
        spec = ToolSpec(name=ToolName("w", name), description=name, input=NUMBER, effects=effects)
        source.put(name, told_by(folder, name, moments), spec=spec)
    document = {"board": {"store": str(folder / "store")}, "chain": {"work": CHAIN}}
    return Board.open(parse(document, folder=folder), beside=[source])


async def main(folder: Path, crash_at: int, numbers: list[int]) -> None:
    """Adopt what others left, then run what was never begun, several at once."""
    moments = Moments(crash_at)
    written = Ledger._kept

    def counted(ledger: Ledger, work: Callable[[], Any]) -> Any:
        moments.pass_()
        done = written(ledger, work)
        moments.pass_()
        return done

    Ledger._kept = counted
    async with board_of(folder, moments) as board:
        await board.chains.adopt()
        begun = {run.input["number"] for run in await board.chains.runs(limit=10_000)}
        limit = anyio.CapacityLimiter(8)

        async def one(number: int) -> None:
            async with limit:
                result = await board.call("work", {"number": number})
                assert result.ok, json.dumps(result.failure.to_json() if result.failure else None)

        async with anyio.create_task_group() as tasks:
            for number in numbers:
                if number not in begun:
                    tasks.start_soon(one, number)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]), [int(number) for number in sys.argv[3:]])
