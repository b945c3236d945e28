"""How many calls of a tool, or of a source, run at once."""

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar

import anyio

from pegboard.core import Call, FailureCode, Handler, Middleware, Result, ToolSpec
from pegboard.invoke.lookup import SpecOf

_held: ContextVar[frozenset[str]] = ContextVar("pegboard_slots", default=frozenset())


def concurrency(
    spec_of: SpecOf, slots_of: Callable[[ToolSpec], Iterable[tuple[str, int]]], *, patience: float = 60.0
) -> Middleware:
    """Let only so many calls run at once; the others wait their turn.

    A call inside of another one (of a bundle, a batch) does not wait for a slot that the outer one holds.

    Parameters:
        spec_of: the tools.
        slots_of: for a tool, the slots that its calls need, each a key and how many calls may hold it at once, always
            in the same order, such as `[("tool:git.diff", 2), ("source:git", 4)]`.
        patience: how many seconds a call waits at most; then it fails with `unavailable`, and nothing was done.
    """
    semaphores: dict[str, anyio.Semaphore] = {}

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool)
            held = _held.get()
            slots = {} if spec is None else {key: most for key, most in slots_of(spec) if key not in held}
            if not slots:
                return await next_handler(call)
            wanted = [
                semaphores.get(key) or semaphores.setdefault(key, _semaphore(most)) for key, most in slots.items()
            ]
            taken: list[anyio.Semaphore] = []
            try:
                if not await _take(wanted, taken, patience):
                    return _busy(call, patience)
                token = _held.set(held | slots.keys())
                try:
                    return await next_handler(call)
                finally:
                    _held.reset(token)
            finally:
                for semaphore in taken:
                    semaphore.release()

        return handle

    return wrap


def _semaphore(most: int) -> anyio.Semaphore:
    return anyio.Semaphore(most, fast_acquire=True)


async def _take(wanted: Sequence[anyio.Semaphore], taken: list[anyio.Semaphore], patience: float) -> bool:
    """Take each semaphore in turn; False where one was not free in time. Without a wait it costs next to nothing."""
    try:
        for semaphore in wanted:
            semaphore.acquire_nowait()
            taken.append(semaphore)
        return True
    except anyio.WouldBlock:
        pass
    with anyio.move_on_after(patience):
        for semaphore in wanted[len(taken) :]:
            await semaphore.acquire()
            taken.append(semaphore)
        return True
    return False


def _busy(call: Call, patience: float) -> Result:
    return Result.failed(
        FailureCode.UNAVAILABLE,
        f"{call.tool} is busy with other calls: none of them ended within {patience:g} s. Nothing was done.",
        next_step="Call it again later.",
        retryable=True,
    )
