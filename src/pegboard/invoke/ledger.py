"""What a session has spent on calls, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pegboard.core import Selection


@dataclass(slots=True)
class Tally:
    """The calls of one tool: how many were made, and how many of them failed so far."""

    made: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return f"{self.made} ({self.failed} failed)" if self.failed else str(self.made)


@dataclass(slots=True)
class Count:
    """Calls, counted.

    Parameters:
        made: all of them.
        effects: those that may have changed something.
        planned: dry runs, which do nothing.
        refused: those that a limit stopped.
        tools: the calls that were made, by the tool's full name.
    """

    made: int = 0
    effects: int = 0
    planned: int = 0
    refused: int = 0
    tools: dict[str, Tally] = field(default_factory=dict[str, Tally])

    def add(self, tool: str) -> Tally:
        """Count one more call, and return the tool's tally."""
        self.made += 1
        tally = self.tools.setdefault(tool, Tally())
        tally.made += 1
        return tally

    @property
    def told(self) -> str:
        """What was done, in words: `crm.get_user 40 (2 failed), crm.find 10`."""
        busiest = sorted(self.tools.items(), key=lambda item: (-item[1].made, item[0]))
        more = f" and {len(busiest) - _SHOWN} other tools" if len(busiest) > _SHOWN else ""
        return ", ".join(f"{name} {tally}" for name, tally in busiest[:_SHOWN]) + more

    def to_json(self) -> Mapping[str, Mapping[str, int]]:
        """What was done, as data."""
        return {name: {"made": tally.made, "failed": tally.failed} for name, tally in sorted(self.tools.items())}


@dataclass(slots=True)
class Ledger:
    """What one session has spent.

    Parameters:
        own: the calls that its model made.
        picked: how often tools ran that a selector of the budget picks, by the selector.
        inner: the inner calls of callers that this process cannot see running, by the id of their call.
    """

    own: Count = field(default_factory=Count)
    picked: dict[str, int] = field(default_factory=dict[str, int])
    inner: dict[str, Count] = field(default_factory=dict[str, Count])

    def inside(self, parent: str) -> Count:
        """The inner calls of one call."""
        if len(self.inner) >= _PARENTS and parent not in self.inner:
            del self.inner[next(iter(self.inner))]
        return self.inner.setdefault(parent, Count())


_SHOWN = 8
_PARENTS = 64


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a budget on the tools that a selector picks."""

    selector: str
    most: int
    picks: Selection
