"""`pegboard runs tail`: calls as they happen, whoever makes them on this board."""

import json as jsonlib
from collections.abc import Callable, Iterator
from time import sleep, time
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import foreign, one_line, say
from pegboard.trace.plain import call_to_json
from pegboard.trace.record import CallRecord
from pegboard.trace.store import RunFilter, TraceStore

_BACK = 60.0
"""A call that began so many seconds before the last one was shown may still turn up."""


def follow(
    traces: TraceStore, *, since: float, where: RunFilter, pause: Callable[[], bool]
) -> Iterator[tuple[str, CallRecord]]:
    """Calls as the store gets them, each once, with the run that each belongs to.

    Parameters:
        traces: the store.
        since: calls that started before this Unix time are left out.
        where: which runs count; its own `since` is not looked at.
        pause: waits a moment; False ends the following.
    """
    shown: dict[tuple[str, str], float] = {}
    begin = since
    while True:
        wanted = RunFilter(agent=where.agent, tool=where.tool, failed=where.failed, since=begin - _BACK)
        for run in traces.scan(wanted):
            for call in run.calls:
                started = call.started or 0.0
                if started >= since and (run.id, call.id) not in shown:
                    shown[run.id, call.id] = started
                    yield run.id, call
        begin = max(shown.values(), default=begin)
        shown = {key: started for key, started in shown.items() if started >= begin - 2 * _BACK}
        since = max(since, begin - 2 * _BACK)
        if not pause():
            return


def tail(
    *,
    agent: str | None = None,
    tool: str | None = None,
    last: Annotated[float, Parameter(validator=Number(gte=0))] = 0.0,
    every: Annotated[float, Parameter(validator=Number(gt=0))] = 0.5,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Show calls as they happen, until interrupted.

    Parameters
    ----------
    agent
        Only runs of this agent; * stands for anything.
    tool
        Only runs that call this tool; * stands for anything.
    last
        Begin with the calls of so many seconds before now.
    every
        Look for new calls every so many seconds.
    json
        Print one JSON line a call.
    """
    from pegboard.cli.runs import traces_at

    def wait() -> bool:
        sleep(every)
        return True

    if not json:
        say("Waiting for calls; end with Ctrl-C.")
    where = RunFilter(agent=agent, tool=tool)
    for run, call in follow(traces_at(config), since=time() - last, where=where, pause=wait):
        foreign(jsonlib.dumps({"run": run, **call_to_json(call)}, default=str) if json else _line(run, call))
    return Exit.OK


def _line(run: str, call: CallRecord) -> str:
    outcome = "ok" if call.ok else f"{call.failure}: {one_line(call.error or '')}"
    seconds = "" if call.seconds is None else f"  {call.seconds:.3f} s"
    return f"{run}  {call.tool}{seconds}  {outcome}"
