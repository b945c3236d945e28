"""What an upstream call came to, as a `Result`: everything raw, nothing lost, failures in our own codes."""

import json
from typing import Any, cast

from pegboard.core import Change, Failure, FailureCode, Report, Result
from pegboard.core.client import FEATURE_OF, ClientError
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.mcp.page import PAGES_FIRST, shown_pages
from pegboard.wire.client import Answered, CannotStart, ConnectionLost, TimedOut, WireError

_KNOWN = frozenset({"content", "structuredContent", "isError", "resultType"})
_LACKS_CAPABILITY = -32021
"""MCP 2026-07-28: the server needs a capability that the request did not declare."""
_INVALID_PARAMS, _METHOD_NOT_FOUND = -32602, -32601
_HOW_TO_BE_ASKED = (
    "Call it from a client that declares this (elicitation, sampling, roots), and name it in `may_ask` of the source; "
    "or give what it asks for as an argument, if the tool takes it."
)
_SHOWN = 2000


def result_of(raw: dict[str, Any]) -> Result:
    """The result of a `tools/call` that was answered, from the raw MCP result."""
    content, changes = _content(raw.get("content"))
    value = raw.get("structuredContent")
    meta = {key: field for key, field in raw.items() if key not in _KNOWN}
    kind = raw.get("resultType", "complete")
    if kind != "complete":
        return _unfinished(raw, kind)
    report = Report(changes=changes) if changes else None
    if raw.get("isError"):
        failure = Failure(FailureCode.FAILED, text_of(content) or "The tool failed without a word.")
        return Result(value=value, failure=failure, content=content, meta=meta, report=report)
    if value is None and "structuredContent" in raw:
        meta["structuredContent"] = None
    if raw.get("isError") is False:
        meta["isError"] = False
    return Result(value=value, content=content, meta=meta, report=report)


def text_of(content: tuple[JsonObject, ...]) -> str:
    """The text blocks of a result, cut where they are long."""
    text = "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text").strip()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."


def _content(found: Json) -> tuple[tuple[JsonObject, ...], tuple[Change, ...]]:
    if not isinstance(found, list):
        return ((), ()) if found is None else _content([found])
    blocks = cast("list[Any]", found)
    if all(type(block) is dict for block in blocks):
        return tuple(blocks), ()
    changes = [
        Change("mended", f"/content/{index}", "It was no content block and is shown as text.")
        for index, block in enumerate(blocks)
        if not isinstance(block, dict)
    ]
    return tuple(_block(block) for block in blocks), tuple(changes)


def _block(block: Json) -> JsonObject:
    if isinstance(block, dict):
        return cast("dict[str, Any]", block)
    return {"type": "text", "text": block if isinstance(block, str) else json.dumps(block, ensure_ascii=False)}


def _unfinished(raw: dict[str, Any], kind: Json) -> Result:
    if kind == "input_required":
        what, step = f"asks for {_wanted(raw)}, which the caller's client was not asked for", _HOW_TO_BE_ASKED
    else:
        what = f"answered with a {kind!r} instead of a result, which this board does not pass on"
        step = "Tell whoever runs the server."
    failure = Failure(FailureCode.UPSTREAM, f"The server {what}.", next_step=step)
    content, _ = _content(raw.get("content"))
    meta = {key: field for key, field in raw.items() if key not in ("content", "isError", "resultType")}
    return Result(failure=failure, content=content, meta=meta)


def _wanted(raw: dict[str, Any]) -> str:
    rows = as_object(raw.get("inputRequests")).values()
    features = {FEATURE_OF.get(str(as_object(row).get("method")), "input") for row in rows}
    return " and ".join(sorted(features)) or "more rounds"


def needs_client(needs: list[str], *, source: str, tool: str) -> Result:
    """The result of a call of a tool that its server offers only to clients with what this caller's lacks."""
    what = " or ".join(needs)
    message = f"{source!r} offers {tool!r} only to clients with {what}, and the caller has none."
    return Result.failed(FailureCode.UNAVAILABLE, message, where=source, next_step=_HOW_TO_BE_ASKED)


