"""The stored catalog: what each source listed last, so that a board answers before its servers have started."""

from collections.abc import Iterator

from sqlalchemy import Connection, delete, select

from pegboard.store.stored import StoredListing, decode, encode
from pegboard.store.tables import CATALOG


def read_listings(connection: Connection) -> Iterator[StoredListing | str]:
    """Every stored listing; for one that cannot be read, its source's name."""
    for source, fingerprint, saved, text in connection.execute(select(CATALOG).order_by(CATALOG.c.source)):
        try:
            yield decode(source, fingerprint, saved, text)
        except ValueError:
            yield source


def write_listing(connection: Connection, listing: StoredListing) -> None:
    """Put a source's listing in the place of the one before."""
    forget_listing(connection, listing.source)
    row = {"source": listing.source, "fingerprint": listing.fingerprint, "saved": listing.saved}
    connection.execute(CATALOG.insert().values(**row, listing=encode(listing)))


def forget_listing(connection: Connection, source: str) -> None:
    """Drop what a source listed."""
    connection.execute(delete(CATALOG).where(CATALOG.c.source == source))
