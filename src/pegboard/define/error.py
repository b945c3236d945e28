"""What a tool's body raises to say more than that it failed."""

from typing import Any

from pegboard.core import Failure, FailureCode
from pegboard.schema.types import JsonObject


class ToolError(Exception):
    """The tool cannot do what was asked; raise it inside a tool, and the caller gets a failure with these words.

    Parameters:
        message: what is wrong, for the model to read.
        code: one of the closed set.
        next_step: what to do about it.
        where: a JSON pointer into the arguments.
        retryable: whether the same call may succeed later.
        details: more, as data.
    """

    def __init__(
        self,
        message: str,
        *,
        code: FailureCode | str = FailureCode.FAILED,
        next_step: str | None = None,
        where: str | None = None,
        retryable: bool = False,
        details: JsonObject | None = None,
    ) -> None:
        super().__init__(message)
        more: dict[str, Any] = dict(details or {})
        self.failure = Failure(FailureCode(code), message, where, next_step, retryable, more)
