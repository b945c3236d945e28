"""Assets in the store: bytes once, an entry for each owner; the texts among them can be read in pages."""

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from pegboard.core import Asset
from pegboard.store.tables import ASSETS, BLOBS

PAGE_CHARS = 20_000
REMEMBERED = 30 * 86_400.0
"""Seconds for which it is known of a lost asset that it has expired."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a large text.

    Parameters:
        id: the asset's id.
        number: which page, counted from 0.
        pages: how many there are.
        text: the page's text.
    """

    id: str
    number: int
    pages: int
    text: str

    @property
    def next(self) -> int | None:
        """The next page's number, or None on the last one."""
        return self.number + 1 if self.number + 1 < self.pages else None


@dataclass(frozen=True, slots=True)
class Held:
    """An asset with its bytes.

    Parameters:
        asset: what it is.
        data: its bytes; None where its time is over.
        page_chars: how many characters a page has; 0 where it has none.
    """

    asset: Asset
    data: bytes | None
    page_chars: int = 0


def write_asset(
    connection: Connection, data: bytes, media_type: str, *, owner: str, expires: float, page_chars: int = 0
) -> Asset:
    """Keep bytes for an owner; who keeps the same again keeps it for the longer time."""
    id = hashlib.sha256(media_type.encode("utf-8", "surrogatepass") + b"\0" + data).hexdigest()
    mine = (ASSETS.c.id == id) & (ASSETS.c.owner == owner)
    before = connection.execute(select(ASSETS.c.expires, ASSETS.c.page_chars).where(mine)).first()
    if before is not None:
        expires, page_chars = max(expires, before.expires), page_chars or before.page_chars
    asset = Asset(id, media_type, len(data), expires)
    if connection.execute(select(BLOBS.c.id).where(BLOBS.c.id == id)).first() is None:
        connection.execute(insert(BLOBS).values(id=id, data=data))
    connection.execute(delete(ASSETS).where(mine))
    row = {"media_type": media_type, "size": asset.size, "page_chars": page_chars, "expires": asset.expires}
    connection.execute(insert(ASSETS).values(id=id, owner=owner, **row))
    return asset


def read_asset(connection: Connection, id: str, *, owner: str, now: float) -> Held | None:
    """An asset of an owner, or None where this owner has none such."""
    query = (
        select(ASSETS.c.media_type, ASSETS.c.size, ASSETS.c.expires, ASSETS.c.page_chars, BLOBS.c.data)
        .join(BLOBS, BLOBS.c.id == ASSETS.c.id, isouter=True)
        .where(ASSETS.c.id == id, ASSETS.c.owner == owner)
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    asset = Asset(id, row.media_type, row.size, row.expires)
    data: bytes | None = row.data if row.expires > now else None  # a blob that is gone has none either
    return Held(asset, data, row.page_chars)


def page_of(held: Held, number: int) -> Page | None:
    """One page of an asset that is kept in pages, counted from 0."""
    if held.data is None or not held.page_chars or number < 0:
        return None
    text = held.data.decode("utf-8", "surrogatepass")
    pages = max(-(-len(text) // held.page_chars), 1)
    start = number * held.page_chars
    return Page(held.asset.id, number, pages, text[start : start + held.page_chars]) if number < pages else None


def forget_assets(connection: Connection, *, now: float) -> None:
    """Drop the bytes of what has expired, and in time the memory of it."""
    over = select(ASSETS.c.id).where(ASSETS.c.expires <= now)
    wanted = select(ASSETS.c.id).where(ASSETS.c.expires > now)
    connection.execute(delete(BLOBS).where(BLOBS.c.id.in_(over), BLOBS.c.id.not_in(wanted)))
    connection.execute(delete(ASSETS).where(ASSETS.c.expires <= now - REMEMBERED))
