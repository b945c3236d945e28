"""What can be wrong with what is asked of a run of code."""

from collections.abc import Iterable
from enum import StrEnum

from pegboard.errors import PegboardError, nearest


class CodeFault(StrEnum):
    """Why a run cannot do what is asked of it."""

    UNKNOWN_RUN = "unknown_run"
    RUN_HELD = "run_held"
    """A process has it under way."""
    RUN_LOST = "run_lost"
    """It was cancelled, or another process has taken it."""
    RUN_OVER = "run_over"
    CHOICE = "choice"
    """What was chosen for a call does not fit how the call is."""


class CodeError(PegboardError):
    """A run of code cannot do what is asked of it.

    Parameters:
        code: which kind of reason.
        message: the reason.
        where: the run.
        next_step: what to do about it.
    """

    def __init__(
        self, code: CodeFault, message: str, *, where: str | None = None, next_step: str | None = None
    ) -> None:
        super().__init__(message, where=where, next_step=next_step)
        self.code = code


def unknown_run(id: str, known: Iterable[str]) -> CodeError:
    """The error for a run that is not there."""
    near = nearest(id, known, limit=1)
    step = f"Did you mean {near[0]}?" if near else "See them with: pegboard code list"
    return CodeError(CodeFault.UNKNOWN_RUN, f"There is no run {id!r} of code.", next_step=step)


def lost(id: str) -> CodeError:
    """The error for a run that this process holds no longer."""
    return CodeError(
        CodeFault.RUN_LOST,
        f"The run {id} is not this process's any more: it was cancelled, or another process has taken it.",
        next_step=f"See it with: pegboard code show {id}",
    )
