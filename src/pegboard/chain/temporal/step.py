"""The activity that runs a step: one call through the whole pipeline of the worker's board."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
from temporalio import activity

from pegboard.chain.chains import Tools
from pegboard.chain.temporal.order import STEP
from pegboard.compose.inner import Inner, child_mode, payload
from pegboard.compose.steprun import in_time
from pegboard.core import Call, Failure, FailureCode, Mode, Result, Session, ToolName, ToolSpec
from pegboard.errors import nearest
from pegboard.invoke.timeout import too_late

MOST_BYTES = 1_500_000
"""Temporal keeps no payload of over 2 MB."""
BEATS = 4
"""Signs of life in the time after which silence counts as death."""


class StepActivity:
    """Runs steps on a board.

    Parameters:
        board: the worker's board.
        heartbeat: seconds after which silence counts as death.
    """

    def __init__(self, board: Tools, heartbeat: float) -> None:
        self._board, self._every = board, heartbeat / BEATS

    @activity.defn(name=STEP)
    async def step(self, order: dict[str, Any]) -> dict[str, Any]:
        """Call a step's tool; its failure is a value, so that Temporal tries nothing again that has answered."""
        spec = self._board.catalog.get(ToolName.parse(order["tool"]))
        if spec is None:
            return _data(_absent(order["tool"], self._board), None)
        found: list[Result] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._beat)
            found.append(await self._call(spec.spec, order))
            tasks.cancel_scope.cancel()
        return _data(found[0], spec.spec)

    async def _call(self, spec: ToolSpec, order: Mapping[str, Any]) -> Result:
        id, principal = order["session"]
        outer = Call(
            tool=ToolName.parse(order["chain"]),
            arguments={},
            mode=Mode.EXECUTE,
            session=Session(id=id, principal=principal),
            id=order["run"],
        )
        mode = Mode(order["mode"])
        with in_time(order["timeout"]):
            inner = Inner.of(self._board.run, outer)
            return await inner.call(spec, order["arguments"], key=order["key"], mode=mode, meta=order["meta"])
        return Result(failure=too_late(spec, child_mode(spec, mode), order["timeout"]))

    async def _beat(self) -> None:
        while True:
            activity.heartbeat()
            await anyio.sleep(self._every)


def _absent(name: str, board: Tools) -> Result:
    near = nearest(name, map(str, board.catalog.tools))
    return Result.failed(
        FailureCode.UNKNOWN_TOOL,
        f"The worker's board has no tool {name!r}.",
        next_step=f"There is {' or '.join(near)}." if near else "Start workers with the config that has it.",
    )


def _data(result: Result, spec: ToolSpec | None) -> dict[str, Any]:
    failure = result.failure
    value = None if failure is not None else payload(result)
    size = len(json.dumps(value, default=str))
    if size > MOST_BYTES:
        value, failure = None, _too_large(spec, size)
    notes = list(result.report.notes) if result.report else []
    return {"value": value, "failure": None if failure is None else failure.to_json(), "notes": notes}


def _too_large(spec: ToolSpec | None, size: int) -> Failure:
    harmless = spec is None or spec.effects.repeatable
    return Failure(
        FailureCode.TOO_LARGE if harmless else FailureCode.OUTCOME_UNKNOWN,
        f"It ran, and answered {size} bytes; Temporal keeps at most {MOST_BYTES} of a step.",
        next_step="Have the tool answer less, or a handle; or keep the runs of this chain in the board's own store.",
    )
