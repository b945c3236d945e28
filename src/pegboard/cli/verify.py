"""`pegboard insight verify`: did the change work, and where it did not, why."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.agent.score import Score, score
from pegboard.agent.suite import read_suite
from pegboard.board import Board
from pegboard.board.findings import Findings
from pegboard.board.passage import traces_of
from pegboard.board.verdicts import explained
from pegboard.cli.agent import read_runs
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, one_line, say, table
from pegboard.config import load
from pegboard.core import ToolName
from pegboard.errors import ConfigError
from pegboard.insight.offer import Offer
from pegboard.insight.trial import TRIAL
from pegboard.insight.verify import Side, Verification, Watch, verify
from pegboard.trace.record import Run
from pegboard.trace.store import RunFilter

Paths = Annotated[Sequence[Path], Parameter(consume_multiple=True)]


async def verify_finding(
    id: str,
    *,
    traces: Paths = (),
    before: Paths = (),
    tool: str | None = None,
    suite: Path | None = None,
    model: str | None = None,
    base_url: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    runs: Annotated[int, Parameter(validator=Number(gte=1))] = 1,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Compare runs before and after a change: do agents take the new tool in place of the old sequence?

    Parameters
    ----------
    id
        The finding that was applied.
    traces
        Runs after the change; by default those that the board has recorded since.
    before
        Runs before it; by default those that the finding was found in.
    tool
        The new tool, where it was not written by `insight apply`.
    suite
        Judge the runs after the change by a suite too.
    model
        Run the suite with a live model, at --base-url; its runs count as after the change.
    base_url
        An OpenAI-compatible endpoint.
    key_env
        The environment variable with its key, if it wants one.
    runs
        How many runs a task gets with a live model.
    """
    settings = load(config)
    findings = Findings(settings)
    found = findings.find(id)
    applied = found.applied or {}
    name = tool or applied.get("tool")
    since = float(applied.get("when", 0.0))
    if not name:
        raise ConfigError(
            f"{found.id} is not applied, so there is no new tool to look for.",
            where="insight verify",
            next_step=f"Apply it (pegboard insight apply {found.id} --write), or name the tool with --tool.",
        )
    async with opened(config) as board:
        spoken, graded = (), None
        if suite is not None and model:
            spoken, graded = await _live(board, suite, model, base_url, os.environ.get(key_env), runs)
        later = [*spoken, *(read_runs(traces) if traces else () if spoken else _own(board, since))]
        if suite is not None and graded is None:
            graded = score(read_suite(suite), later)
        earlier = read_runs(before) if before else _before(findings, found, since)
        target = board.resolve(name)
        watch = Watch(found.row, str(target) if isinstance(target, ToolName) else name, Offer(board.catalog.specs))
        answer = verify(watch, earlier, later, await explained(board, watch, later))
    if json:
        document({**answer.to_json(), "suite": graded.to_json() if graded else None})
    else:
        _show(answer, graded)
    return Exit.OK if answer.verdict == "works" and (graded is None or graded.passed) else Exit.FINDING


async def _live(
    board: Board, suite: Path, model: str, base_url: str | None, key: str | None, runs: int
) -> tuple[tuple[Run, ...], Score]:
    from pegboard.agent.openai import OpenAiModel
    from pegboard.board.rehearsal import rehearse_runs

    if not base_url:
        raise ConfigError("A live model needs an address.", where="--base-url", next_step="Write http://HOST:PORT/v1.")
    found = read_suite(suite)
    made = await rehearse_runs(board, found, OpenAiModel(model, base_url, key=key), agent=model, runs=runs)
    return made, score(found, made)


def _own(board: Board, since: float) -> Iterator[Run]:
    own = traces_of(board.config) if board.config is not None else None
    runs = iter(()) if own is None else own.scan(RunFilter(since=since))
    return (run for run in runs if not _rehearsed(run) and _started(run) >= since)


def _before(findings: Findings, found: Any, since: float) -> Iterator[Run]:
    """The runs that a finding was found in; of the board's own only those from before it was applied."""
    return (run for run in findings.runs_of(found) if found.sources or not since or _started(run) < since)


def _started(run: Run) -> float:
    return min((call.started for call in run.calls if call.started is not None), default=0.0)


def _rehearsed(run: Run) -> bool:
    return run.agent == TRIAL


def _show(answer: Verification, graded: Score | None) -> None:
    say(f"{answer.finding}: {answer.tool}. {_VERDICTS[answer.verdict]}")
    table(("", "before", "after"), _rows(answer.before, answer.after))
    if answer.kept:
        table(("run", "old way", "why"), [(kept.run, " > ".join(kept.tools), kept.reason) for kept in answer.kept[:20]])
        if len(answer.kept) > 20:
            say(f"... and {len(answer.kept) - 20} more; --json shows all.")
    if graded is not None:
        say(f"Suite {one_line(graded.suite)}: passed {graded.share}.")


_VERDICTS = {
    "unseen": "No run after the change had the choice yet.",
    "ignored": "No run took it.",
    "partly": "Some runs took it; that is not yet more than chance explains, or the old way still prevails.",
    "works": "Runs take it in place of the old sequence.",
}


def _rows(before: Side, after: Side) -> list[tuple[object, ...]]:
    return [
        ("runs", before.runs, after.runs),
        ("runs with the choice", before.chances, after.chances),
        ("took the new tool", before.taken, after.taken),
        ("ran the old sequence", before.kept, after.kept),
        ("calls a run", _mean(before.calls, before.chances), _mean(after.calls, after.chances)),
        ("turns a run", _mean(before.turns, before.chances), _mean(after.turns, after.chances)),
        ("new tool failed", f"{before.failed} of {before.made}", f"{after.failed} of {after.made}"),
    ]


def _mean(total: int, of: int) -> str:
    return f"{total / of:.1f}" if of else ""
