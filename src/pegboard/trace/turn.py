"""Which calls belong to one message of the model, as far as times tell: calls that overlap were made together."""

from collections import OrderedDict
from dataclasses import dataclass

_RUNS = 10_000


@dataclass(slots=True)
class _Open:
    turn: int = -1
    calls: int = 0
    group: str | None = None


class Turns:
    """Counts turns for each run. A top-level call that starts while none is open begins a new one.

    It belongs to one event loop; nothing in it waits, so no lock is needed.
    """

    def __init__(self) -> None:
        self._runs: OrderedDict[str, _Open] = OrderedDict()

    def begin(self, run: str, group: str | None = None) -> int:
        """The turn of a call that starts now.

        Parameters:
            run: the run.
            group: the caller's own name for the calls of one message, which then decides alone.
        """
        state = self._runs.get(run)
        if state is None:
            state = self._runs[run] = _Open()
            if len(self._runs) > _RUNS:
                self._runs.popitem(last=False)
        together = group == state.group if group is not None else state.calls > 0
        if not together:
            state.turn += 1
        state.group = group
        state.calls += 1
        return state.turn

    def end(self, run: str) -> None:
        """A call that began has ended."""
        state = self._runs.get(run)
        if state is not None and state.calls > 0:
            state.calls -= 1
