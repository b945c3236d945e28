"""What can be wrong with an answer."""

from enum import StrEnum

from pegboard.errors import PegboardError


class Fault(StrEnum):
    """Why an answer, or a change of a grant, was not taken."""

    UNKNOWN_REQUEST = "unknown_request"
    ALREADY_ANSWERED = "already_answered"
    EXPIRED = "expired"
    NOT_YOURS = "not_yours"
    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_GRANT = "unknown_grant"
    UNKNOWN_TOOL = "unknown_tool"
    NOT_KEPT = "not_kept"


class ApprovalError(PegboardError):
    """An answer that was not taken.

    Parameters:
        code: why.
        message: in one sentence.
        next_step: what to do about it.
        where: the request, or a JSON pointer into edited arguments.
    """

    def __init__(self, code: Fault, message: str, *, next_step: str, where: str | None = None) -> None:
        super().__init__(message, where=where, next_step=next_step)
        self.code = code
