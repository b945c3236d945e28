"""What can be wrong with what is asked of a run."""

from collections.abc import Iterable
from enum import StrEnum

from pegboard.errors import PegboardError, nearest


class ChainFault(StrEnum):
    """Why a run cannot do what is asked of it."""

    UNKNOWN_RUN = "unknown_run"
    UNKNOWN_STEP = "unknown_step"
    RUN_HELD = "run_held"
    """Another process has it under way."""
    RUN_LOST = "run_lost"
    """It was cancelled, or another process has taken it."""
    RUN_OVER = "run_over"
    CHOICE = "choice"
    """What was chosen for a step does not fit how the step is."""


class ChainError(PegboardError):
    """A run of a chain cannot do what is asked of it.

    Parameters:
        code: which kind of reason.
        message: the reason.
        where: the place.
        next_step: what to do about it.
    """

    def __init__(
        self, code: ChainFault, message: str, *, where: str | None = None, next_step: str | None = None
    ) -> None:
        super().__init__(message, where=where, next_step=next_step)
        self.code = code


def unknown_run(id: str, known: Iterable[str]) -> ChainError:
    """The error for a run that is not there."""
    near = nearest(id, known, limit=1)
    step = f"Did you mean {near[0]}?" if near else "See them with: pegboard chain list"
    return ChainError(ChainFault.UNKNOWN_RUN, f"There is no run {id!r} of a chain.", next_step=step)


def unknown_step(step: str, known: Iterable[str], where: str) -> ChainError:
    """The error for a step that a chain does not have."""
    ids = list(known)
    near = nearest(step, ids) or ids
    return ChainError(
        ChainFault.UNKNOWN_STEP,
        f"The chain has no step {step!r}.",
        where=where,
        next_step=f"It has: {', '.join(near)}.",
    )
