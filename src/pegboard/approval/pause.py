"""Time in which a person is asked: whoever counts time around a call can leave it out."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeAlias

Asking: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Entered while a person is asked."""

_asking: ContextVar[Asking] = ContextVar("pegboard_asking", default=nullcontext)


@contextmanager
def pausing(asking: Asking) -> Generator[None]:
    """Have `asking` entered whenever a call in here waits for a person."""
    token = _asking.set(asking)
    try:
        yield
    finally:
        _asking.reset(token)


def waiting() -> AbstractContextManager[None]:
    """To be entered while a person is asked."""
    return _asking.get()()
