"""How often each tool was called: what tells that nobody needs an old version any more."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pegboard.trace.record import Run


@dataclass(frozen=True, slots=True)
class Uses:
    """The calls of one tool.

    Parameters:
        calls: how many there were.
        failed: how many of them failed.
        agents: who called, in order of names.
        last: Unix time of the last one's start.
    """

    calls: int = 0
    failed: int = 0
    agents: tuple[str, ...] = ()
    last: float | None = None


def uses(runs: Iterable[Run], since: float | None = None) -> dict[str, Uses]:
    """The calls of each tool, by its full name.

    Parameters:
        runs: the runs.
        since: calls that started before this Unix time do not count.
    """
    found: dict[str, Uses] = {}
    for run in runs:
        for call in run.calls:
            if since is not None and (call.started or 0.0) < since:
                continue
            one = found.get(call.tool, Uses())
            agents = one.agents if run.agent is None else tuple(sorted({*one.agents, run.agent}))
            last = max(filter(None, (one.last, call.started)), default=None)
            failed = one.failed + (call.ok is False)
            found[call.tool] = replace(one, calls=one.calls + 1, failed=failed, agents=agents, last=last)
    return found
