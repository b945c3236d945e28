"""From an answer to a result: JSON becomes the value, text a text block, anything else an embedded resource."""

import json
from base64 import b64encode

from pegboard.core import Mode, Report, Result
from pegboard.schema.types import Json
from pegboard.sources.http.client import Answer, Request
from pegboard.sources.http.failure import refused

HIDDEN = "***"


def result_of(answer: Answer) -> Result:
    """The result that an answer stands for; one that is not a success is a failure."""
    if not 200 <= answer.status < 300:
        return Result(failure=refused(answer))
    if not answer.body.strip():
        text = f"{answer.status} with an empty answer: it succeeded."
        return Result(content=({"type": "text", "text": text},), report=Report(data={"status": answer.status}))
    kind = answer.media_type
    if _is_json(kind) or (not kind and answer.body[:1] in b'{["'):
        return _from_json(answer)
    if kind in ("application/x-ndjson", "application/jsonl", "application/json-seq", "text/event-stream"):
        return Result(value=_from_lines(answer.text))
    if (
        kind.startswith("text/")
        or kind in ("application/xml", "application/x-yaml", "application/yaml")
        or "+xml" in kind
    ):
        return Result(content=({"type": "text", "text": answer.text},))
    return Result(content=(_binary(answer),))


def _is_json(kind: str) -> bool:
    return kind == "application/json" or kind.endswith(("+json", "/json"))


def _from_json(answer: Answer) -> Result:
    try:
        return Result(value=json.loads(answer.text))
    except ValueError as error:
        note = f"The answer calls itself {answer.media_type} and is not JSON ({error}); it is given as text."
        return Result(content=({"type": "text", "text": answer.text},), report=Report(notes=(note,)))


def _from_lines(text: str) -> list[Json]:
    values: list[Json] = []
    for line in text.splitlines():
        part = line.removeprefix("data:").strip("\x1e \t\r")
        if not part or line.startswith((":", "event:", "id:", "retry:")) or part == "[DONE]":
            continue
        try:
            values.append(json.loads(part))
        except ValueError:
            values.append(part)
    return values


def _binary(answer: Answer) -> dict[str, Json]:
    data = b64encode(answer.body).decode()
    kind = answer.media_type or "application/octet-stream"
    if kind.startswith("image/"):
        return {"type": "image", "data": data, "mimeType": kind}
    if kind.startswith("audio/"):
        return {"type": "audio", "data": data, "mimeType": kind}
    return {"type": "resource", "resource": {"uri": answer.url, "mimeType": kind, "blob": data}}


def prepared(request: Request, mode: Mode) -> Result:
    """A request that was not sent, for previews and dry runs; credentials are hidden."""
    headers = {name: HIDDEN if name.lower() in request.secret_headers else value for name, value in request.headers}
    value: dict[str, Json] = {"sent": False, "method": request.method, "url": request.url, "headers": headers}
    if request.query_secrets:
        value["query_credentials"] = dict.fromkeys(request.query_secrets, HIDDEN)
    if request.body is not None:
        value["body"] = request.shown if request.shown is not None else request.body.decode("utf-8", "replace")
    note = "This is the prepared request. It was not sent: what the service would change is not known."
    return Result(value=value, report=Report(notes=(note,), data={"prepared": True}), mode=mode)
