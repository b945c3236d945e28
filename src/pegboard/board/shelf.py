"""The board's assets: bytes of one principal, kept in the store, a handle in their place."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio.to_thread

from pegboard.board.memory import Memory
from pegboard.core import Asset, AssetScheme, Failure, FailureCode, Result, Session
from pegboard.core.asset import asset_id, expired_asset, unknown_asset
from pegboard.errors import StoreError

if TYPE_CHECKING:
    from pegboard.store.asset import Owned

LARGEST = 100_000_000
"""Bytes of one asset at most."""
READ_CHARS = 20_000
"""Characters that one reading gives at most."""

_READ: Mapping[AssetScheme, frozenset[str]] = {
    AssetScheme.PEGBOARD: frozenset({AssetScheme.PEGBOARD}),
    AssetScheme.RUNTYPE: frozenset(AssetScheme),
}


class Assets:
    """Keeps assets in the board's store (it is a `core.Shelf`).

    Parameters:
        memory: the board's memory.
        scheme: how handles are written; with Runtype's, ours are read as well.
        days: how long they are kept.
        most_chars: characters that one reading gives at most.
    """

    def __init__(
        self,
        memory: Memory,
        scheme: AssetScheme = AssetScheme.PEGBOARD,
        *,
        days: float = 7,
        most_chars: int = READ_CHARS,
    ) -> None:
        self.scheme = scheme
        self._memory, self._days, self._most_chars = memory, days, most_chars

    def id_of(self, text: str) -> str | None:
        """The id of a handle that this board reads; see `core.asset.asset_id`."""
        return asset_id(text, _READ[self.scheme])

    async def put(self, data: bytes, media_type: str, owner: str = "local") -> Asset:
        """Keep bytes for an owner.

        Raises:
            StoreError: they are too many, or the store cannot be written.
        """
        if len(data) > LARGEST:
            raise StoreError(f"{len(data)} bytes are more than an asset may have ({LARGEST}).")
        store = self._memory
        return await anyio.to_thread.run_sync(
            lambda: store.store.put_asset(data, media_type, owner=owner, days=self._days)
        )

    async def get(self, handle: str, owner: str = "local") -> tuple[Asset, bytes] | Failure:
        """What a handle stands for, or why this owner cannot have it."""
        id = self.id_of(handle)
        if not id:
            return unknown_asset(handle)
        held = await anyio.to_thread.run_sync(lambda: self._memory.store.asset(id, owner=owner))
        if held is None:
            return unknown_asset(handle)
        return expired_asset(handle, held.asset.expires) if held.data is None else (held.asset, held.data)

    async def listed(self, owner: str | None = None) -> "list[Owned]":
        """The assets of an owner, or of all, the one that is kept longest first; what is gone is named so."""
        return await anyio.to_thread.run_sync(lambda: self._memory.store.assets(owner=owner))

    async def remove(self, handle: str, owner: str = "local") -> Failure | None:
        """Drop an asset for good; else why that cannot be."""
        id = self.id_of(handle)
        done = bool(id) and await anyio.to_thread.run_sync(
            lambda: self._memory.store.remove_asset(id or "", owner=owner)
        )
        return None if done else unknown_asset(handle)

    async def read(self, handle: str, offset: int, limit: int, session: Session) -> Result:
        """A part of a text asset, with where it stands.

        Parameters:
            handle: its handle.
            offset: the first character, counted from 0.
            limit: how many characters.
            session: who reads.
        """
        found = await self.get(handle, session.principal)
        if isinstance(found, Failure):
            return Result(failure=found)
        asset, data = found
        text = _text(asset, data)
        if text is None:
            return Result(failure=_binary(handle, asset))
        part = text[offset : offset + min(limit, self._most_chars)]
        end = offset + len(part)
        rest = f"; go on with offset {end}" if end < len(text) else ""
        foot = f"(characters {offset} to {end} of {len(text)}, {asset.media_type}{rest})"
        return Result(content=({"type": "text", "text": f"{part}\n\n{foot}"},))


def _text(asset: Asset, data: bytes) -> str | None:
    if not asset.is_text:
        return None
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def _binary(handle: str, asset: Asset) -> Failure:
    return Failure(
        FailureCode.INVALID_ARGUMENTS,
        f"{handle} is {asset.media_type} of {asset.size} bytes, not text.",
        where="/handle",
        next_step="Give the handle to a tool whose parameter takes base64.",
    )
