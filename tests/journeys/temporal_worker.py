"""A worker of a Temporal server whose tools write down what they did; the first `add` of a folder kills its worker.

python temporal_worker.py FOLDER ADDRESS
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import Call, Effects, FailureCode, Result, ToolName, ToolSpec
from pegboard.testing import FakeSource

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
EFFECTS = {
    "read": Effects.READ_ONLY,
    "add": Effects.ADDITIVE,
    "put": Effects.IDEMPOTENT,
    "sign": Effects.ADDITIVE,
}


def step(name: str, tool: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "tool": f"w.{tool}", "args": {"text": "${input.text}"}, **more}


CHAINS: dict[str, Any] = {
    "plain": [step("a", "read"), step("b", "add"), step("c", "put", args={"text": "${a} ${b}"})],
    "killed_read": [step("a", "add"), step("b", "read", args={"text": "kill"}), step("c", "put")],
    "killed_add": [step("a", "read"), step("b", "add", args={"text": "kill"}), step("c", "put")],
    "conditions": [
        step("a", "read", args={"text": "fail"}, on_error="continue"),
        step("b", "add", when="a == null", retries=1),
        {"id": "c", "set": "${b} and more"},
        step("d", "put", when="len(c) < 3"),
    ],
    "broken": [step("a", "add"), step("b", "read", args={"text": "fail"}), step("c", "put")],
    "asking": [step("a", "put"), step("b", "sign", args={"text": "${a}, may I?"})],
    "slow": [step("a", "add"), step("b", "read", args={"text": "wait"}), step("c", "put")],
}


def tool_of(folder: Path, name: str) -> Callable[[Call], Any]:
    async def handler(call: Call) -> Result:
        text = call.arguments["text"]
        descriptor = os.open(folder / "effects.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{name} {text}\n".encode())
        os.close(descriptor)
        died = folder / f"died-{call.meta['idempotency_key']}"
        if text == "kill" and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "wait":
            await anyio.sleep_forever()
        if text == "fail" and not (folder / "mended").exists():
            return Result.failed(FailureCode.FAILED, "no such text")
        return Result(value=f"{name} {text}")

    return handler


def board_of(folder: Path, address: str, runner: str = "temporal") -> Board:
    """The board with the three tools and the chains over them."""
    source = FakeSource("w")
    for name, effects in EFFECTS.items():
        spec = ToolSpec(name=ToolName("w", name), description=name, input=TEXT, effects=effects)
        source.put(name, tool_of(folder, name), spec=spec)
    document = {
        "board": {"store": str(folder / "store")},
        "chains": {"runner": runner, "address": address, "heartbeat": 1, "task_queue": folder.name},
        "chain": {name: {"description": name, "steps": steps} for name, steps in CHAINS.items()},
        "approval": {"wait": 0, "require": ["w.sign"]},
    }
    return Board.open(parse(document, folder=folder), beside=[source])


async def main(folder: Path, address: str) -> None:
    """Work until killed."""
    async with board_of(folder, address) as board:
        await board.work()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2])
