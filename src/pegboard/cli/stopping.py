"""Running until somebody asks this process to stop."""

import signal
from collections.abc import Awaitable, Callable

import anyio


async def until_stopped(run: Callable[[], Awaitable[int | None]]) -> int:
    """Run until it ends or somebody asks this process to stop, and then clean up."""
    outcome = [0]
    async with anyio.create_task_group() as tasks:

        async def work() -> None:
            outcome[0] = await run() or 0
            tasks.cancel_scope.cancel()

        tasks.start_soon(work)
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                tasks.cancel_scope.cancel()
    return outcome[0]
