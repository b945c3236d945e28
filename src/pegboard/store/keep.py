"""The board's store: catalog, wire names and large results. Trouble with it never stops a board from serving."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError

from pegboard.core import Asset, ToolName
from pegboard.errors import StoreError
from pegboard.store.alias import read_aliases, write_aliases
from pegboard.store.asset import (
    PAGE_CHARS,
    Held,
    Owned,
    Page,
    forget_assets,
    list_assets,
    make_room,
    page_of,
    read_asset,
    remove_asset,
    write_asset,
)
from pegboard.store.engine import bring_up_to_date, file_engine, file_id, is_broken, memory_engine, set_aside, writing
from pegboard.store.findings import KeptFinding, mark_applied, read_findings, write_findings
from pegboard.store.glance import FILE_NAME, by_source
from pegboard.store.listing import forget_listing, read_listings, write_listing
from pegboard.store.published import BOARD, Published, Reference
from pegboard.store.room import Room
from pegboard.store.stored import StoredListing
from pegboard.store.tables import PINS
from pegboard.store.version import choose, read_chosen, read_version, read_versions, write_version

T = TypeVar("T")
KEEP_DAYS = 30
ASSET_DAYS = 7
_DAY = 86_400.0


class Store:
    """What a board remembers. Make it with `Store.open`; several processes may share one.

    Where the file cannot be written, is damaged or is a newer Pegboard's, the store goes on in memory or in a new
    file and says so in `warnings`. All methods are safe to call from any thread.

    Parameters:
        path: the database file; None for memory.
        clock: gives the Unix time in seconds.
    """

    lock = ""
    """What a statement says so that it waits for whoever changes a row: nothing, SQLite has one writer at a time."""

    def __init__(
        self, path: Path | None, *, keep_days: float = KEEP_DAYS, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = path
        self.keep_days = keep_days
        self.room = Room()
        self.warnings: list[str] = []
        self.clock = clock
        self._lock = threading.RLock()
        self._file_id: int | None = None
        self._engine = self._open()

    @classmethod
    def open(
        cls, location: Path | str, *, keep_days: float = KEEP_DAYS, clock: Callable[[], float] = time.time
    ) -> Self:
        """Open the store of a board, making it where there is none.

        Parameters:
            location: the store's folder, or ":memory:".
            keep_days: how long large results are kept.
            clock: gives the Unix time in seconds.
        """
        path = None if location == ":memory:" else Path(location) / FILE_NAME
        return cls(path, keep_days=keep_days, clock=clock)

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def listings(self) -> dict[str, StoredListing]:
        """What each source listed last, by the source's name. Rows that cannot be read are left out and reported."""
        found = self.read(lambda connection: list(read_listings(connection)), [])
        for source in (item for item in found if isinstance(item, str)):
            self._warn(f"The stored listing of {source} cannot be read; it will be listed anew.")
        return {item.source: item for item in found if not isinstance(item, str)}

    def save_listing(self, listing: StoredListing) -> None:
        """Keep what a source listed, in the place of what it listed before."""
        stamped = replace(listing, saved=listing.saved or self.clock())
        self.write(lambda connection: write_listing(connection, stamped), None)

    def forget_listing(self, source: str) -> None:
        """Drop what a source listed."""
        self.write(lambda connection: forget_listing(connection, source), None)

    def aliases(self) -> dict[ToolName, str]:
        """Wire name by full name."""
        return self.read(read_aliases, {})

    def update_aliases(
        self, change: Callable[[Mapping[ToolName, str]], Mapping[ToolName, str]]
    ) -> Mapping[ToolName, str]:
        """Change the wire names in one step that no other process can come between.

        Parameters:
            change: from the names that are stored to the names that shall be.
        """

        def step(connection: Connection) -> Mapping[ToolName, str]:
            before = read_aliases(connection)
            after = change(before)
            write_aliases(connection, before, after)
            return after

        kept = self.write(step, None)
        return change(self.aliases()) if kept is None else kept

    def put_asset(
        self, data: bytes, media_type: str, *, owner: str = "local", days: float = ASSET_DAYS, page_chars: int = 0
    ) -> Asset:
        """Keep bytes aside, and drop what has expired.

        Parameters:
            data: the bytes.
            media_type: what they are.
            owner: the principal who may have them.
            days: how long they are kept.
            page_chars: how many characters a page has, where it is a text to be read in pages.

        Raises:
            StoreError: they could not be kept.
        """
        now = self.clock()

        def step(connection: Connection) -> Asset:
            forget_assets(connection, now=now)
            make_room(connection, len(data), self.room, now=now)
            expires = now + days * _DAY
            return write_asset(connection, data, media_type, owner=owner, expires=expires, page_chars=page_chars)

        kept = self.write(step, None)
        if kept is None:
            raise StoreError(
                "The result could not be kept.", where=str(self.path), next_step="See `pegboard doctor` for the reason."
            )
        return kept

    def asset(self, id: str, *, owner: str = "local") -> Held | None:
        """An asset of this owner, without its bytes where it has expired; None where the owner has none such."""
        now = self.clock()
        return self.read(lambda connection: read_asset(connection, id, owner=owner, now=now), None)

    def assets(self, *, owner: str | None = None) -> list[Owned]:
        """The assets of an owner, or of all, the one that is kept longest first; what is gone is named so."""
        now = self.clock()
        return self.read(lambda connection: list_assets(connection, owner=owner, now=now), [])

    def remove_asset(self, id: str, *, owner: str = "local") -> bool:
        """Drop an asset of an owner for good; False where this owner has none such."""
        return self.write(lambda connection: remove_asset(connection, id, owner=owner), False)

    def put_result(self, text: str, *, owner: str = "local", page_chars: int = PAGE_CHARS) -> str:
        """Keep a large text for `keep_days`, to be read in pages. Raises `StoreError` like `put_asset`.

        Returns:
            Its id.
        """
        data = text.encode("utf-8", "surrogatepass")
        return self.put_asset(data, _kind_of(text), owner=owner, days=self.keep_days, page_chars=page_chars).id

    def result_page(self, id: str, number: int = 0, *, owner: str = "local") -> Page | None:
        """One page of a large text, or None where there is no such page for this owner."""
        held = self.asset(id, owner=owner)
        return None if held is None else page_of(held, number)

    def findings(self) -> list[KeptFinding]:
        """What insight found, in the order of its reports."""
        return self.read(read_findings, [])

    def save_findings(self, found: Iterable[KeptFinding]) -> None:
        """Keep the findings of a report; what was written for one that is known stays known."""
        rows = list(found)
        self.write(lambda connection: write_findings(connection, rows), None)

    def mark_finding(self, id: str, applied: Mapping[str, Any] | None) -> None:
        """Remember what was written for a finding, or that it was taken back."""
        self.write(lambda connection: mark_applied(connection, id, applied), None)

    def held(self) -> dict[str, frozenset[str]]:
        """By source, the full names of the tools whose definition has changed and waits to be looked at."""
        query = select(PINS.c.source, PINS.c.name).where(PINS.c.held.is_not(None))
        return self.read(lambda connection: by_source((row[0], row[1]) for row in connection.execute(query)), {})

    def read(self, step: Callable[[Connection], T], fallback: T) -> T:
        """What a step finds in one transaction, or `fallback` where the store cannot be read (see `warnings`)."""
        return self._guarded(step, fallback, write=False)

    def write(self, step: Callable[[Connection], T], fallback: T) -> T:
        """Run a step that no other process can come between; `fallback` where the store cannot be written."""
        return self._guarded(step, fallback, write=True)

    def statement(self, sql: str, values: Sequence[Any]) -> int | None:
        """Run one statement as a step of its own, past SQLAlchemy, which takes several times as long as SQLite.

        Returns:
            How many rows it changed; None where the store cannot be written.
        """
        with self._lock:
            try:
                with closing(self._engine.raw_connection()) as pooled:
                    connection: Any = pooled.driver_connection
                    return connection.execute(sql, values).rowcount
            except sqlite3.Error:  # `write` tells what is wrong, and mends what it can
                return self.write(lambda connection: connection.exec_driver_sql(sql, tuple(values)).rowcount, None)

    def publish(self, new: Published) -> Published:
        """Keep a version for good; one of the same name that is kept already is returned as it is.

        Raises:
            StoreError: it could not be kept beyond this process.
        """
        kept = self.write(lambda connection: write_version(connection, replace(new, published=self.clock())), None)
        if kept is None or not self._lasts:
            reason = self.warnings[-1] if self.warnings else "The store is in memory."
            raise StoreError(f"Nothing was published. {reason}", where="board.store", next_step="Give it a folder.")
        return kept

    def versions(self, kind: str | None = None, name: str | None = None) -> list[Published]:
        """The published versions without their content, the oldest first."""
        return self.read(lambda connection: list(read_versions(connection, kind, name)), [])

    def version(self, which: Reference) -> Published | None:
        """One published version with its content, or None."""
        return self.read(lambda connection: read_version(connection, which), None)

    def chosen(self, kind: str = BOARD, name: str = "") -> str | None:
        """Which version is used, or None."""
        return self.read(lambda connection: read_chosen(connection, kind, name), None)

    def choose(self, version: str | None, kind: str = BOARD, name: str = "") -> None:
        """Use a published version from now on; None follows the config again."""
        self.write(lambda connection: choose(connection, kind, name, version), None)

    @property
    def _lasts(self) -> bool:
        return self._engine.url.database not in (None, "", ":memory:")

    def _open(self) -> Engine:
        if self.path is None:
            engine = memory_engine()
            bring_up_to_date(engine)
            return engine
        try:
            return self._open_file(self.path)
        except (OSError, DBAPIError) as problem:
            return self._open_memory(self.path, f"cannot be written ({_reason(problem)})")

    def _open_file(self, path: Path) -> Engine:
        engine = file_engine(path)
        self._file_id = file_id(path)
        try:
            unknown = bring_up_to_date(engine)
        except DBAPIError as problem:
            engine.dispose()
            if not is_broken(problem):
                raise
            self._rebuild(path)
            engine = file_engine(path)
            self._file_id = file_id(path)
            unknown = bring_up_to_date(engine)
        if unknown:
            engine.dispose()
            return self._open_memory(None, f"was written by a newer Pegboard (it knows {', '.join(unknown)})")
        return engine

    def _open_memory(self, copy_of: Path | None, reason: str) -> Engine:
        self._warn(f"The store {self.path} {reason}: this process keeps everything in memory.")
        engine = memory_engine(copy_of)
        bring_up_to_date(engine)
        return engine

    def _rebuild(self, path: Path) -> None:
        if file_id(path) != self._file_id:
            return  # another process has set it aside already
        aside = set_aside(path)
        self._warn(f"The store {path} was damaged. It is set aside as {aside.name}, and a new one is being filled.")

    def _guarded(self, step: Callable[[Connection], T], fallback: T, *, write: bool) -> T:
        with self._lock:
            try:
                return self._run(step, write)
            except DBAPIError as problem:
                if self.path is None or not is_broken(problem):
                    self._warn(f"The store {self.path} cannot be {'written' if write else 'read'}: {_reason(problem)}.")
                    return fallback
                self._engine.dispose()
                self._rebuild(self.path)
                self._engine = self._open()
                return self._run(step, write)

    def _run(self, step: Callable[[Connection], T], write: bool) -> T:
        with writing(self._engine) if write else self._engine.connect() as connection:
            return step(connection)

    def _warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)


def _kind_of(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return "text/plain"
    return "application/json"


def _reason(problem: OSError | DBAPIError) -> str:
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem.orig)
