"""How a request to a server can go wrong, and what that says about whether it ran."""

from dataclasses import dataclass

from pegboard.schema.types import Json


class WireError(Exception):
    """A request got no result. The text says why, without secrets."""


class CannotStart(WireError):
    """The server could not be reached, or did not agree on a protocol.

    Parameters:
        message: why, with the end of its stderr where it has one.
        next_step: what to do about it.
        retry_in: seconds until the next attempt is made, where this one was held back.
    """

    def __init__(self, message: str, *, next_step: str | None = None, retry_in: float = 0.0) -> None:
        super().__init__(message)
        self.next_step = next_step
        self.retry_in = retry_in


class ConnectionLost(WireError):
    """The connection ended, or refused the request, before an answer came.

    Parameters:
        message: what happened.
        sent: whether the server may have run the request.
        status: the HTTP status, where one came.
        session_lost: whether the server no longer knew the session.
    """

    def __init__(self, message: str, *, sent: bool, status: int | None = None, session_lost: bool = False) -> None:
        super().__init__(message)
        self.sent = sent
        self.status = status
        self.session_lost = session_lost

    def repairable(self, *, repeatable: bool) -> bool:
        """Whether sending the request once more may help, and does no harm.

        Parameters:
            repeatable: whether running the request twice does no more than running it once.
        """
        if self.session_lost:
            return True
        broken = self.status is None or self.status in (502, 504)
        return broken and (repeatable or not self.sent)


class TimedOut(WireError):
    """No answer came in time; the server was told to stop."""


class Answered(WireError):
    """The server answered with a JSON-RPC error.

    Parameters:
        code: the JSON-RPC code.
        message: the server's own words.
        data: what it sent along.
    """

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class Fault:
    """What a transport noted of one request that it could not carry to an answer.

    Parameters:
        message: what happened.
        sent: whether the server may have run the request.
        status: the HTTP status, where one came.
        session_lost: the server no longer knows the session: the request was not processed.
    """

    message: str
    sent: bool
    status: int | None = None
    session_lost: bool = False


def remedy(status: int | None) -> str | None:
    """What to do about a connection that was refused with this HTTP status, or not answered at all."""
    match status:
        case 401 | 403:
            return "Sign in with `pegboard auth login`, or check the credentials in `headers`."
        case 404 | 405:
            return "Check the address: there is no MCP endpoint there."
        case None:
            return "Check the address, and that the server runs."
        case _:
            return None
