"""What reading a directory came to, and what its readers share."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.core import Discoverable
from pegboard.schema.types import Json

LONGEST = 2000
"""Characters of a description that are kept."""


class Unreadable(ValueError):
    """An entry of a directory that cannot be used; it alone is set aside.

    Parameters:
        message: what is wrong.
        next_step: what to do about it.
    """

    def __init__(self, message: str, next_step: str = "Correct the entry in its directory.") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


@dataclass(frozen=True, slots=True)
class Aside:
    """An entry, or a whole directory, that was set aside.

    Parameters:
        directory: the directory's name.
        entry: the entry; empty for the directory as a whole.
        message: what is wrong.
        next_step: what to do about it.
    """

    directory: str
    entry: str
    message: str
    next_step: str

    def __str__(self) -> str:
        entry = f" {self.entry!r}" if self.entry else ""
        return f"The directory {self.directory}{entry} is set aside. {self.message} {self.next_step}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a directory holds.

    Parameters:
        found: what can be used, in the directory's order.
        aside: what cannot.
    """

    found: tuple[Discoverable, ...] = ()
    aside: tuple[Aside, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry is read from.

    Parameters:
        directory: the directory's name.
        private: whether connectors may be at private addresses.
        index: the package index to install from, instead of the usual one.
        wheelhouse: a folder to install PyPI packages from.
    """

    directory: str
    private: bool = False
    index: str | None = None
    wheelhouse: str | None = None

    def address(self, url: str) -> str:
        """A connector's address, if it may be used.

        Raises:
            Unreadable: it is no http(s) address, or a private one that only the operator may name.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Unreadable(f"{url!r} is no http(s) address.")
        if not self.private and _is_private(parts.hostname):
            raise Unreadable(
                f"{parts.hostname} is no public address.",
                f"If it is meant, write allow_private = true in [directories.{self.directory}].",
            )
        return url


def _is_private(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))
    from pegboard.sources.http.address import is_public

    return not is_public(host)


def matches(id: str, patterns: Iterable[str]) -> bool:
    """Whether an id is one of these; `*` stands for anything."""
    return any(fnmatchcase(id, pattern) for pattern in patterns)


def plain(text: str) -> str:
    """A foreign text as it may stand in a source's table: nothing in it is a reference to a secret."""
    return text.replace("${", "$${")


def slug(text: str) -> str:
    """A name for a source, from an id or title."""
    tail = text.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", tail).strip("-_").lower()[:40] or "source"


def variable(*parts: str) -> str:
    """The name of an environment variable, from words."""
    name = re.sub(r"\W+", "_", "_".join(parts)).strip("_").upper()
    return f"_{name}" if name[:1].isdigit() else name


def table_of(value: Json, what: str) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        Unreadable: it is none.
    """
    if not isinstance(value, Mapping):
        raise Unreadable(f"{what} is no object.")
    return cast("Mapping[str, Any]", value)


def text_of(table: Mapping[str, Any], key: str, default: str | None = None, *, longest: int = LONGEST) -> str:
    """A text under a key, without white space around it.

    Raises:
        Unreadable: it is missing without a default, empty without one, or no text.
    """
    value = table.get(key)
    if isinstance(value, str) and value.strip():
        return value.strip()[:longest]
    if default is not None and (value is None or value == ""):
        return default
    raise Unreadable(f"{key} is missing." if value in (None, "") else f"{key} is no text.")


def rows_of(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """A list of objects under a key; nothing there is an empty list.

    Raises:
        Unreadable: it is something else.
    """
    value = table.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unreadable(f"{key} is no list.")
    return [table_of(row, f"{key}/{number}") for number, row in enumerate(cast("list[Any]", value))]


def words_of(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts under a key; one text counts as a list of one.

    Raises:
        Unreadable: it is something else.
    """
    value = table.get(key)
    if value is None:
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in cast("list[Any]", items)):
        raise Unreadable(f"{key} is no list of texts.")
    return tuple(item.strip() for item in cast("list[str]", items) if item.strip())
