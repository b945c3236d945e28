"""What use teaches: the tools that the runs of a board's agents call most, and how well."""

from collections import Counter
from collections.abc import Mapping

from pegboard.core import FailureCode, ToolName
from pegboard.index import Use
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


_ITS_OWN = frozenset((FailureCode.FAILED, FailureCode.UPSTREAM, FailureCode.TIMEOUT, FailureCode.UNAVAILABLE))
"""Failures that tell of the tool; a refusal or wrong arguments tell of others."""


def uses(store: TraceStore) -> Mapping[ToolName, Use]:
    """How the latest runs used each tool that at least `LEAST` of them called, for `ToolIndex.weigh`. Blocks.

    Calls that a tool made by itself count for neither.

    Raises:
        StoreError: the traces cannot be read.
    """
    runs, calls, failed = Counter[str](), Counter[str](), Counter[str]()
    for summary in store.runs(limit=RUNS):
        run = store.run(summary.id) if summary.agent != _BY_HAND else None
        outer = [call for call in run.calls if call.parent is None] if run is not None else []
        runs.update({call.tool for call in outer})
        calls.update(call.tool for call in outer)
        failed.update(call.tool for call in outer if call.ok is False and call.failure in _ITS_OWN)
    return {
        ToolName.parse(tool): Use(count, calls[tool], failed[tool])
        for tool, count in sorted(runs.items())
        if count >= LEAST
    }
