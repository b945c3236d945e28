"""What a server asks of a caller's client: who asks is named, what none should get is refused, replies are checked.

MCP 2025-11-25 and 2026-07-28, client features (elicitation, sampling, roots). All of it is foreign text.
"""

from typing import Any, cast
from unicodedata import category
from urllib.parse import urlsplit

from pegboard.core.client import (
    ELICIT,
    FEATURE_OF,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ROOTS,
    SAMPLE,
    ClientError,
    Request,
)
from pegboard.schema.types import JsonObject, as_object
from pegboard.schema.validate import validator

SOURCE_KEY = "pegboard/source"
"""Where the `_meta` of a question names the source that asks."""
_WEB = ("http", "https")
_FLAT = ("string", "number", "integer", "boolean", "array")
_OWN_OF_LINK = ("task", "progressToken")
_SHOWN = 3
_LONGEST = 4_000
"""Characters of a question that a person is shown."""
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def addressed(source: str, method: str, params: JsonObject, features: JsonObject) -> JsonObject:
    """The params as the client gets them.

    Parameters:
        source: the source's name, which the person reads.
        method: what is asked for.
        params: the server's words.
        features: what was declared to the server.

    Raises:
        ClientError: it asks for what was not declared, or in a way that no client should be given.
    """
    if FEATURE_OF.get(method) not in features:
        raise ClientError(METHOD_NOT_FOUND, f"This client does not support {method}.")
    meta = {key: value for key, value in as_object(params.get("_meta")).items() if not _private(key)}
    sent = {key: value for key, value in params.items() if key not in _OWN_OF_LINK}
    sent["_meta"] = {**meta, SOURCE_KEY: source}
    match method:
        case "elicitation/create":
            return _question(source, sent, as_object(features["elicitation"]))
        case "sampling/createMessage":
            return _sampled(source, sent, as_object(features["sampling"]))
        case _:
            return sent


def _private(key: str) -> bool:
    return key.startswith(("pegboard/", "io.modelcontextprotocol/")) or key in _OWN_OF_LINK


def _question(source: str, params: dict[str, Any], kinds: JsonObject) -> JsonObject:
    mode = params.get("mode", "form")
    if mode not in (kinds or {"form": {}}):
        raise ClientError(INVALID_PARAMS, f"This client does not take elicitations of mode {mode!r}.")
    message = params.get("message")
    if not isinstance(message, str):
        raise ClientError(INVALID_PARAMS, "An elicitation needs a `message`.")
    if mode == "url":
        _check_address(params.get("url"))
    else:
        _check_form(params.get("requestedSchema"))
    return {**params, "mode": mode, "message": f"{source} asks: {readable(message)}"}


def readable(text: str) -> str:
    """A foreign text without the characters that reorder or erase what stands beside it, and capped."""
    kept = "".join(char for char in text if char in "\n\t" or (category(char) != "Cc" and char not in _REORDERING))
    return kept if len(kept) <= _LONGEST else f"{kept[:_LONGEST]} ... ({len(kept) - _LONGEST} characters more)"


def _check_address(url: Any) -> None:
    """Only what a browser opens as a page, with a host to read: no `javascript:`, no `file:`, no hidden user name."""
    try:
        parts = urlsplit(url) if isinstance(url, str) and url.isprintable() and " " not in url else None
        sound = parts is not None and parts.scheme in _WEB and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        sound = False
    if not sound:
        raise ClientError(INVALID_PARAMS, "The `url` of an elicitation must be an http(s) address without a user name.")


def _check_form(schema: Any) -> None:
    fields = as_object(as_object(schema).get("properties"))
    if as_object(schema).get("type") != "object" or not isinstance(as_object(schema).get("properties"), dict):
        raise ClientError(INVALID_PARAMS, "`requestedSchema` must be an object schema with `properties`.")
    for name, field in fields.items():
        if as_object(field).get("type") not in _FLAT:
            raise ClientError(INVALID_PARAMS, f"The field {name!r} of `requestedSchema` is no flat field.")


def _sampled(source: str, params: dict[str, Any], features: JsonObject) -> JsonObject:
    if ("tools" in params or "toolChoice" in params) and "tools" not in features:
        raise ClientError(INVALID_PARAMS, "This client does not take tools with sampling.")
    if "context" not in features:
        params.pop("includeContext", None)  # others' contexts are not a server's to ask for
    words = params.get("systemPrompt")
    said = f"The MCP server {source!r} asks for this; its words are not the user's."
    return {**params, "systemPrompt": f"{said}\n\n{words}" if isinstance(words, str) and words else said}


async def ask(source: str, request: Request, method: str, params: JsonObject, features: JsonObject) -> JsonObject:
    """Ask a client for a server; a form that is filled in wrongly is put again, with what is wrong.

    Parameters:
        source: the source's name.
        request: asks the client.
        method: what is asked for.
        params: the server's words.
        features: what was declared to the server.

    Raises:
        ClientError: it cannot be asked, refused, or did not answer what was asked for.
    """
    sent = addressed(source, method, params, features)
    question = sent
    for last in (False, False, True):
        reply = await request(method, question)
        try:
            return replied(method, sent, reply)
        except ClientError as wrong:
            if last or method != ELICIT:
                raise
            question = {**sent, "message": f"{sent['message']}\n\n{wrong.message} Please answer once more."}
    raise AssertionError("the last attempt returns or raises")


def replied(method: str, params: JsonObject, reply: JsonObject) -> JsonObject:
    """The client's answer as the server gets it.

    Raises:
        ClientError: it does not fit what was asked for.
    """
    answer = {key: value for key, value in reply.items() if key not in ("resultType", "_meta")}
    wrong = _CHECKS[method](params, answer)
    if wrong:
        raise ClientError(INVALID_PARAMS, wrong)
    return answer


def _wrong_elicitation(params: JsonObject, answer: dict[str, Any]) -> str | None:
    action = answer.get("action")
    if action not in ("accept", "decline", "cancel"):
        return "The client's answer to the elicitation has no `action` that there is."
    if action != "accept" or params.get("mode") == "url":
        answer.pop("content", None)
        return None
    content = answer["content"] = as_object(answer.get("content"))
    faults = validator(cast("dict[str, Any]", params["requestedSchema"])).violations(content)
    if not faults:
        return None
    told = "; ".join(f"{fault.pointer or 'the form'}: {fault.message}" for fault in faults[:_SHOWN])
    return f"The answer does not fit the form: {told}"


def _wrong_sample(params: JsonObject, answer: dict[str, Any]) -> str | None:
    if answer.get("role") not in ("assistant", "user") or not isinstance(answer.get("content"), dict | list):
        return "The client's answer to the sampling request has no `role` and `content`."
    return None if isinstance(answer.get("model"), str) else "The client's answer does not name its `model`."


def _wrong_roots(params: JsonObject, answer: dict[str, Any]) -> str | None:
    rows = answer.get("roots")
    found = cast("list[Any]", rows) if isinstance(rows, list) else None
    if found is None or not all(isinstance(as_object(row).get("uri"), str) for row in found):
        return "The client's answer is no list of `roots`."
    return None


_CHECKS = {ELICIT: _wrong_elicitation, SAMPLE: _wrong_sample, ROOTS: _wrong_roots}
