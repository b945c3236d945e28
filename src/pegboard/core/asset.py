"""Assets: bytes that are kept aside and stand in answers and arguments as a short handle."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from pegboard.core.call import Failure, FailureCode
from pegboard.schema.types import Json


class AssetScheme(StrEnum):
    """How handles are written: ours, or Runtype's for agents and data that expect those."""

    PEGBOARD = "pegboard-asset"
    RUNTYPE = "runtype-asset"


_HANDLE = re.compile(r"(pegboard|runtype)-asset://(\S*)", re.ASCII)
_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Asset:
    """Something kept aside, without its bytes.

    Parameters:
        id: identifies bytes and media type (SHA-256 in hexadecimal), so that the same thing has the same handle.
        media_type: such as `image/png`.
        size: bytes.
        expires: Unix time in seconds after which it is gone.
    """

    id: str
    media_type: str
    size: int
    expires: float

    def handle(self, scheme: AssetScheme = AssetScheme.PEGBOARD) -> str:
        """The text that stands for it."""
        return f"{scheme}://{self.id}"

    @property
    def is_text(self) -> bool:
        """Whether it can be read as text."""
        kind = self.media_type.partition(";")[0].strip().lower()
        return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))

    def to_json(self, scheme: AssetScheme = AssetScheme.PEGBOARD) -> dict[str, Json]:
        """As plain data, for reports."""
        return {
            "handle": self.handle(scheme),
            "media_type": self.media_type,
            "size": self.size,
            "expires": _date(self.expires),
        }

    def said(self, scheme: AssetScheme = AssetScheme.PEGBOARD) -> str:
        """What a model reads of it."""
        how = "Read it with asset_read, or give" if self.is_text else "Give"
        return (
            f"[{self.handle(scheme)}: {self.media_type}, {self.size} bytes, kept until {_date(self.expires)}. "
            f"{how} this handle to a parameter that takes base64.]"
        )


_TEXTS = frozenset(
    {"application/json", "application/xml", "application/yaml", "application/x-ndjson", "application/jsonl"}
)


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def asset_id(handle: str, schemes: Mapping[str, object] | frozenset[str] = frozenset(AssetScheme)) -> str | None:
    """What a handle refers to: its id, the empty text where it has the form and no sound id, None where it is none.

    Parameters:
        handle: any text.
        schemes: the schemes that are read.
    """
    found = _HANDLE.fullmatch(handle)
    if found is None or f"{found[1]}-asset" not in schemes:
        return None
    return found[2] if _ID.fullmatch(found[2]) else ""


class Shelf(Protocol):
    """Keeps assets, each for its owner."""

    @property
    def scheme(self) -> AssetScheme:
        """How handles are written."""
        ...

    def id_of(self, text: str) -> str | None:
        """The id of a handle that this board reads; see `asset_id`."""
        ...

    async def put(self, data: bytes, media_type: str, owner: str) -> Asset:
        """Keep bytes. Raises `StoreError` where that cannot be."""
        ...

    async def get(self, handle: str, owner: str) -> tuple[Asset, bytes] | Failure:
        """What a handle stands for, or why this owner cannot have it."""
        ...


def unknown_asset(handle: str) -> Failure:
    """The failure of a handle that stands for nothing of the caller's.

    It does not say whether another owner has such an asset: else anyone could find out what others keep.
    """
    return Failure(
        FailureCode.ASSET_UNKNOWN,
        f"You have no asset {handle[:120]!r}: it is made up, miswritten, or another owner's.",
        next_step="Copy the handle exactly as a result gave it to you, or call the tool again that made it.",
        details={"handle": handle[:200]},
    )


def expired_asset(handle: str, expires: float) -> Failure:
    """The failure of a handle whose time is over."""
    return Failure(
        FailureCode.ASSET_EXPIRED,
        f"The asset {handle!r} was kept until {_date(expires)} and is gone.",
        next_step="Call the tool again that made it, and use the new handle.",
        details={"handle": handle},
    )
