"""Time in which a person is asked: whoever counts time around a call can leave it out."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from math import inf
from typing import TypeAlias

import anyio

from pegboard.approval.request import Request

Asking: TypeAlias = Callable[[Request], AbstractContextManager[None]]
"""Entered while a person is asked; given the question. What it is about does not run before it has been left."""

_asking: ContextVar[Asking] = ContextVar("pegboard_asking", default=lambda request: nullcontext())


@contextmanager
def pausing(asking: Asking) -> Generator[None]:
    """Have `asking` entered whenever a call in here waits for a person, inside of what others have entered then."""
    outer = _asking.get()

    @contextmanager
    def both(request: Request) -> Generator[None]:
        with outer(request), asking(request):
            yield

    token = _asking.set(both)
    try:
        yield
    finally:
        _asking.reset(token)


def waiting(request: Request) -> AbstractContextManager[None]:
    """To be entered while a person is asked."""
    return _asking.get()(request)


class Standing:
    """Lets the deadline of a scope stand still while a person is asked, until the last of such questions is over.

    Parameters:
        scope: the scope.
    """

    def __init__(self, scope: anyio.CancelScope) -> None:
        self._scope = scope
        self._asked, self._since, self._deadline = 0, 0.0, inf

    @contextmanager
    def asking(self, request: Request) -> Generator[None]:
        """A person is asked."""
        if not self._asked:
            self._since, self._deadline = anyio.current_time(), self._scope.deadline
            self._scope.deadline = inf
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            if not self._asked:
                self._scope.deadline = self._deadline + anyio.current_time() - self._since