def refused_by_client(error: ClientError, *, source: str) -> Result:
    """The result of a call that could not go on because its client did not give what the server asked for."""
    details = {"code": error.code}
    if error.code == _METHOD_NOT_FOUND:
        code, step = FailureCode.UPSTREAM, _HOW_TO_BE_ASKED
    elif error.code == _INVALID_PARAMS:
        code, step = FailureCode.UPSTREAM, "Call it again, and answer what is asked for."
    else:
        code, step = FailureCode.DECLINED, "Do not call it again unless the user wants it."
    message = f"{source!r} asked the caller's client, and got no answer that it can go on with: {error}"
    return Result.failed(code, message, where=source, next_step=step, details=details)


def failure_of(error: WireError, *, source: str, tool: str) -> Result:
    """The result of a call that was not answered with a result."""
    match error:
        case CannotStart():
            return _unavailable(f"{source!r} is unavailable: {error}", error.next_step, error.retry_in)
        case TimedOut():
            return Result.failed(
                FailureCode.TIMEOUT,
                f"{source!r} did not answer in time and was told to stop; the call may still have run.",
                where=source,
                next_step="Ask for less, or raise `call_timeout` of the source.",
                retryable=True,
            )
        case ConnectionLost():
            return _lost(error, source)
        case Answered():
            return _refused(error, source, tool)
        case _:
            return Result.failed(FailureCode.FAILED, str(error), where=source)


def unknown_tool(text: str) -> bool:
    """Whether an error's words say that the server does not know the tool (any more)."""
    words = text.lower()[:200]
    return "tool" in words and ("unknown" in words or "not found" in words)


def _unavailable(message: str, next_step: str | None, retry_in: float = 0.0) -> Result:
    wait = f"Try again in {retry_in:.0f} s." if retry_in >= 1 else "Try again later, or use another tool."
    details = {"retry_in": round(retry_in, 1)} if retry_in else {}
    return Result.failed(FailureCode.UNAVAILABLE, message, next_step=next_step or wait, retryable=True, details=details)


def _lost(error: ConnectionLost, source: str) -> Result:
    if error.session_lost:
        return _unavailable(f"{source!r} ended the session twice ({error}).", None)
    if error.status in (401, 403):
        step = f"Sign in with `pegboard auth login {source}`, or check the `headers` of the source."
        return _unavailable(f"{source!r} refused the credentials ({error}).", step)
    if error.status == 500:
        return Result.failed(FailureCode.UPSTREAM, f"{source!r} failed ({error}).", where=source)
    if not error.sent:
        return _unavailable(f"{source!r} is unavailable: {error}.", None)
    return Result.failed(
        FailureCode.OUTCOME_UNKNOWN,
        f"{source!r}: {error}; the call may or may not have run.",
        where=source,
        next_step="Check whether it took effect before you call again.",
    )


def _open_first(source: str, error: Answered) -> str:
    addresses = ", ".join(str(page["url"]) for page in shown_pages(source, error.data))
    return f"The user has to open {addresses or 'a page'} first, if they trust {source!r}; then call it again."


def _refused(error: Answered, source: str, tool: str) -> Result:
    details: dict[str, Any] = {"code": error.code}
    if error.data is not None:
        details["data"] = error.data
    if unknown_tool(str(error)):
        code, next_step = FailureCode.UNKNOWN_TOOL, f"{source!r} no longer has {tool!r}: search for its new name."
    elif error.code == _LACKS_CAPABILITY:
        code, next_step = FailureCode.UPSTREAM, _HOW_TO_BE_ASKED
    elif error.code == PAGES_FIRST:
        code, next_step = FailureCode.UPSTREAM, _open_first(source, error)
        details["data"] = {"elicitations": shown_pages(source, error.data)}
    elif error.code == _INVALID_PARAMS:
        code, next_step = FailureCode.INVALID_ARGUMENTS, "Compare the arguments with the tool's input schema."
    else:
        code, next_step = FailureCode.UPSTREAM, None
    return Result.failed(code, f"{source!r} answered: {error}", where=source, next_step=next_step, details=details)
