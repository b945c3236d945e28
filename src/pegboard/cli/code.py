"""`pegboard code run`: run code over the tools of the board, as a model's `run_code` would."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import anyio
from cyclopts import App, Parameter
from cyclopts.validators import Number

from pegboard.board import Board
from pegboard.cli.arguments import read_value
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, document, foreign, one_line, say, table
from pegboard.cli.terminal import agreed, at_terminal
from pegboard.codemode import Limits, Outcome
from pegboard.codemode.fault import unknown_run
from pegboard.codemode.record import CodeRun, CodeStatus
from pegboard.codemode.runs import CodeRuns
from pegboard.codemode.stubs import Language
from pegboard.codemode.tool import NAME
from pegboard.core import Call, Session
from pegboard.errors import ConfigError
from pegboard.schema.types import Json

app: Any = App(name="code", help="Run code that calls the tools of the board, go on with its runs, look at them.")

Yes = Annotated[bool, Parameter(negative="", help="Say yes beforehand where a call would wait for a person.")]
_LANGUAGES = {".js": Language.JAVASCRIPT, ".mjs": Language.JAVASCRIPT, ".py": Language.PYTHON}


@app.command(name="run")
def run_code(
    file: Path,
    *,
    timeout_ms: Annotated[int | None, Parameter(validator=Number(gte=10))] = None,
    yes: Yes = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Run a file of JavaScript or Python over the board's tools that [codemode] lets code call.

    Parameters
    ----------
    file
        The code: .js (the body of an async function with `tools`) or .py (the last expression is its value).
    timeout_ms
        Stop it after so many milliseconds, instead of the config's timeout_ms.
    """
    code, language = _read(file)
    return _end(anyio.run(_outcome, code, language, timeout_ms, yes, config), json)


@app.command
def resume(
    run: str,
    *,
    redo: int | None = None,
    skip: int | None = None,
    output: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    timeout_ms: Annotated[int | None, Parameter(validator=Number(gte=10))] = None,
    yes: Yes = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Go on with a run that waits for a yes, or that was cut off: what it called before is not called again.

    Parameters
    ----------
    run
        The run's id, or its beginning.
    redo
        Make this call again, by its number, of which nobody knows whether it took effect.
    skip
        Do not make this call; --output says what it came to.
    output
        What a skipped call came to, as JSON; null if left out.
    timeout_ms
        Stop it after so many milliseconds, instead of the config's timeout_ms.
    """
    if output is not None and skip is None:
        raise ConfigError("--output says what a skipped call came to.", next_step="Add --skip NUMBER.")
    return _end(anyio.run(_resumed, run, redo, skip, read_value(output), timeout_ms, yes, config), json)


@app.command(name="list")
async def list_runs(
    *,
    status: CodeStatus | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1))] = 50,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """List the runs of code that are kept, the latest first: those that wait, and those that may have changed things.

    Parameters
    ----------
    status
        Only those that are so.
    limit
        At most so many.
    """
    async with opened(config) as board:
        runs = await board.coding.runs.runs(status=status, limit=limit) if board.coding.runs else []
    if json:
        document({"runs": [run.to_json() for run in runs]})
    else:
        table(["run", "status", "language", "code"], [_row(run) for run in runs])
    return Exit.OK


@app.command
async def show(run: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show a run of code: its calls, how far each has come, and what it waits for.

    Parameters
    ----------
    run
        The run's id, or its beginning.
    """
    async with opened(config) as board:
        found = await _runs(board, run).show(run)
    if json:
        document(found.to_json())
        return Exit.OK
    say(f"{found.id}: {found.status}, {found.language}, for {found.principal}")
    rows = [[str(each.number), each.name, each.status.value, each.request or ""] for each in found.entries.values()]
    table(["call", "tool", "status", "request"], rows)
    if found.failure is not None:
        say(clean(str(found.failure.get("message", ""))))
        say(clean(str(found.failure.get("next_step") or "")))
    return Exit.OK


@app.command
async def cancel(run: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """End a run of code for good; a process that has it under way stops it within seconds.

    Parameters
    ----------
    run
        The run's id, or its beginning.
    """
    async with opened(config) as board:
        cancelled = await _runs(board, run).cancel(run)
    if json:
        document(cancelled.to_json())
    else:
        say(f"Cancelled {cancelled.id}.")
    return Exit.OK


def _runs(board: Board, run: str) -> CodeRuns:
    if board.coding.runs is None:
        raise unknown_run(run, ())
    return board.coding.runs


def _row(run: CodeRun) -> list[str]:
    return [run.id, run.status.value, run.language, one_line(run.code)[:60]]


def _end(outcome: Outcome, json: bool) -> int:
    if json:
        document(outcome.to_json())
    else:
        _show(outcome)
    return Exit.OK if outcome.ok else Exit.FINDING


def _limits(board: Board, timeout_ms: int | None, config: Path) -> Limits:
    if not board.coding.listed:
        raise ConfigError(
            "There is no tool that code may call.",
            where=f"{config}: codemode.tools",
            next_step='Write for example:  [codemode]  tools = ["mcp:*"]',
        )
    limits: Limits = board.coding.limits
    return limits if timeout_ms is None else replace(limits, timeout_ms=timeout_ms)


async def _resumed(
    run: str, redo: int | None, skip: int | None, output: Json, timeout_ms: int | None, yes: bool, config: Path
) -> Outcome:
    async with opened(config, approvers=[agreed if yes else at_terminal]) as board:
        limits = _limits(board, timeout_ms, config)
        return await board.coding.resume(run, limits, redo=redo, skip=skip, output=output)


async def _outcome(code: str, language: Language, timeout_ms: int | None, yes: bool, config: Path) -> Outcome:
    async with opened(config, approvers=[agreed if yes else at_terminal]) as board:
        limits = _limits(board, timeout_ms, config)
        call = Call(
            tool=NAME,
            arguments={"code": code, "language": language.value},
            session=Session(f"cli-{uuid4().hex[:12]}", agent="cli"),
            id=uuid4().hex[:12],
        )
        return await board.coding.run(code, language, call, limits)


def _read(file: Path) -> tuple[str, Language]:
    language = _LANGUAGES.get(file.suffix)
    if language is None:
        raise ConfigError(
            f"{file.name} is neither JavaScript nor Python by its name.", next_step="Name it FILE.js or FILE.py."
        )
    try:
        return file.read_text(encoding="utf-8"), language
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"{file} cannot be read: {problem}.", next_step="Give the path of a file of code."
        ) from problem


def _show(outcome: Outcome) -> None:
    if outcome.logs:
        say(clean(outcome.logs))
    if outcome.error is not None:
        place = f" (line {outcome.error.line})" if outcome.error.line else ""
        name = f"{outcome.error.name}: " if outcome.error.name else ""
        say(f"pegboard: {outcome.error.stop}{place}: {clean(name + outcome.error.message)}")
        if outcome.error.next_step:
            say(clean(outcome.error.next_step))
    elif isinstance(value := outcome.value, str):
        foreign(value)
    else:
        document(value)
