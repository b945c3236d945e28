"""Keep secrets out of what a failure says: an upstream may repeat the header or the address that it was given."""

from dataclasses import replace

from pegboard.core import Call, Handler, Middleware, Result
from pegboard.trace.redact import Redactor


def conceal(redactor: Redactor) -> Middleware:
    """Mask secrets in failures: their message, next step and details, and the texts that came with them.

    Parameters:
        redactor: knows the secrets.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            return result if result.failure is None else _concealed(result, redactor)

        return handle

    return wrap


def _concealed(result: Result, redactor: Redactor) -> Result:
    failure = result.failure
    assert failure is not None
    failure = replace(
        failure,
        message=redactor.text(failure.message),
        next_step=redactor.text(failure.next_step) if failure.next_step else failure.next_step,
        details=redactor.value(failure.details),
    )
    content = tuple(
        {**block, "text": redactor.text(block["text"])} if isinstance(block.get("text"), str) else block
        for block in result.content
    )
    return replace(result, failure=failure, content=content, value=redactor.value(result.value))
