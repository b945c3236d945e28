"""Base64 in texts: what it holds, told by a data URL, by a declaration, or by the first bytes."""

from base64 import b64decode
from binascii import Error
from dataclasses import dataclass

from pegboard.schema.types import JsonObject

OCTETS = "application/octet-stream"
MEDIA_KEYS = ("mimeType", "mime_type", "mediaType", "media_type", "contentType", "content_type")
"""Keys under which objects say of which media type the base64 beside them is."""

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"\x7fELF", "application/x-executable"),
    (b"\0asm", "application/wasm"),
)
"""The first bytes of files of a kind (the IANA registrations and formats' own specifications)."""


@dataclass(frozen=True, slots=True)
class Binary:
    """What a base64 text holds.

    Parameters:
        data: the bytes.
        media_type: what they are.
    """

    data: bytes
    media_type: str


def binary_of(text: str, declared: str | None = None) -> Binary | None:
    """The bytes that a text stands for, or None where it is just a text.

    Parameters:
        text: any text.
        declared: the media type, where something beside the text says that it is base64 of it.
    """
    if text.startswith("data:"):
        head, comma, body = text[5:].partition(",")
        data = decode(body) if comma and head.endswith(";base64") else None
        return None if data is None else Binary(data, head.partition(";")[0] or "text/plain")
    if declared is None and sniff(decode(text[:32]) or b"") is None:
        return None
    data = decode(text)
    return None if data is None else Binary(data, declared if declared not in (None, OCTETS) else sniff(data) or OCTETS)


def decode(text: str) -> bytes | None:
    """The bytes of a base64 text, line breaks allowed; None where it is none."""
    try:
        return b64decode("".join(text.split()), validate=True)
    except (Error, ValueError):
        return None


def sniff(data: bytes) -> str | None:
    """The media type that the first bytes tell, or None."""
    if data[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12])
    if data[4:8] == b"ftyp":
        return "video/mp4"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


def declared_beside(holder: JsonObject) -> str | None:
    """The media type that an object says of the bytes that it holds, or None; texts need no base64."""
    found = next((holder[key] for key in MEDIA_KEYS if isinstance(holder.get(key), str)), "")
    return found if "/" in found and not found.startswith("text/") and "json" not in found else None
