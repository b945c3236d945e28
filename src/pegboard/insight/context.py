"""Values that belong into the context: fetched in run after run, and handed to tool after tool."""

from collections.abc import Iterator

from pegboard.insight.finding import Finding, Kind, lower_bound, percent, supported
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.traffic import Traffic
from pegboard.insight.wiring import Flows


def context(flows: Flows, traffic: Traffic, runs: int, limits: Thresholds) -> Iterator[Finding]:
    """Tools whose one value goes to many others under one name: a token, an account, a session.

    Parameters:
        flows: how values flow.
        traffic: all calls.
        runs: how many runs there were.
        limits: what counts.
    """
    takers: dict[tuple[str, str], dict[str, Support]] = {}
    for (giver, taker, path), support in flows.support.items():
        if giver != taker:
            takers.setdefault((giver, path), {})[taker] = support
    for (giver, path), supports in sorted(takers.items()):
        found = traffic.tools[giver]
        often = found.support.runs >= limits.context_runs * runs
        if len(supports) < limits.context_takers or not often or found.support.tasks < limits.tasks:
            continue
        total = Support()
        for taker in sorted(supports):
            total.merge(supports[taker])
        used = min(total.runs, found.support.runs)
        if used < limits.fed * found.support.runs or flows.variety(giver, path) > limits.context_values:
            continue
        yield Finding(
            kind=Kind.CONTEXT,
            tools=(giver, *sorted(supports)),
            reason=(
                f"{giver} is called in {found.support.runs} of {runs} runs ({percent(found.support.runs, runs)}), and "
                f"its value goes into {path} of {len(supports)} tools: let the board fetch it and fill {path} itself."
            ),
            confidence=lower_bound(used, found.support.runs),
            details={"subject": f"{giver} for {path}", "argument": path, "takers": len(supports)},
            **supported(found.support),
        )
