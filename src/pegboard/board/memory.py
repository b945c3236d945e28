"""What a board remembers between runs: listings and wire names, in the store."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

import anyio.to_thread

from pegboard.board.attached import Known
from pegboard.catalog import AliasTable
from pegboard.catalog.plain import spec_from_json, spec_to_json
from pegboard.config import Config, SourceConfig
from pegboard.core import AssetScheme, Call, Listing, Result, Tool, ToolName
from pegboard.core.asset import asset_id
from pegboard.core.bulk import no_collection
from pegboard.invoke.size import Keep, Kept
from pegboard.store.glance import Glance, glance
from pegboard.store.published import BOARD, Published, Reference
from pegboard.store.room import Room
from pegboard.store.stored import StoredListing

if TYPE_CHECKING:
    from pegboard.store import Store


_PAGE_FOOT = 64
"""Bytes for the line under a page."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a board knows from the last time.

    Parameters:
        sources: what is known of each source.
        aliases: the wire names.
        chosen: which published version of the board is used, if any.
    """

    sources: Mapping[str, Known]
    aliases: Mapping[ToolName, str]
    chosen: str | None = None


class Memory:
    """The store, as the board uses it.

    Parameters:
        location: the store's folder, or ":memory:".
        sources: the tables of the sources; a listing made under another table is not used.
        reserved: wire names that no tool may take.
        keep_days: how long large results are kept.
        room: how much there may be of assets.
    """

    def __init__(
        self,
        location: Path | str,
        sources: Mapping[str, SourceConfig],
        reserved: Iterable[str],
        *,
        keep_days: float = 30,
        room: Room = Room(),
    ) -> None:
        self._location, self._keep_days, self._room = location, keep_days, room
        self._store: Store | None = None
        self._lock = Lock()
        self._prints = {name: source.fingerprint for name, source in sources.items()}
        self._reserved = frozenset(reserved)

    @classmethod
    def of(cls, config: Config, reserved: Iterable[str]) -> Self:
        """What the board of a config remembers.

        Parameters:
            config: the config.
            reserved: wire names that no tool may take.
        """
        table = config.board
        room = Room(table.asset_mb * 1_000_000, table.asset_count)
        return cls(table.store, config.sources, reserved, keep_days=table.keep_days, room=room)

    def know(self, source: SourceConfig) -> None:
        """Remember what this source lists, from now on."""
        self._prints[source.name] = source.fingerprint

    def forget(self, name: str) -> None:
        """Forget a source, and what it listed. Blocks."""
        if self._prints.pop(name, None) is not None:
            self.store.forget_listing(name)

    @property
    def folder(self) -> Path | None:
        """The store's folder; None for a store in memory."""
        return self._location if isinstance(self._location, Path) else None

    @property
    def store(self) -> "Store":
        """The store, opened when it is first needed: a start with a sound catalog does without. Blocks; thread-safe."""
        with self._lock:
            if self._store is None:
                from pegboard.store import Store

                self._store = Store.open(self._location, keep_days=self._keep_days)
                self._store.room = self._room
            return self._store

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the store, as far as it was needed."""
        return tuple(self._store.warnings) if self._store is not None else ()

    def recall(self) -> Recalled:
        """What is known from the last time."""
        with no_collection():
            seen = glance(self.folder) if self.folder is not None else None
            if seen is None:
                store = self.store
                seen = Glance(store.listings(), store.aliases(), store.chosen(), store.held())
            known = {
                name: found
                for name, stored in seen.listings.items()
                if self._prints.get(name) == stored.fingerprint
                and (found := _known(stored, seen.held.get(name, frozenset()))) is not None
            }
        return Recalled(known, seen.aliases, seen.chosen)

    async def keep(self, name: str, listing: Listing, error: str | None) -> None:
        """Keep what a source listed, or why it could not be listed."""
        if name in self._prints:
            await anyio.to_thread.run_sync(self._keep, name, listing, error)

    async def aliases(self, names: Iterable[ToolName]) -> Mapping[ToolName, str]:
        """Wire names for these tools too, in one step with whoever else uses the store."""
        wanted = tuple(names)

        def extended(before: Mapping[ToolName, str]) -> Mapping[ToolName, str]:
            return AliasTable(before).extend(wanted, reserved=self._reserved).wire

        return await anyio.to_thread.run_sync(lambda: self.store.update_aliases(extended))

    def version(self, name: str) -> Published | None:
        """A published version of the board, or None."""
        return self.store.version(Reference(version=name))

    def versions(self) -> list[Published]:
        """The published versions of the board without their content, the oldest first."""
        return self.store.versions(BOARD)

    def publish(self, new: Published) -> Published:
        """Keep a version for good. Raises `StoreError` where nothing outlives this process."""
        return self.store.publish(new)

    async def page(self, handle: str, number: int, owner: str) -> str | None:
        """One page of a kept result, counted from 1, with what there is beside it."""
        id = asset_id(handle)
        if not id:
            return None
        page = await anyio.to_thread.run_sync(lambda: self.store.result_page(id, number - 1, owner=owner))
        return None if page is None else f"{page.text}\n\n(page {number} of {page.pages})"

    def keeper(self, limit: int, scheme: AssetScheme = AssetScheme.PEGBOARD) -> Keep:
        """Keeps the whole of answers, in pages of which each is within a limit.

        Parameters:
            limit: bytes.
            scheme: how their handles are written.
        """
        page_chars = max(limit // 4 - _PAGE_FOOT, 256)  # a character takes four bytes at most

        async def keep(call: Call, text: str) -> Kept:
            owner = call.session.principal
            handle = await anyio.to_thread.run_sync(
                lambda: f"{scheme}://{self.store.put_result(text, owner=owner, page_chars=page_chars)}"
            )
            last = max(-(-len(text) // page_chars), 1)
            return Kept(handle, f'Read the whole with result_read: id "{handle}", pages 1 to {last}.')

        return keep

    def _keep(self, name: str, listing: Listing, error: str | None) -> None:
        self.store.save_listing(
            StoredListing(
                source=name,
                fingerprint=self._prints[name],
                tools=tuple(spec_to_json(tool.spec) for tool in listing.tools),
                notes=listing.notes,
                instructions=listing.instructions,
                error=error,
            )
        )


def _known(stored: StoredListing, held: frozenset[str] = frozenset()) -> Known | None:
    """The stored listing, or None where it is another version's: the source is then listed anew."""
    try:
        tools = tuple(Tool(spec_from_json(row), _not_bound) for row in stored.tools)
    except ValueError:
        return None
    back = frozenset(tool.name for tool in tools if str(tool.name) in held) if held else frozenset[ToolName]()
    return Known(Listing(tools, stored.notes, stored.instructions), stored.error, back)


async def _not_bound(call: Call) -> Result:
    raise AssertionError(f"{call.tool} is bound to its source when it is attached")
