"""A glance into a store, for a quick start: importing SQLAlchemy takes as long as all the rest of it.

Only a store in the usual state is read like this; of any other the store itself has more to say.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from pegboard.core import ToolName
from pegboard.store.published import BOARD
from pegboard.store.stored import StoredListing, decode

FILE_NAME = "board.db"
"""The database in the store's folder."""

STEPS = (
    "1: catalog, aliases, results",
    "2: assets",
    "3: findings",
    "4: requests, grants, pins",
    "5: versions, chosen",
    "6: chain runs, checkpoints",
    "7: code runs, code calls",
)
"""The names of the migrations, in order."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What a store holds that a start needs.

    Parameters:
        listings: what each source listed last.
        aliases: wire name by full name.
        chosen: which version of the board is used, where one is.
        held: by source, the full names of the tools that are held back.
    """

    listings: Mapping[str, StoredListing]
    aliases: Mapping[ToolName, str]
    chosen: str | None = None
    held: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


def glance(folder: Path) -> Glance | None:
    """Read a store's listings and wire names; None where it is not there, not up to date, or damaged in any way."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            return _read(connection)
    except (sqlite3.Error, ValueError, OSError):
        return None


def _read(connection: sqlite3.Connection) -> Glance | None:
    connection.execute("BEGIN")
    steps = {name for (name,) in connection.execute("SELECT name FROM migrated")}
    if steps != set(STEPS):
        return None
    listings = connection.execute("SELECT source, fingerprint, saved, listing FROM catalog ORDER BY source")
    found = {row[0]: decode(*row) for row in listings}
    aliases = connection.execute("SELECT namespace, name, version, wire FROM aliases ORDER BY namespace, name, version")
    chosen = connection.execute("SELECT version FROM chosen WHERE kind = ? AND name = ''", (BOARD,)).fetchone()
    wire_names = {ToolName(space, name, version or None): wire for space, name, version, wire in aliases}
    held = by_source(connection.execute("SELECT source, name FROM pins WHERE held IS NOT NULL"))
    return Glance(found, wire_names, chosen[0] if chosen else None, held)


def chosen_versions(location: Path | str) -> list[tuple[str, str, str]]:
    """Which versions of single chains and agents are used, as kind, name and version; none where that cannot be read.

    Parameters:
        location: the store's folder, or the address of a database, in which nothing is looked up.
    """
    path = Path(location) / FILE_NAME if isinstance(location, Path) else None
    if path is None or not path.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            rows = connection.execute("SELECT kind, name, version FROM chosen WHERE name != '' ORDER BY kind, name")
            return [(kind, name, version) for kind, name, version in rows]
    except (sqlite3.Error, ValueError, OSError):
        return []


def by_source(rows: Iterable[Sequence[str]]) -> dict[str, frozenset[str]]:
    """Names by their sources."""
    found: dict[str, set[str]] = {}
    for source, name in rows:
        found.setdefault(source, set()).add(name)
    return {source: frozenset(names) for source, names in found.items()}


def has_open_runs(folder: Path) -> bool:
    """Whether the store holds runs of chains that are not over; what cannot be told at a glance counts as none."""
    path = folder / FILE_NAME
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            query = "SELECT 1 FROM chain_runs WHERE status IN ('running', 'waiting_approval') LIMIT 1"
            return connection.execute(query).fetchone() is not None
    except (sqlite3.Error, OSError):
        return False
