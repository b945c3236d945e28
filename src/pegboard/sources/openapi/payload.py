"""The bytes of a request body."""

import json
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import cast

from pegboard.schema.types import Json, Schema, as_list, as_object
from pegboard.sources.http.exchange import BadArgument
from pegboard.sources.openapi.operation import Body, Encoding
from pegboard.sources.openapi.serialize import fields, text_of


@dataclass(frozen=True, slots=True)
class Payload:
    """A body, ready to send.

    Parameters:
        content: its bytes.
        content_type: the header line.
        shown: what a preview shows of it.
    """

    content: bytes
    content_type: str
    shown: Json


def payload_of(body: Body, value: Json, name: str, properties: Mapping[str, Schema]) -> Payload:
    """A value in the body's media type.

    Parameters:
        body: what the operation takes.
        value: the value.
        name: the argument that it comes from, for errors.
        properties: the schemas of its properties, where it is an object; they say which are files.

    Raises:
        BadArgument: the value cannot be sent in this form.
    """
    match body.kind:
        case "json":
            return Payload(_utf8(json.dumps(value, ensure_ascii=False), name), _json_type(body), value)
        case "form":
            return Payload("&".join(fields(value, body.encodings)).encode(), body.media_type, value)
        case "multipart":
            return _multipart(body, cast("Mapping[str, Json]", value), name, properties)
        case "text":
            text = value if isinstance(value, str) else text_of(value)
            kind = body.media_type if "charset" in body.media_type else f"{body.media_type}; charset=utf-8"
            return Payload(_utf8(text, name), kind, text)
        case _:
            content = decoded(value, name)
            return Payload(content, body.media_type, f"({len(content)} bytes)")


def _json_type(body: Body) -> str:
    return body.media_type if "json" in body.media_type else "application/json"


def _utf8(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadArgument(name, "It holds a half of a surrogate pair, which no request can carry.") from None


def decoded(value: Json, name: str) -> bytes:
    """The bytes that a base64 text holds; an asset handle has been replaced by one before the tool runs.

    Raises:
        BadArgument: it is no base64.
    """
    text = value if isinstance(value, str) else ""
    data = text.partition(";base64,")[2] if text.startswith("data:") else text
    try:
        return b64decode("".join(data.split()), validate=True)
    except (Error, ValueError):
        raise BadArgument(
            name, "It must be base64 text.", "Encode the bytes as base64, or pass the handle of an asset."
        ) from None


def _multipart(body: Body, value: Mapping[str, Json], argument: str, properties: Mapping[str, Schema]) -> Payload:
    parts: list[tuple[str, bytes]] = []
    shown: dict[str, Json] = {}
    for name, part in value.items():
        encoding = body.encodings.get(name, Encoding())
        schema = as_object(properties.get(name))
        items = as_object(schema.get("items"))
        files = is_binary(schema) or is_binary(items)
        encoding = encoding if encoding.content_type else replace(encoding, content_type=_said(schema) or _said(items))
        for one in as_list(part) if isinstance(part, list) else [part]:
            content, kind = _part(one, encoding, files, name)
            file = f'; filename="{_quoted(name)}"' if files else ""
            head = f'Content-Disposition: form-data; name="{_quoted(name)}"{file}\r\n'
            parts.append((f"{head}Content-Type: {kind}\r\n\r\n", content))
        shown[name] = "(a file)" if files else part
    # Made of the content, so that the same call makes the same bytes.
    boundary = "pegboard-" + sha256(b"".join(content for _, content in parts)).hexdigest()[:24]
    whole = b"".join(f"--{boundary}\r\n{head}".encode() + content + b"\r\n" for head, content in parts)
    kind = body.media_type.partition(";")[0]
    return Payload(whole + f"--{boundary}--\r\n".encode(), f"{kind}; boundary={boundary}", shown)


def _part(value: Json, encoding: Encoding, file: bool, name: str) -> tuple[bytes, str]:
    if file:
        return decoded(value, name), _concrete(encoding.content_type)
    if isinstance(value, dict | list) or (encoding.content_type and "json" in encoding.content_type):
        return _utf8(json.dumps(value, ensure_ascii=False), name), encoding.content_type or "application/json"
    return _utf8(text_of(value), name), encoding.content_type or "text/plain; charset=utf-8"


def _said(schema: Schema) -> str | None:
    """The media type that a schema of encoded bytes gives them."""
    kind = schema.get("contentMediaType")
    return kind if isinstance(kind, str) and "contentEncoding" in schema else None


def _concrete(content_type: str | None) -> str:
    return content_type if content_type and "*" not in content_type else "application/octet-stream"


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def is_binary(schema: Schema) -> bool:
    """Whether a schema is of a text that stands for bytes."""
    return "contentEncoding" in schema
