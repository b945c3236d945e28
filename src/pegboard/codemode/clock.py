"""The time of a run: it stands still while a person is asked for a yes."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Clock:
    """Counts down the time of one run.

    Parameters:
        seconds: how long it may take.
        now: gives the time in seconds; it never goes back.
    """

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._seconds = now, seconds
        self._start = now()
        self._paused = 0.0
        self._asking, self._since = 0, 0.0

    def start(self) -> None:
        """Begin to count now: what came before, waiting for room, costs nothing."""
        self._start, self._paused = self._now(), 0.0

    @property
    def spent(self) -> float:
        """Seconds that have counted so far."""
        end = self._since if self._asking else self._now()
        return end - self._start - self._paused

    @property
    def left(self) -> float:
        """Seconds that are left; 0 or less when the time is over."""
        return self._seconds - self.spent

    @contextmanager
    def asking(self) -> Generator[None]:
        """A person is asked; the time does not count until the last of such questions is over."""
        if not self._asking:
            self._since = self._now()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._paused += self._now() - self._since
