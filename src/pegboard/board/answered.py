"""What sources answer about their resources and prompts, held to the form that clients accept; nothing is lost."""

import json
from dataclasses import dataclass
from typing import Any, cast

from pegboard.core.primitive import AskError
from pegboard.schema.types import Json, JsonObject, as_list, as_object
from pegboard.surface.forms import block

SERVER_INFO = "io.modelcontextprotocol/serverInfo"
"""Where a server of the stateless family stamps its answers, which are the gateway's own to its clients."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an address or a name means.

    Parameters:
        source: the source's name.
        key: the address or the name, in the source's own spelling.
    """

    source: str
    key: str


def unstamped(raw: JsonObject) -> dict[str, Any]:
    """An answer without what the stateless family says of the exchange itself: that it is whole, and whose it is."""
    answer = {key: value for key, value in raw.items() if key != "resultType"}
    meta = {key: value for key, value in as_object(answer.pop("_meta", None)).items() if key != SERVER_INFO}
    return {**answer, "_meta": meta} if meta else answer


def contents(found: Json, target: Target) -> list[JsonObject]:
    """The contents of a resource; one without an address has the one that was asked for, an odd one becomes text.

    Raises:
        AskError: there are none.
    """
    if not isinstance(found, list):
        raise _odd(target, "no contents")
    return [_content(one, target) for one in cast("list[Json]", found)]


def messages(found: Json, target: Target) -> list[JsonObject]:
    """The messages of a prompt; content that no client would take becomes text.

    Raises:
        AskError: there are none.
    """
    if not isinstance(found, list):
        raise _odd(target, "no messages")
    return [_message(one) for one in cast("list[Json]", found)]


def completed(raw: JsonObject, target: Target) -> JsonObject:
    """An answer to `completion/complete`.

    Raises:
        AskError: it is none.
    """
    found = as_object(raw.get("completion"))
    values = found.get("values")
    if not isinstance(values, list):
        raise _odd(target, "no completion")
    return {**raw, "completion": {**found, "values": [one for one in as_list(values) if isinstance(one, str)]}}


def _content(one: Json, target: Target) -> JsonObject:
    content = as_object(one)
    if not any(isinstance(content.get(key), str) for key in ("text", "blob")):
        content = {"text": _text(one), "mimeType": "application/json"}
    return content if isinstance(content.get("uri"), str) else {**content, "uri": target.key}


def _message(one: Json) -> JsonObject:
    message = as_object(one)
    content, lost = message.get("content"), list[str]()
    taken = block(cast("JsonObject", content), "", lost) if isinstance(content, dict) else None
    if taken is None:
        taken = {"type": "text", "text": _text(one if content is None else content)}
    role = message.get("role")
    same = taken is content and role in ("user", "assistant")
    return message if same else {**message, "role": role if role == "assistant" else "user", "content": taken}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _odd(target: Target, what: str) -> AskError:
    return AskError(
        f"{target.source!r} sent {what} in its answer about {target.key!r}.", next_step="Tell whoever runs the server."
    )
