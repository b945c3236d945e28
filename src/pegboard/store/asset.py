"""Assets in the store: bytes once, an entry for each owner; the texts among them can be read in pages."""

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from pegboard.core import Asset
from pegboard.store.room import Room
from pegboard.store.tables import ASSETS, BLOBS

PAGE_CHARS = 20_000
REMEMBERED = 30 * 86_400.0
"""Seconds for which it is known of a lost asset that it has expired."""


@dataclass(frozen=True, slots=True)
class Owned:
    """An asset as a list shows it.

    Parameters:
        asset: what it is.
        owner: the principal who may have it.
        gone: whether its time is over, or it had to make room.
    """

    asset: Asset
    owner: str
    gone: bool


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


def make_room(connection: Connection, size: int, room: Room, *, now: float) -> None:
    """Drop what would expire first until so many bytes more can be kept; whoever asks for it hears that it is gone.

    Parameters:
        connection: the store.
        size: bytes that are to be kept.
        room: how much is kept.
        now: Unix time in seconds.
    """
    last = func.max(ASSETS.c.expires).label("last")
    each = select(ASSETS.c.id, func.max(ASSETS.c.size).label("size"), last).where(ASSETS.c.expires > now)
    kept = each.group_by(ASSETS.c.id).subquery()
    number, total = connection.execute(select(func.count(), func.coalesce(func.sum(kept.c.size), 0))).one()
    if number < room.assets and total + size <= room.bytes:
        return
    for id, bytes_, _ in connection.execute(select(kept).order_by(kept.c.last, kept.c.id)).all():
        connection.execute(delete(BLOBS).where(BLOBS.c.id == id))
        connection.execute(update(ASSETS).where(ASSETS.c.id == id, ASSETS.c.expires > now).values(expires=now))
        number, total = number - 1, total - bytes_
        if number < room.assets and total + size <= room.bytes:
            return


def list_assets(connection: Connection, *, owner: str | None, now: float) -> list[Owned]:
    """The assets of an owner, or of all; the one that was kept last, or will be kept longest, first."""
    query = select(ASSETS, BLOBS.c.id.is_(None).label("lost")).join(BLOBS, BLOBS.c.id == ASSETS.c.id, isouter=True)
    query = query if owner is None else query.where(ASSETS.c.owner == owner)
    rows = connection.execute(query.order_by(ASSETS.c.expires.desc(), ASSETS.c.id, ASSETS.c.owner))
    return [
        Owned(Asset(row.id, row.media_type, row.size, row.expires), row.owner, row.lost or row.expires <= now)
        for row in rows
    ]


def remove_asset(connection: Connection, id: str, *, owner: str) -> bool:
    """Drop an asset of an owner for good; False where this owner has none such."""
    mine = delete(ASSETS).where(ASSETS.c.id == id, ASSETS.c.owner == owner)
    found = connection.execute(mine).rowcount == 1
    others = select(ASSETS.c.id).where(ASSETS.c.id == id)
    connection.execute(delete(BLOBS).where(BLOBS.c.id == id, BLOBS.c.id.not_in(others)))
    return found


def forget_assets(connection: Connection, *, now: float) -> None:
    """Drop the bytes of what has expired, and in time the memory of it."""
    over = select(ASSETS.c.id).where(ASSETS.c.expires <= now)
    wanted = select(ASSETS.c.id).where(ASSETS.c.expires > now)
    connection.execute(delete(BLOBS).where(BLOBS.c.id.in_(over), BLOBS.c.id.not_in(wanted)))
    connection.execute(delete(ASSETS).where(ASSETS.c.expires <= now - REMEMBERED))
