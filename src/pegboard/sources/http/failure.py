"""What went wrong with a request, as a failure that says what to do."""

import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import httpcore2
import httpx2

from pegboard.core import Effects, Failure, FailureCode
from pegboard.sources.http.address import ForbiddenAddressError
from pegboard.sources.http.client import Answer, RedirectError, TooLargeError

_SHOWN = 2_000
_LATER = frozenset((408, 425, 429, 500, 502, 503, 504))
_OF_THE_SERVICE = _LATER | {401, 403, 407}
"""Refusals that say nothing about the arguments: they count against the service's health."""

BROKEN = (
    ForbiddenAddressError,
    RedirectError,
    TooLargeError,
    TimeoutError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    httpx2.HTTPError,
    httpx2.InvalidURL,
)
"""What `SafeClient.send` raises."""


def broken(error: Exception, effects: Effects) -> Failure:
    """The failure for an exchange that did not come to an answer.

    Parameters:
        error: what `SafeClient.send` raised.
        effects: what the request does; decides whether its outcome is unknown.
    """
    match error:
        case ForbiddenAddressError():
            return Failure(
                FailureCode.BLOCKED,
                f"The request was not sent: {error}.",
                next_step="The operator can allow it: base_url names the host, or allow_private = true.",
            )
        case RedirectError():
            return Failure(FailureCode.UPSTREAM, f"{error}.", next_step="Use the address that it redirects to.")
        case TooLargeError():
            return Failure(
                FailureCode.TOO_LARGE,
                f"The answer has more than {error.limit} bytes.",
                next_step="Ask for less: a filter, a smaller page.",
            )
        case httpcore2.ConnectError() | httpcore2.ConnectTimeout() | httpcore2.UnsupportedProtocol():
            return Failure(
                FailureCode.UNAVAILABLE,
                f"The service cannot be reached: {_text(error)}.",
                next_step="Try again in a moment, or check the service.",
                retryable=True,
            )
        case _:
            return _interrupted(error, effects)


def _interrupted(error: Exception, effects: Effects) -> Failure:
    late = isinstance(error, (TimeoutError, httpcore2.TimeoutException, httpx2.TimeoutException))
    what = "There was no answer in time" if late else f"The connection broke: {_text(error)}"
    if not effects.repeatable:
        return Failure(
            FailureCode.OUTCOME_UNKNOWN,
            f"{what}; the request may have taken effect.",
            next_step="Look whether it took effect before you try again.",
        )
    code = FailureCode.TIMEOUT if late else FailureCode.UNAVAILABLE
    return Failure(code, f"{what}.", next_step="Try again.", retryable=True)


def refused(answer: Answer) -> Failure:
    """The failure for an answer whose status is not one of success."""
    status = answer.status
    body = _body(answer)
    details: dict[str, Any] = {"status": status, "body": body}
    after = _retry_after(answer)
    if after is not None:
        details["retry_after"] = after
    return Failure(
        FailureCode.FAILED if 400 <= status < 500 and status not in _OF_THE_SERVICE else FailureCode.UPSTREAM,
        f"The service answered {status} {_phrase(status)}".rstrip() + (f": {_said(body)}" if body else "."),
        next_step=_next_step(status, after),
        retryable=status in _LATER,
        details=details,
    )


def _next_step(status: int, after: float | None) -> str:
    match status:
        case 400 | 405 | 406 | 409 | 411 | 413 | 414 | 415 | 422:
            return "Correct the arguments as the service says, and call again."
        case 401:
            return "The operator has to give credentials: `auth` of the source."
        case 403:
            return "The credentials do not allow this; use another tool, or ask the operator."
        case 404 | 410:
            return "Check the identifiers: what they name does not exist, or not for these credentials."
        case 429:
            return f"Wait {after:g} s, then try again." if after is not None else "Wait, then try again."
        case _ if status >= 500:
            return "The service has a fault; try again later."
        case _:
            return "See the answer."


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _body(answer: Answer) -> Any:
    import json

    if "json" in answer.media_type:
        try:
            value = json.loads(answer.body)
        except ValueError:
            pass
        else:
            return value if len(answer.body) <= _SHOWN else answer.text[:_SHOWN] + "..."
    text = answer.text.strip()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _said(body: Any) -> str:
    import json

    if isinstance(body, dict):
        for key in ("message", "detail", "error_description", "error", "title"):
            if isinstance(body.get(key), str) and body[key]:  # type: ignore[reportUnknownMemberType]
                return f"{body[key]}"
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}..."


def _retry_after(answer: Answer) -> float | None:
    value = answer.headers.get("retry-after", "").strip()
    if value.replace(".", "", 1).isdigit():
        return float(value)
    if value:
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            return None
    return None


def _text(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__
