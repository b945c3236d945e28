"""The command line as a whole: reads the arguments, runs the verb, and turns what went wrong into an exit code."""

import inspect
import os
import sys
from collections.abc import Sequence
from typing import Any

from pegboard.cli import overview
from pegboard.cli.exit import Exit
from pegboard.cli.verbs import VERBS


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Returns:
        The exit code.
    """
    text = overview.shortcut(arguments)
    if text is not None:
        sys.stdout.write(text + "\n")
        return Exit.OK
    try:
        return _run([*arguments[1:], "--help"] if arguments[0] == "help" else list(arguments))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # whoever read our output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK


def build() -> Any:
    """The parser, with every verb behind its import path."""
    from importlib.metadata import version

    from cyclopts import App

    app: Any = App(name="pegboard", help="One tool board for LLM agents.", version=version("pegboard"))
    for verb in VERBS:
        app.command(verb.home, name=verb.name, help=verb.summary)
    app.register_install_completion_command(add_to_startup=False)
    return app


def _run(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    from pegboard.cli.errors import cause, report, report_usage

    as_json = "--json" in arguments
    try:
        command, bound, _ = build().parse_args(_stdin_as_word(arguments), exit_on_error=False, print_error=False)
        return _finish(command(*bound.args, **bound.kwargs))
    except CycloptsError as problem:
        problem.verbose = False
        return report_usage(str(problem), as_json=as_json)
    except Exception as problem:
        known = cause(problem)
        if known is None:
            raise
        return report(known, as_json=as_json)


def _stdin_as_word(arguments: list[str]) -> list[str]:
    """A lone `-` is a word and no option, also where a command takes any number of words."""
    if arguments[:1] not in (["check"], ["probe"]) or "-" not in arguments or "--" in arguments:
        return arguments
    return [*(argument for argument in arguments if argument != "-"), "--", "-"]


def _finish(outcome: Any) -> int:
    if inspect.isawaitable(outcome):
        import anyio

        outcome = anyio.run(_wait, outcome)
    return outcome if isinstance(outcome, int) else Exit.OK


async def _wait(outcome: Any) -> Any:
    return await outcome
