"""Code that stands still at its calls: they run side by side, and it gets their answers one after the other.

Given several answers at once, the interpreter chooses which of them goes on first, and a replay would not give it the
same ones together. So each is handed over alone, in the order in which the journal told them.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup

Answer = Callable[[Any], Awaitable[dict[str, Any]]]
"""What a call of the code comes to, as monty takes it."""


class Turns:
    """One feed of code.

    Parameters:
        answer: answers a call that the board knows, or a sleep.
        ours: whether a call is such a one; all else monty answers.
        tasks: runs the calls.
        at_once: whether every call is answered with its value, since the code awaits nothing.
    """

    def __init__(self, answer: Answer, ours: Callable[[Any], bool], tasks: TaskGroup, *, at_once: bool) -> None:
        self._answer, self._ours, self._tasks, self._at_once = answer, ours, tasks, at_once
        self._told: deque[tuple[int, dict[str, Any]]] = deque()
        self._news = anyio.Event()

    async def output(self, step: Any) -> Any:
        """Go on from the first step to the end; the value of the code's last expression."""
        from pydantic_monty import MontyComplete

        while not isinstance(step, MontyComplete):
            step = await self._next(step)
        return step.output

    async def _next(self, step: Any) -> Any:
        from pydantic_monty import AsyncFunctionSnapshot, AsyncFutureSnapshot

        if isinstance(step, AsyncFutureSnapshot):
            return await step.resume(await self._first(step.pending_call_ids))
        if not isinstance(step, AsyncFunctionSnapshot) or not self._ours(step):
            return await step.resume_auto()
        if self._at_once or step.function_name == "time.sleep":
            return await step.resume(await self._answer(step))  # pyright: ignore[reportArgumentType]
        if step.allow_eager_await and not step.is_os_function:
            return await step.resume_auto()  # nothing else runs: it saves a step
        self._tasks.start_soon(self._call, step)
        return await step.resume({"future": ...})

    async def _call(self, step: Any) -> None:
        self._told.append((step.call_id, await self._answer(step)))
        self._news.set()

    async def _first(self, pending: list[int]) -> dict[int, Any]:
        """The answer that came first, of those that the code still waits for."""
        while True:
            while self._told:
                number, answer = self._told.popleft()
                if number in pending:
                    return {number: answer}
            self._news = anyio.Event()
            await self._news.wait()
