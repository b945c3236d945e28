"""`pegboard chain`: run a chain, go on with its runs, and look at them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from cyclopts import App, Parameter
from cyclopts.validators import Number

from pegboard.board import Board
from pegboard.catalog import Unknown
from pegboard.chain import ChainRun, RunStatus
from pegboard.cli import shapes
from pegboard.cli.arguments import read_arguments, read_value
from pegboard.cli.errors import for_shell
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, document, foreign, one_line, say, table
from pegboard.cli.stopping import until_stopped
from pegboard.cli.terminal import agreed, at_terminal
from pegboard.core import Mode, Result, Session
from pegboard.errors import ConfigError, nearest
from pegboard.schema.types import Json, as_object, canonical

app: Any = App(name="chain", help="Run a chain, resume, fork, cancel its runs, and look at them; take over flows.")
app.command("pegboard.cli.chain_flows:import_", name="import")
app.command("pegboard.cli.chain_flows:export", name="export")
CELL = 80
Yes = Annotated[bool, Parameter(negative="", help="Say yes beforehand where a step would wait for a person.")]


@app.command
async def run(
    name: str,
    *,
    args: Annotated[str, Parameter(allow_leading_hyphen=True)] = "{}",
    mode: Mode | None = None,
    yes: Yes = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Run a chain from its first step.

    Parameters
    ----------
    name
        The chain's name, or NAME@VERSION for one that was published.
    args
        Its arguments: a JSON object, @FILE with one, or - to read one from standard input.
    mode
        Run it without effect: preview or dry_run. Nothing is kept then.
    """
    arguments = read_arguments(args)
    async with _board(config, yes, issued=[f"chain/{name}"] if "@" in name else ()) as board:
        target = _chain(board, name)
        session = Session(f"cli-{uuid4().hex[:12]}", agent="cli")
        result = await board.call(
            target, arguments, mode=mode or Mode.EXECUTE, session=session, progress=None if json else _progress
        )
    return _end(result, json)


