"""`pegboard code run`: run code over the tools of the board, as a model's `run_code` would."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import anyio
from cyclopts import App, Parameter
from cyclopts.validators import Number

from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, document, foreign, say
from pegboard.cli.terminal import agreed, at_terminal
from pegboard.codemode import Limits, Outcome
from pegboard.codemode.stubs import Language
from pegboard.codemode.tool import NAME
from pegboard.core import Call, Session
from pegboard.errors import ConfigError

app: Any = App(name="code", help="Code that calls the tools of the board.")

_LANGUAGES = {".js": Language.JAVASCRIPT, ".mjs": Language.JAVASCRIPT, ".py": Language.PYTHON}


@app.command(name="run")
def run_code(
    file: Path,
    *,
    timeout_ms: Annotated[int | None, Parameter(validator=Number(gte=10))] = None,
    yes: Annotated[bool, Parameter(negative="")] = False,
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
    yes
        Say yes beforehand where a call of the code would wait for a person.
    """
    code, language = _read(file)
    outcome = anyio.run(_outcome, code, language, timeout_ms, yes, config)
    if json:
        document(outcome.to_json())
    else:
        _show(outcome)
    return Exit.OK if outcome.ok else Exit.FINDING


async def _outcome(code: str, language: Language, timeout_ms: int | None, yes: bool, config: Path) -> Outcome:
    async with opened(config, approvers=[agreed if yes else at_terminal]) as board:
        if not board.coding.listed:
            raise ConfigError(
                "There is no tool that code may call.",
                where=f"{config}: codemode.tools",
                next_step='Write for example:  [codemode]  tools = ["mcp:*"]',
            )
        limits: Limits = board.coding.limits
        limits = limits if timeout_ms is None else replace(limits, timeout_ms=timeout_ms)
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
    elif isinstance(value := outcome.value, str):
        foreign(value)
    else:
        document(value)
