"""The hot set that use teaches: the tools that the runs of a board's agents call most."""

from collections import Counter

from pegboard.trace.store import TraceStore

RUNS = 200
"""So many runs are looked at, the latest ones: what was used last year says little."""
LEAST = 3
"""A tool that fewer runs used than these may be chance."""
_BY_HAND = "cli"
"""The agent's name of calls that a person makes."""


def most_used(store: TraceStore, most: int) -> tuple[str, ...]:
    """The full names of the tools that most runs called, the most used first; ties by name.

    It counts runs and not calls: one agent in a loop says no more than one that needed the tool once. Blocks.

    Parameters:
        store: the traces.
        most: how many names.

    Raises:
        StoreError: the traces cannot be read.
    """
    runs = Counter(tool for run in store.runs(limit=RUNS) if run.agent != _BY_HAND for tool in dict.fromkeys(run.tools))
    used = sorted((tool for tool, count in runs.items() if count >= LEAST), key=lambda tool: (-runs[tool], tool))
    return tuple(used[:most])
