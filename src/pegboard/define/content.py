"""Results that are not JSON: what a tool returns for a picture, a sound, a file or a link (MCP content blocks)."""

import mimetypes
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from pegboard.schema.types import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Text:
    """A text for the model."""

    text: str

    def block(self) -> JsonObject:
        """A `text` block."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """A picture.

    Parameters:
        data: its bytes.
        mime_type: its type; read from the bytes where not given.
    """

    data: bytes
    mime_type: str | None = None

    def block(self) -> JsonObject:
        """An `image` block."""
        mime_type = self.mime_type or sniff(self.data) or "image/png"
        return {"type": "image", "data": b64encode(self.data).decode(), "mimeType": mime_type}


@dataclass(frozen=True, slots=True)
class Audio:
    """A sound; parameters as for `Image`."""

    data: bytes
    mime_type: str = "audio/wav"

    def block(self) -> JsonObject:
        """An `audio` block."""
        return {"type": "audio", "data": b64encode(self.data).decode(), "mimeType": self.mime_type}


@dataclass(frozen=True, slots=True)
class File:
    """A document, embedded in the answer.

    Parameters:
        uri: what it is called, such as `file:///report.csv`.
        data: its text or bytes.
        mime_type: its type; from the name's ending where not given.
    """

    uri: str
    data: str | bytes
    mime_type: str | None = None

    def block(self) -> JsonObject:
        """A `resource` block."""
        mime_type = self.mime_type or mimetypes.guess_type(self.uri)[0]
        named = {"uri": self.uri, **({"mimeType": mime_type} if mime_type else {})}
        if isinstance(self.data, str):
            return {"type": "resource", "resource": {**named, "text": self.data}}
        return {"type": "resource", "resource": {**named, "blob": b64encode(self.data).decode()}}

    @classmethod
    def read(cls, path: str | Path) -> "File":
        """The file at a path, as bytes."""
        place = Path(path)
        return cls(place.absolute().as_uri(), place.read_bytes())


@dataclass(frozen=True, slots=True)
class Link:
    """A document that the client may fetch.

    Parameters:
        uri: where it is.
        name: what it is called.
        description: what it is.
        mime_type: its type.
    """

    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None

    def block(self) -> JsonObject:
        """A `resource_link` block."""
        more = {"description": self.description, "mimeType": self.mime_type}
        known = {key: value for key, value in more.items() if value is not None}
        return {"type": "resource_link", "uri": self.uri, "name": self.name, **known}


Content: TypeAlias = Text | Image | Audio | File | Link
"""What a tool may return beside JSON."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


def sniff(data: bytes) -> str | None:
    """The type of well-known binary formats, from their first bytes."""
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE"):
        return "image/webp" if data[8:12] == b"WEBP" else "audio/wav"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


def blocks_of(value: Any) -> tuple[JsonObject, ...] | None:
    """The content blocks that a returned value stands for, or None where it is plain data.

    A value is content if it is one of the classes here, a block of the MCP SDK, bytes, or a list with one of these.
    """
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        found = [_block(item) for item in items]
        if not any(found):
            return None
        return tuple(block or _as_text(item) for block, item in zip(found, items, strict=True))
    block = _block(value)
    return None if block is None else (block,)


def _block(value: Any) -> JsonObject | None:
    if isinstance(value, bytes):
        return _from_bytes(value)
    if isinstance(value, (str, int, float, dict)) or value is None:
        return None
    if isinstance(value, Content):
        return value.block()
    return _from_sdk(value)


def _from_bytes(data: bytes) -> JsonObject:
    kind = sniff(data)
    if kind is not None and kind.startswith("image/"):
        return Image(data, kind).block()
    return File("pegboard://result", data, kind or "application/octet-stream").block()


_SDK_TYPES = {"text", "image", "audio", "resource", "resource_link"}


def _from_sdk(value: Any) -> JsonObject | None:
    """A block of the MCP SDK, told by its module and shape, so that the SDK need not be there."""
    if not type(value).__module__.partition(".")[0].startswith("mcp") or getattr(value, "type", None) not in _SDK_TYPES:
        return None
    dumped: Any = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return cast("JsonObject", dumped) if isinstance(dumped, Mapping) else None


def _as_text(item: Any) -> JsonObject:
    if isinstance(item, str):
        return Text(item).block()
    return Text(_json(item)).block()


def _json(item: Any) -> str:
    from pydantic_core import to_json

    value: Json = to_json(item, by_alias=True, bytes_mode="base64", fallback=str)
    return value.decode()
