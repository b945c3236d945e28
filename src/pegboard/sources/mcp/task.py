"""Tools that run as tasks (MCP 2025-11-25, tasks), called as any other: the task's states become progress.

A server says by `execution.taskSupport = "required"` that a tool can be called in no other way.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import anyio

from pegboard.core import Progress, ToolSpec
from pegboard.schema.types import JsonObject, as_object
from pegboard.wire.client import Link, WireError

_EVERY = 1.0
"""Seconds between two looks at a task, where its server does not say."""
_FAREWELL = 5.0
"""Seconds for telling the server that the task is not wanted any more."""
_KEPT = 3_600_000
"""Milliseconds for which the server is asked to keep the task where a call has no limit of its own."""
_ENDED = ("completed", "failed", "cancelled")


def is_task(spec: ToolSpec) -> bool:
    """Whether a tool can be called as a task only."""
    return as_object(spec.meta.get("execution")).get("taskSupport") == "required"


async def run_task(
    link: Link,
    params: Mapping[str, Any],
    *,
    timeout: float | None,
    on_progress: Progress | None,
    headers: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Call a tool as a task and wait for its result. Cancelling the waiting task cancels the server's.

    Parameters:
        link: the connection; of the handshake family.
        params: the params of `tools/call`.
        timeout: seconds for the whole.
        on_progress: hears the task's states.
        headers: more HTTP headers.

    Raises: what `Link.request` raises.
    """
    kept = _KEPT if timeout is None else int(timeout * 1000) + 60_000
    sent = {**params, "task": {"ttl": kept}}
    created = await link.request("tools/call", sent, timeout=timeout, on_progress=on_progress, headers=headers)
    task = as_object(created.get("task"))
    if not isinstance(task.get("taskId"), str):
        return created  # it ran as an ordinary call
    one = {"taskId": task["taskId"]}
    result, lost = dict[str, Any](), None
    try:
        async with anyio.create_task_group() as beside:
            if on_progress is not None:
                beside.start_soon(_follow, link, task, on_progress)
            try:
                # What the server asks while the task runs comes on the way of this request.
                result = await link.request("tasks/result", one, timeout=timeout)
            except WireError as error:  # bare, which the group would wrap into a group
                lost = error
            beside.cancel_scope.cancel()
    except anyio.get_cancelled_exc_class():
        await _cancel(link, one)
        raise
    if lost is not None:
        await _cancel(link, one)
        raise lost
    return result


async def _follow(link: Link, task: JsonObject, on_progress: Progress) -> None:
    """Tell each new state of a task."""
    told, steps = None, 0
    while task.get("status") not in _ENDED:
        words = str(task.get("statusMessage") or task.get("status") or "working")
        if words != told:
            told, steps = words, steps + 1
            await on_progress(steps, None, words)
        pause = task.get("pollInterval")
        await anyio.sleep(max(0.05, pause / 1000) if isinstance(pause, int | float) else _EVERY)
        try:
            task = await link.request("tasks/get", {"taskId": task["taskId"]}, timeout=10)
        except WireError:
            return


async def _cancel(link: Link, one: JsonObject) -> None:
    """Tell the server that nobody waits for a task any more, where it still listens."""
    with anyio.move_on_after(_FAREWELL, shield=True), suppress(WireError):
        await link.request("tasks/cancel", one, timeout=_FAREWELL)
