"""`pegboard runs`: what was called, run by run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from pegboard.board.passage import traces_of
from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, foreign, one_line, say, table
from pegboard.cli.when import clock_time, moment
from pegboard.config import load
from pegboard.errors import PegboardError, nearest
from pegboard.schema.types import canonical
from pegboard.trace.record import CallRecord, Run
from pegboard.trace.shape import BOARD_VERSION
from pegboard.trace.store import RunFilter, RunSummary, TraceStore
from pegboard.trace.tree import call_tree, span_of

runs = App(name="runs", help="Look at what was called.")
runs.command("pegboard.cli.tail:tail", name="tail")
runs.command("pegboard.cli.export_runs:export_runs", name="export")
CELL = 80


@runs.command(name="list")
def list_runs(
    *,
    agent: str | None = None,
    tool: str | None = None,
    failed: Annotated[bool, Parameter(negative="")] = False,
    since: str | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1))] = 50,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """List runs, the latest first.

    Parameters
    ----------
    agent
        Only runs of this agent; * stands for anything.
    tool
        Only runs that called this tool; * stands for anything.
    failed
        Only runs in which a call failed.
    since
        Only runs since then: 90m, 12h, 7d, or a date such as 2026-05-31.
    limit
        How many to show.
    """
    where = RunFilter(agent=agent, tool=tool, failed=True if failed else None, since=moment(since))
    found = traces_at(config).runs(where, limit=limit)
    if json:
        document({"runs": [asdict(run) for run in found]})
    else:
        table(("run", "when", "agent", "calls", "failed", "tools"), map(_row, found))
        if not found:
            say("No runs. Whatever is called through the board stands here.")
    return Exit.OK


@runs.command(name="show")
def show_run(run: str | None = None, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show the calls of one run.

    Parameters
    ----------
    run
        Its id, as `runs list` shows it; the latest one if left out.
    """
    traces = traces_at(config)
    latest = traces.runs(limit=1) if run is None else ()
    found = traces.run(run or (latest[0].id if latest else ""))
    if found is None:
        raise _unknown(traces, run)
    if json:
        document({**asdict(found), **span_of(found), "tree": call_tree(found)})
    else:
        _show(found)
    return Exit.OK


def traces_at(config: Path) -> TraceStore:
    """The traces of a board.

    Raises:
        PegboardError: it keeps none.
    """
    found = traces_of(load(config))
    if found is None:
        raise PegboardError("This board keeps no traces.", where="board.store", next_step="Give it a folder there.")
    return found


def _unknown(traces: TraceStore, run: str | None) -> PegboardError:
    if run is None:
        return PegboardError("There are no runs yet.", next_step="Call a tool through the board first.")
    near = nearest(run, [summary.id for summary in traces.runs()], limit=1)
    step = f"Did you mean {near[0]}?" if near else "See them with: pegboard runs list"
    return PegboardError(f"There is no run {run!r}.", next_step=step)


def _row(run: RunSummary) -> Sequence[object]:
    return (run.id, clock_time(run.started), run.agent, run.calls, run.failed or "", ", ".join(run.tools))


def _show(run: Run) -> None:
    held = sorted({str(call.meta[BOARD_VERSION]) for call in run.calls if BOARD_VERSION in call.meta})
    on = f" on board version {', '.join(held)}" if held else ""
    say(f"Run {run.id}" + (f" of {run.agent}" if run.agent else "") + on)
    ids = {call.id for call in run.calls}
    children: dict[str | None, list[CallRecord]] = {}
    for call in run.calls:
        children.setdefault(call.parent if call.parent in ids else None, []).append(call)
    _show_calls(None, children, 0)


def _show_calls(parent: str | None, children: Mapping[str | None, Sequence[CallRecord]], depth: int) -> None:
    """The calls as a tree: what a call has called itself stands below it."""
    for call in children.get(parent, ()):
        foreign("    " * depth + _line(call))
        foreign("    " * depth + f"  arguments {_cut(call.arguments)}")
        if call.ok:
            foreign("    " * depth + f"  result    {_cut(call.result)}")
        _show_calls(call.id, children, depth + 1)


def _line(call: CallRecord) -> str:
    outcome = "ok" if call.ok else f"{call.failure}: {one_line(call.error or '')}"
    approval: Mapping[str, Any] = call.meta.get("approval") or {}
    said = f"approved ({approval.get('choice')}, by {approval.get('by')})" if approval else ""
    took = "" if call.seconds is None else f"{call.seconds:.3f} s"
    parts = [clock_time(call.started), call.tool, took, outcome, said]
    return "  ".join(part for part in parts if part)


def _cut(value: Any) -> str:
    text = one_line(canonical(value))
    return text if len(text) <= CELL else text[: CELL - 1] + "…"
