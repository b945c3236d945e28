"""What one source listed, as the store keeps it: data alone, without a database."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pegboard.core import Note, NoteKind
from pegboard.schema.types import JsonObject


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


def encode(listing: StoredListing) -> str:
    """The text of the column `listing`."""
    notes = [{**asdict(note), "kind": note.kind.value} for note in listing.notes]
    whole = {"tools": list(listing.tools), "notes": notes, "instructions": listing.instructions, "error": listing.error}
    return json.dumps(whole)


def decode(source: str, fingerprint: str, saved: float, text: str) -> StoredListing:
    """A row of the table `catalog`.

    Raises:
        ValueError: it is not one, or damaged.
    """
    try:
        found: Mapping[str, Any] = json.loads(text)
        notes = tuple(Note(**{**note, "kind": NoteKind(note["kind"])}) for note in found["notes"])
        return StoredListing(
            source=source,
            fingerprint=fingerprint,
            tools=tuple(found["tools"]),
            notes=notes,
            instructions=found["instructions"],
            saved=saved,
            error=found.get("error"),
        )
    except (KeyError, TypeError) as problem:
        raise ValueError(f"The stored listing of {source} is damaged: {problem}") from problem
