"""The stored catalog: what each source listed last, so that a board answers before its servers have started."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, delete, select

from pegboard.core import Note, NoteKind
from pegboard.schema.types import JsonObject
from pegboard.store.tables import CATALOG


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredListing:
    """What one source listed, as it is kept.

    Parameters:
        source: the source's name.
        fingerprint: of the config that it was listed under; a listing with another one is out of date.
        tools: the tools as plain JSON objects, in order.
        notes: what was repaired or set aside.
        instructions: what the source said of itself.
        saved: Unix time in seconds.
        error: why it could not be listed, where it never was; it has no tools then.
    """

    source: str
    fingerprint: str
    tools: tuple[JsonObject, ...]
    notes: tuple[Note, ...] = ()
    instructions: str = ""
    saved: float = 0.0
    error: str | None = None


def read_listings(connection: Connection) -> Iterator[StoredListing | str]:
    """Every stored listing; for one that cannot be read, its source's name."""
    for source, fingerprint, saved, text in connection.execute(select(CATALOG).order_by(CATALOG.c.source)):
        try:
            yield StoredListing(source=source, fingerprint=fingerprint, saved=saved, **_decode(text))
        except (ValueError, KeyError, TypeError):
            yield source


def write_listing(connection: Connection, listing: StoredListing) -> None:
    """Put a source's listing in the place of the one before."""
    forget_listing(connection, listing.source)
    row = {"source": listing.source, "fingerprint": listing.fingerprint, "saved": listing.saved}
    connection.execute(CATALOG.insert().values(**row, listing=_encode(listing)))


def forget_listing(connection: Connection, source: str) -> None:
    """Drop what a source listed."""
    connection.execute(delete(CATALOG).where(CATALOG.c.source == source))


def _encode(listing: StoredListing) -> str:
    notes = [{**asdict(note), "kind": note.kind.value} for note in listing.notes]
    whole = {"tools": list(listing.tools), "notes": notes, "instructions": listing.instructions, "error": listing.error}
    return json.dumps(whole)


def _decode(text: str) -> dict[str, Any]:
    found: Mapping[str, Any] = json.loads(text)
    notes = tuple(Note(**{**note, "kind": NoteKind(note["kind"])}) for note in found["notes"])
    return {
        "tools": tuple(found["tools"]),
        "notes": notes,
        "instructions": found["instructions"],
        "error": found.get("error"),
    }
