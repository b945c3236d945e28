"""From a request that was built to a result: signed, sent, read; or shown unsent."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pegboard.core import Call, Effects, Failure, FailureCode, Mode, Result
from pegboard.errors import PegboardError
from pegboard.schema.types import pointer
from pegboard.sources.http.answer import prepared, result_of
from pegboard.sources.http.auth import Credential
from pegboard.sources.http.client import Answer, Request, SafeClient
from pegboard.sources.http.failure import BROKEN, broken

Send: TypeAlias = Callable[[Request], Awaitable[Answer | Failure]]
"""Sends one more request of the same exchange, such as the next page."""


class BadArgument(ValueError):
    """An argument cannot be put into a request.

    Parameters:
        name: the argument.
        message: what is wrong with it.
        next_step: what to give.
    """

    def __init__(self, name: str, message: str, next_step: str = "Correct it and call again.") -> None:
        super().__init__(message)
        self.failure = Failure(
            FailureCode.INVALID_ARGUMENTS,
            f"{name}: {message} Nothing was sent." if name else f"{message} Nothing was sent.",
            where=pointer(name) if name else None,
            next_step=next_step,
        )


@dataclass(frozen=True, slots=True)
class Exchange:
    """Sends the requests of one operation.

    Parameters:
        client: the open client.
        credentials: what signs each request, in order.
        effects: what the operation does.
    """

    client: SafeClient
    credentials: Sequence[Credential] = ()
    effects: Effects = Effects.UNKNOWN

    async def run(self, call: Call, build: Callable[[], Request]) -> Result:
        """Build the request and, in a mode that executes, send it.

        Parameters:
            call: the call.
            build: makes the request; may raise `BadArgument`.
        """
        mode = call.mode or Mode.EXECUTE
        try:
            request = build()
            if mode in (Mode.PREVIEW, Mode.DRY_RUN):
                return prepared(await self._signed(request, fetch=False), mode)
        except BadArgument as error:
            return Result(failure=error.failure, mode=mode)
        answer = await self.send(request)
        return replace(Result(failure=answer) if isinstance(answer, Failure) else result_of(answer), mode=mode)

    async def send(self, request: Request) -> Answer | Failure:
        """Sign and send one request; with a spent token it is signed anew and sent once more."""
        try:
            answer = await self.client.send(await self._signed(request))
            if answer.status == 401 and any([credential.spent() for credential in self.credentials]):
                answer = await self.client.send(await self._signed(request))
            return answer
        except PegboardError as error:
            return Failure(FailureCode.UNAVAILABLE, str(error), next_step=error.next_step)
        except BROKEN as error:
            return broken(error, self.effects)

    async def _signed(self, request: Request, *, fetch: bool = True) -> Request:
        for credential in self.credentials:
            # A preview asks no token endpoint: it shows where the token will stand.
            if fetch or not hasattr(credential, "token_url"):
                request = await credential.sign(request, self.client)
            else:
                request = request.with_header("Authorization", "Bearer", secret=True)
        return request
