"""From what went wrong to a message with a remedy and an exit code. A person's mistake never shows a traceback."""

from dataclasses import replace
from typing import cast

from pegboard.cli.exit import Exit
from pegboard.cli.output import document, say
from pegboard.config import InvalidConfigError
from pegboard.core import Failure, FailureCode
from pegboard.errors import ConfigError, DefinitionError, PegboardError
from pegboard.schema.types import JsonObject


def report(problem: PegboardError, *, as_json: bool) -> Exit:
    """Tell a problem, and how the command ends with it."""
    if as_json:
        document({"error": _plain(problem)})
    say(f"pegboard: {problem}")
    return Exit.USAGE if isinstance(problem, ConfigError | DefinitionError) else Exit.FINDING


def report_usage(message: str, *, as_json: bool) -> Exit:
    """Tell that the command line cannot be meant."""
    if as_json:
        document({"error": {"message": message, "where": "command line", "next_step": "See pegboard --help."}})
    say(f"pegboard: {message} See pegboard --help.")
    return Exit.USAGE


def cause(problem: BaseException) -> PegboardError | None:
    """The problem that a group of exceptions comes down to, where a person can do something about it."""
    if isinstance(problem, PegboardError):
        return problem
    if isinstance(problem, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", problem)
        causes = [cause(inner) for inner in group.exceptions]
        return causes[0] if all(causes) else None
    return None


def _plain(problem: PegboardError) -> JsonObject:
    plain = {"message": problem.message, "where": problem.where, "next_step": problem.next_step}
    code = getattr(problem, "code", None)
    if code is not None:
        plain = {"code": str(code), **plain}
    if isinstance(problem, InvalidConfigError):
        rows = [{"key": p.key, "message": p.message, "next_step": p.next_step} for p in problem.problems]
        return {**plain, "where": problem.file, "problems": rows}
    return plain


def for_shell(failure: Failure) -> Failure:
    """A failure whose next step is a command of the shell, where it names the tool that a model would use."""
    if failure.code is not FailureCode.UNKNOWN_TOOL or not failure.next_step:
        return failure
    return replace(failure, next_step=failure.next_step.replace("tool_search", "`pegboard search`"))


def report_failure(failure: Failure, *, as_json: bool) -> Exit:
    """Tell why something did not work, as a failed call does."""
    if as_json:
        document({"error": failure.to_json()})
    remedy = f" {failure.next_step}" if failure.next_step else ""
    say(f"pegboard: {failure.message}{remedy}")
    return Exit.FINDING
