"""Why a run of code that is kept ends before its code does, and how it goes on."""

from collections.abc import Mapping, Sequence
from typing import cast

from pegboard.codemode.outcome import Fault, Stop
from pegboard.codemode.record import Entry
from pegboard.core import Failure, FailureCode
from pegboard.schema.types import JsonObject


def waits(failure: Failure, entry: Entry) -> bool:
    """Whether a call failed because a person has not answered yet, and still can; nothing of it ran then."""
    asked = failure.details.get("approval")
    mine = isinstance(asked, Mapping) and cast("JsonObject", asked).get("id") == entry.request
    return failure.code is FailureCode.APPROVAL_NEEDED and entry.request is not None and mine


def waiting(run: str, entries: Sequence[Entry], failure: Failure) -> Fault:
    """The fault of a run that waits for a yes.

    Parameters:
        run: its id.
        entries: the calls that wait.
        failure: what the last of them said.
    """
    names = ", ".join(dict.fromkeys(entry.name for entry in entries))
    ids = [entry.request for entry in entries if entry.request]
    answers = "; ".join(f"pegboard approvals allow {id}" for id in dict.fromkeys(ids))
    return Fault(
        Stop.WAITING,
        f"The code waits: a person has to agree to its call of {names}. What it did before is kept (run {run}).",
        next_step=f"Ask for: {answers}. After that make the same call again: it goes on from here "
        f"(or: pegboard code resume {run}).",
        run=run,
        details=failure.details,
    )


def in_doubt(run: str, entry: Entry) -> Fault:
    """The fault of a run that was cut off while a call was under way that must not be made twice."""
    return Fault(
        Stop.OUTCOME_UNKNOWN,
        f"{entry.name} (call {entry.number} of the code) may or may not have taken effect: the process that called it "
        "ended before it answered, and it is not known to bear a second call.",
        next_step=f"Look whether it took effect. If not: pegboard code resume {run} --redo {entry.number}. If it did: "
        f"pegboard code resume {run} --skip {entry.number} --output JSON, with what it would have returned.",
        run=run,
        details={"run": run, "call": entry.number, "choices": ["redo", "skip"]},
    )


def diverged(run: str, known: Entry, name: str | None) -> Fault:
    """The fault of code that, run again, does not do what it did.

    Parameters:
        run: the run's id.
        known: the call that the journal tells of.
        name: what the code calls in its place; None: it ended without.
    """
    now = "ended without it" if name is None else f"called {name[:100]} with other arguments"
    if name is not None and name != known.name:
        now = f"called {name[:100]}"
    return Fault(
        Stop.DIVERGED,
        f"Run again, the code does not do the same: call {known.number} was {known.name}, and now it {now}. "
        "Nothing more was called.",
        next_step="What its calls did before stays done. Write new code that goes on from there, and does not depend "
        "on timers or on which of two calls ends first.",
        run=run,
    )
