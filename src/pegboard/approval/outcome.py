"""What a call comes to that did not get its yes: a failure with a code, the reason, and what to do next."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pegboard.approval.desk import Verdict
from pegboard.approval.entry import Entry
from pegboard.approval.policy import Rule
from pegboard.approval.responses import approval_request
from pegboard.core import Failure, FailureCode, Mode, Result, ToolSpec


def forbidden(spec: ToolSpec, rule: Rule, mode: Mode | None) -> Result:
    """The policy refuses the call."""
    return _failed(
        mode,
        FailureCode.BLOCKED,
        f"The board's policy ({rule.name}) does not allow this call of {spec.name}. Nothing ran.",
        next_step="Use another tool. Whoever runs the board can change [approval] in its config.",
    )


def declined(verdict: Verdict, mode: Mode | None) -> Result:
    """A person said no."""
    request, decision = verdict.entry.request, verdict.decision
    assert decision is not None
    remembered = f" That is remembered ({decision.grant})." if decision.grant else ""
    note = f" {decision.note}" if decision.note else ""
    return _failed(
        mode,
        FailureCode.DECLINED,
        f"A person declined this call of {request.subject}. Nothing ran.{note}{remembered}",
        next_step="Do not call it again like this; go another way, or ask what is wanted instead.",
        details=_details(verdict),
    )


def unanswered(verdict: Verdict, mode: Mode | None) -> Result:
    """Nobody has answered."""
    request, entry = verdict.entry.request, verdict.entry
    if entry.void is not None:
        return gone(verdict, mode)
    if verdict.error is not None:
        message = f"The answer for {request.subject} could not be taken: {verdict.error.message} Nothing ran."
        step = "Make the same call again to ask anew."
    elif verdict.asked:
        seconds = request.expires - request.created
        message = f"Nobody answered within {seconds:g} s whether {request.subject} may run. Nothing ran."
        step = "Make the same call again to ask anew, or go another way."
    elif not entry.kept:
        message = f"A person has to agree to this call of {request.subject}, and nobody can be asked. Nothing ran."
        step = "Whoever runs the board can mend its store (`pegboard doctor`), or allow the tool in [approval]."
    else:
        message = (
            f"A person has to agree to this call of {request.subject} first. Nothing ran; the request is {request.id}."
        )
        step = f"Ask for: `pegboard approvals allow {request.id}`; after that make the same call again."
    return _failed(
        mode, FailureCode.APPROVAL_NEEDED, message, next_step=step, retryable=True, details=_details(verdict)
    )


def gone(verdict: Verdict, mode: Mode | None) -> Result:
    """The tool went, or became another, while a person was asked."""
    subject = verdict.entry.request.subject
    return _failed(
        mode,
        FailureCode.UNKNOWN_TOOL,
        f"{subject} is no longer available as it was when a person was asked. Nothing ran; the answer is void.",
        next_step="Find the tool again with tool_search.",
        details=_details(verdict),
    )


def gone_in(result: Result, ended: Sequence[Entry]) -> Result:
    """The failure of a call of a tool that is gone, with what a person's answers have come to."""
    failure = result.failure
    if failure is None:
        return result
    ids = ", ".join(entry.request.id for entry in ended)
    name = ended[0].request.subject
    message = f"{name} is no longer available; the approval of it is void ({ids}). {failure.message}"
    return replace(result, failure=replace(failure, message=message))


def unforeseen(spec: ToolSpec) -> Result:
    """A part that would need a yes, met while a composite runs without effect."""
    return _failed(Mode.EXECUTE, FailureCode.APPROVAL_NEEDED, f"{spec.name} would need a person's yes. Nothing ran.")


def _details(verdict: Verdict) -> dict[str, Any]:
    request, decision = verdict.entry.request, verdict.decision
    found: dict[str, Any] = {
        "approval": {
            "id": request.id,
            "kind": request.kind.value,
            "rule": request.rule,
            "expires": request.expires,
            "covers": [item.fingerprint for item in request.items],
            "choice": decision.choice.value if decision is not None else None,
        }
    }
    if verdict.error is not None:
        found["approval"]["error"] = verdict.error.code.value
    if decision is None and verdict.entry.kept:
        found["mcp_approval_request"] = approval_request(request)
    return found


def _failed(mode: Mode | None, code: FailureCode, message: str, **more: Any) -> Result:
    return Result(failure=Failure(code, message, **more), mode=mode or Mode.EXECUTE)
