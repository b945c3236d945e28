"""`pegboard improve`: the whole procedure, step by step."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import anyio
from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.board.findings import Findings
from pegboard.board.passage import traces_of
from pegboard.board.procedure import Ground, Stage, procedure
from pegboard.cli.exit import Exit
from pegboard.cli.findings import apply
from pegboard.cli.mined import keep, mined
from pegboard.cli.open import connected
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import data, document, guarded, one_line, say
from pegboard.config import Config, load
from pegboard.core import ToolSpec
from pegboard.insight.evidence import Evidence
from pegboard.insight.mine import Mined
from pegboard.insight.offer import Offer
from pegboard.insight.summary import Summary, summarise
from pegboard.insight.trial import TRIAL
from pegboard.insight.verify import Watch, verify
from pegboard.trace.store import RunFilter


def improve(
    *sources: Path,
    jobs: Annotated[int, Parameter(validator=Number(gte=1))] = 1,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Walk the whole procedure on a board and its traces: eight steps, what each found, and what it proposes.

    In a terminal it asks before it writes anything; without one it only tells.

    Parameters
    ----------
    sources
        Trace files or folders; without any, the board's own traces.
    jobs
        Work in so many processes.
    """
    with guarded():
        settings = load(config)
        specs, searchable = anyio.run(_board, config)
        summary = summarise(_mined(sources, settings, config, jobs), Offer(specs))
        keep(summary, sources, config)
        stages = procedure(_ground(settings, specs, summary, searchable))
        if json:
            document({"steps": [stage.to_json() for stage in stages], "runs": summary.runs, "tools": len(specs)})
        else:
            for stage in stages:
                _show(stage)
                _ask(stage, config)
    return Exit.OK


async def _board(config: Path) -> tuple[tuple[ToolSpec, ...], bool]:
    async with connected(config) as board:
        return board.catalog.specs, bool(board.view().meta)


def _mined(sources: Sequence[Path], settings: Config, config: Path, jobs: int) -> Mined:
    """What the traces come to; of a board that has none yet, nothing."""
    if not sources and traces_of(settings) is None:
        return Mined(Evidence())
    return mined(sources, config, jobs=jobs)


def _ground(settings: Config, specs: tuple[ToolSpec, ...], summary: Summary, searchable: bool) -> Ground:
    kept = Findings(settings).all() if isinstance(settings.board.store, Path) else []
    applied = {each.id: each.applied for each in kept if each.applied}
    taken: dict[str, tuple[int, int]] = {}
    own = traces_of(settings)
    for each in kept:
        if each.applied and each.applied.get("tool") and own is not None:
            since = float(each.applied.get("when", 0))
            runs = (run for run in own.scan(RunFilter(since=since)) if run.agent != TRIAL)
            watch = Watch(each.row, str(each.applied["tool"]), Offer(specs))
            after = verify(watch, (), runs, lambda run, sequence: ("", "")).after
            taken[each.id] = after.new, after.old
    return Ground(specs=specs, summary=summary, searchable=searchable, applied=applied, taken=taken)


def _show(stage: Stage) -> None:
    data(f"{stage.number}. {stage.title}")
    for line in stage.found:
        data(f"   {one_line(line)}")
    for each in stage.proposed:
        data(f"   - {one_line(each.what)}")
        if each.command:
            data(f"     {each.command}")
    data("")


def _ask(stage: Stage, config: Path) -> None:
    """Offer to write what the step proposes, one by one; without a terminal nothing is asked, and nothing written."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    for each in stage.proposed:
        if each.finding and each.command and each.command.startswith("pegboard insight apply"):
            say(f"Apply {each.finding}? [y, p to look at it first, anything else for no]")
            answer = sys.stdin.readline().strip().lower()
            if answer == "p":
                apply(each.finding, config=config)
                say(f"Apply {each.finding}? [y]")
                answer = sys.stdin.readline().strip().lower()
            if answer == "y":
                apply(each.finding, write=True, config=config)