@app.command
async def resume(
    run: str | None = None,
    *,
    redo: str | None = None,
    skip: str | None = None,
    output: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    all: Annotated[bool, Parameter(negative="")] = False,
    yes: Yes = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Go on with a run that was interrupted, failed, or waits: steps that are over do not run again.

    Parameters
    ----------
    run
        The run's id, or its beginning.
    redo
        Run this step again, of which nobody knows whether it took effect.
    skip
        Do not run this step; --output says what it came to.
    output
        What a skipped step came to, as JSON; null if left out.
    all
        Every run whose process has died, in place of one.
    """
    _check_resume(run, skip, output, all=all)
    value = read_value(output)
    progress = None if json else _progress
    async with _board(config, yes) as board:
        if run is None:
            return _end_all(await board.chains.adopt(progress=progress), json)
        result = await board.chains.resume(run, redo=redo, skip=skip, output=value, progress=progress)
    return _end(result, json)


@app.command
async def worker(*, config: ConfigFile = DEFAULT_CONFIG) -> int:
    """Run the steps of chains that a Temporal server gives out, until it is stopped ([chains] runner = "temporal")."""
    async with _board(config, False) as board:
        say("A worker for the steps of chains; it is stopped with Ctrl-C.")
        return await until_stopped(board.work)


@app.command
async def fork(
    run: str, step: str, *, yes: Yes = False, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False
) -> int:
    """Begin a new run with the results that another one has before a step, and run from that step on.

    Parameters
    ----------
    run
        The run's id, or its beginning.
    step
        The first step to run.
    """
    async with _board(config, yes) as board:
        result = await board.chains.fork(run, step, progress=None if json else _progress)
    return _end(result, json)


@app.command
async def cancel(run: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """End a run for good; another process that has it under way stops within seconds.

    Parameters
    ----------
    run
        The run's id, or its beginning.
    """
    async with opened(config) as board:
        cancelled = await board.chains.cancel(run)
    if json:
        document(cancelled.to_json())
    else:
        say(f"Cancelled {cancelled.id} of {cancelled.chain}.")
        for step in cancelled.in_flight:
            say(f"{step} was under way: it may have taken effect.")
    return Exit.OK


@app.command(name="list")
async def list_runs(
    *,
    status: RunStatus | None = None,
    chain: str | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1))] = 50,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """List the runs of chains, the latest first.

    Parameters
    ----------
    status
        Only runs that are so.
    chain
        Only runs of this chain, by its full name.
    limit
        How many to show.
    """
    async with opened(config) as board:
        found = await board.chains.runs(status=status, chain=chain, limit=limit)
    if json:
        rows = [{key: value for key, value in each.to_json().items() if key != "steps"} for each in found]
        document({"runs": rows})
    else:
        table(("run", "when", "chain", "status", "input"), map(_row, found))
        if not found:
            say("No runs of chains." if status or chain else "No runs of chains yet: pegboard chain run NAME.")
    return Exit.OK


@app.command
async def show(run: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show how far the steps of a run have come.

    Parameters
    ----------
    run
        The run's id, or its beginning.
    """
    async with opened(config) as board:
        found = await board.chains.show(run)
    if json:
        document({**found.to_json(), "definition": dict(found.definition)})
    else:
        _show(found)
    return Exit.OK


@asynccontextmanager
async def _board(config: Path, yes: bool, *, issued: Sequence[str] = ()) -> AsyncGenerator[Board]:
    async with opened(config, approvers=[agreed if yes else at_terminal], issued=issued) as board:
        board.desk.wait = 0  # whoever typed this reads the answer, and need not be waited for
        yield board


def _chain(board: Board, name: str) -> Any:
    target = board.resolve(name)
    chains = {str(spec.name): spec.name for spec in board.catalog.specs if spec.meta.get(_COMPOSITE) == "chain"}
    if not isinstance(target, Unknown) and str(target) in chains:
        return target
    what = "is no chain" if not isinstance(target, Unknown) else "is not on the board"
    near = nearest(name, chains) or list(chains)
    step = f"Chains are: {', '.join(near)}." if near else "Write one as [chain.NAME] in the config."
    aside = [warning for warning in board.warnings if warning.startswith(f"{name} ")]
    raise ConfigError(f"{name!r} {what}. {' '.join(aside)}".strip(), where="chain run", next_step=step)


_COMPOSITE = "pegboard/composite"


def _check_resume(run: str | None, skip: str | None, output: str | None, *, all: bool) -> None:
    if (run is None) != all:
        raise ConfigError("Which run?", where="chain resume", next_step="Name one, or say --all.")
    if output is not None and skip is None:
        raise ConfigError("--output belongs to --skip STEP.", where="chain resume", next_step="Name the step.")


async def _progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    say(f"step {message or progress}")


def _end(result: Result, json: bool) -> int:
    if result.failure:
        result = replace(result, failure=for_shell(result.failure))
    if json:
        document(shapes.result(result))
    else:
        _show_result(result)
    return Exit.OK if result.ok else Exit.FINDING


def _end_all(results: dict[str, Result], json: bool) -> int:
    if json:
        document({"runs": {id: shapes.result(result) for id, result in results.items()}})
    else:
        for id, result in results.items():
            say(f"{id}:")
            _show_result(result)
        say(f"{counted(len(results), 'run')} went on.")
    return Exit.OK if all(result.ok for result in results.values()) else Exit.FINDING


def _show_result(result: Result) -> None:
    for note in result.report.notes if result.report else ():
        say(clean(note))
    if result.failure:
        say(f"pegboard: {clean(result.failure)}")
    elif isinstance(result.value, str):
        foreign(result.value)
    elif result.value is not None:
        document(result.value)


def _row(run: ChainRun) -> Sequence[object]:
    return (run.id, _time(run.created), run.chain, run.status, _cut(run.input))


def _show(run: ChainRun) -> None:
    of = f"{run.chain} (version {run.version})" if run.version else run.chain
    say(f"Run {run.id} of {of}: {run.status}" + (f", held by {run.owner}" if run.owner else ""))
    if run.forked_from:
        say(f"Forked from {run.forked_from} at {run.forked_at}.")
    names = [str(as_object(row).get("id") or "") for row in run.definition.get("steps", ())]
    waiting = [(name, "", "not reached", "", "") for name in names if name and name not in run.steps]
    rows = [(p.step, p.tool, p.status, p.attempts, _cut(_outcome(p.value, p.failure))) for p in run.steps.values()]
    table(("step", "tool", "", "attempts", "result"), [*rows, *waiting])
    if run.failure:
        told = (f"{run.failure.get('code')}:", run.failure.get("message"), run.failure.get("next_step"))
        say(" ".join(clean(part) for part in told if part))


def _outcome(value: Json, failure: Json) -> Json:
    return failure.get("message") if failure else value


def _cut(value: Json) -> str:
    text = one_line(value if isinstance(value, str) else canonical(value))
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
