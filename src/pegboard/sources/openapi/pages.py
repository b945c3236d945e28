"""Pages as one call: where an operation is read page by page, its tool takes how many pages to read and joins them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qsl, urljoin, urlsplit

from pegboard.schema.types import Json, JsonObject, Schema, as_list, as_object
from pegboard.sources.http.client import Answer
from pegboard.sources.openapi.inputs import Inputs
from pegboard.sources.openapi.operation import Operation

MOST_PAGES = 100
_CURSORS = frozenset(
    ("cursor", "startcursor", "pagetoken", "nexttoken", "continuationtoken", "nextcursor", "nextpagetoken", "marker")
    + ("pagecursor", "after", "startingafter")
)
_NEXT = frozenset(
    ("nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "endcursor", "nextmarker", "nextpagecursor")
)
_PAGES = frozenset(("page", "pagenumber", "pageno", "pageindex"))
_OFFSETS = frozenset(("offset", "skip", "startindex", "startat"))
_SIZES = frozenset(("perpage", "pagesize", "limit", "size", "count", "maxresults", "top", "first", "pagelimit"))
_NEXT_URLS = frozenset(("next", "nextlink", "nexturl", "nextpage", "nextpageurl", "odatanextlink"))
_MORE = frozenset(("hasmore", "hasnext", "hasnextpage"))
_TOTALS = frozenset(("totalpages", "pagecount", "lastpage", "pagestotal", "numpages"))
_LISTS = ("items", "data", "results", "records", "values", "entries", "elements", "members", "rows", "value")


@dataclass(frozen=True, slots=True)
class Paging:
    """How an operation is read page by page.

    Parameters:
        way: `cursor`, `page` or `offset`.
        argument: the argument that says where to go on.
        size: the argument that says how large a page is, if there is one.
        pages: the argument that says how many pages to read.
    """

    way: str
    argument: str
    size: str | None
    pages: str

    @property
    def parameter(self) -> Schema:
        """The schema of the argument `pages`."""
        return {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_PAGES,
            "default": 1,
            "description": "How many pages to read and join into one answer.",
        }

    def following(
        self, arguments: JsonObject, answer: Answer, value: Json, *, linked: bool = False
    ) -> JsonObject | None:
        """The arguments of the next page, or None where this is the last.

        Parameters:
            arguments: those of this page.
            answer: its answer, for the header `Link`.
            value: its value.
            linked: whether the page before named this one by a link: then a page that names no other is the last.
        """
        target = next_link(answer, value)
        following = self._linked(arguments, target) if target is not None else None
        if following is not None:
            return following
        if linked or "link" in answer.headers or _ended(value):
            return None
        found = list_in(value)
        count = len(found[1]) if found is not None else 0
        if self.way == "cursor":
            cursor = self._cursor(value, found[1] if found else [])
            return None if cursor in (None, "", arguments.get(self.argument)) else {**arguments, self.argument: cursor}
        size = arguments.get(self.size) if self.size else None
        if not count or (isinstance(size, int) and count < size):
            return None
        here = arguments.get(self.argument)
        step = 1 if self.way == "page" else count
        first = 1 if self.way == "page" else 0
        at = here if isinstance(here, int) else first
        return None if self.way == "page" and at == _last_page(value) else {**arguments, self.argument: at + step}

    def _cursor(self, value: Json, items: list[Json]) -> Json:
        table = as_object(value)
        for owner in _owners(value):
            for name, part in owner.items():
                if _flat(name) in _NEXT and isinstance(part, str | int) and not isinstance(part, bool):
                    return part
        if _flat(self.argument) == "startingafter" and items and table.get("has_more") is True:
            return as_object(items[-1]).get("id")
        return None

    def _linked(self, arguments: JsonObject, url: str) -> JsonObject | None:
        query = dict(parse_qsl(urlsplit(url).query))
        named = {_flat(name): part for name, part in query.items()}.get(_flat(self.argument))
        if named is None or named == str(arguments.get(self.argument, "")):
            return None
        return {**arguments, self.argument: int(named) if named.isdecimal() else named}


def paging_of(operation: Operation, inputs: Inputs) -> Paging | None:
    """How an operation is read page by page, told by the names of its arguments; None where it is not."""
    if operation.method not in ("GET", "POST", "QUERY"):
        return None
    names = {_flat(place[1] if place else name): name for name, place in _wire_names(inputs)}
    size = next((names[name] for name in names if name in _SIZES), None)
    cursor = next((names[name] for name in names if name in _CURSORS), None)
    pages = next(
        name for name in ("max_pages", "read_pages", "pages_to_read") if name not in inputs.schema["properties"]
    )
    if cursor is not None and (_flat(cursor) != "after" or size is not None):
        return Paging("cursor", cursor, size, pages)
    if operation.method == "POST":
        return None
    for way, known in (("page", _PAGES), ("offset", _OFFSETS)):
        argument = next((names[name] for name in names if name in known), None)
        if argument is not None and _is_number(inputs.schema["properties"][argument]):
            return Paging(way, argument, size, pages)
    return None


def _wire_names(inputs: Inputs) -> Iterator[tuple[str, tuple[str, str] | None]]:
    for name in inputs.schema["properties"]:
        yield name, inputs.renamed.get(name)


def _is_number(schema: Json) -> bool:
    kind = as_object(schema).get("type")
    return "integer" in (kind if isinstance(kind, list) else [kind]) or kind == "number"


def _flat(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def list_in(value: Json) -> tuple[tuple[str, ...], list[Json]] | None:
    """The list that a page holds, with the path to it; None where there is none, or no telling which."""
    if isinstance(value, list):
        return (), cast("list[Json]", value)
    table = as_object(value)
    lists = {name: as_list(part) for name, part in table.items() if isinstance(part, list)}
    if len(lists) == 1:
        [(name, items)] = lists.items()
        return (name,), items
    for name in _LISTS:
        if name in lists:
            return (name,), lists[name]
        inner = table.get(name)
        if isinstance(inner, dict) and name in ("data", "result", "results"):
            found = list_in(cast("Json", inner))
            if found is not None:
                return (name, *found[0]), found[1]
    return None


def joined(pages: list[Json]) -> Json:
    """One value in the shape of the last page, with the lists of all pages in one."""
    last = pages[-1]
    found = list_in(last)
    if found is None:
        return pages
    path = found[0]
    items = [item for page in pages for item in (list_in(page) or ((), []))[1]]
    return _put(last, path, items)


def _put(value: Json, path: tuple[str, ...], items: list[Json]) -> Json:
    if not path:
        return items
    table = cast("Mapping[str, Json]", value)
    return {**table, path[0]: _put(table[path[0]], path[1:], items)}


def next_link(answer: Answer, value: Json) -> str | None:
    """The address of the next page: `Link: <...>; rel="next"` (RFC 8288), else one that the answer itself names."""
    for part in answer.headers.get("link", "").split(","):
        target, _, rest = part.partition(";")
        if re.search(r'\brel\s*=\s*"?next\b', rest):
            return urljoin(answer.url, target.strip().strip("<>"))
    for owner in _owners(value):
        for name, part in owner.items():
            found = as_object(part).get("href") if isinstance(part, dict) else part
            if _flat(name) in _NEXT_URLS and isinstance(found, str) and "?" in found:
                return urljoin(answer.url, found)
    return None


def _owners(value: Json) -> Iterator[Mapping[str, Json]]:
    """Where an answer may say how it goes on: the object itself, and each object in it."""
    table = as_object(value)
    yield table
    yield from (as_object(part) for part in table.values() if isinstance(part, dict))


def _ended(value: Json) -> bool:
    return any(part is False for owner in _owners(value) for name, part in owner.items() if _flat(name) in _MORE)


def _last_page(value: Json) -> int | None:
    for owner in _owners(value):
        for name, part in owner.items():
            if _flat(name) in _TOTALS and isinstance(part, int) and not isinstance(part, bool):
                return part
    return None
