"""Large results, kept in pages, so that what did not fit into an answer can still be read."""

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from pegboard.store.tables import RESULTS

PAGE_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a large result.

    Parameters:
        id: the result's handle.
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


def write_result(connection: Connection, text: str, *, owner: str, saved: float, page_chars: int = PAGE_CHARS) -> str:
    """Keep a text in pages.

    Returns:
        Its handle: a hash of owner and text, so the same result has the same handle.
    """
    handle = "r_" + hashlib.sha256(f"{owner}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    pages = [text[start : start + page_chars] for start in range(0, len(text), page_chars)] or [""]
    connection.execute(delete(RESULTS).where(RESULTS.c.id == handle))
    common = {"id": handle, "pages": len(pages), "saved": saved, "owner": owner}
    connection.execute(RESULTS.insert(), [{**common, "page": n, "text": page} for n, page in enumerate(pages)])
    return handle


def read_page(connection: Connection, handle: str, number: int, *, owner: str) -> Page | None:
    """One page of a result that `owner` may read, or None."""
    query = select(RESULTS.c.pages, RESULTS.c.text).where(
        RESULTS.c.id == handle, RESULTS.c.page == number, RESULTS.c.owner == owner
    )
    row = connection.execute(query).first()
    return Page(handle, number, row.pages, row.text) if row else None


def forget_results(connection: Connection, *, before: float) -> None:
    """Drop the pages that were saved before a time."""
    connection.execute(delete(RESULTS).where(RESULTS.c.saved < before))
