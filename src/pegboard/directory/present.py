"""Whether something that could be on the board is there already, under whatever name."""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from pegboard.config import SourceConfig
from pegboard.core import Discoverable
from pegboard.core.discoverable import Part

_STARTERS = frozenset(("npx", "uvx", "pipx", "bunx", "docker", "podman", "uv", "node", "python", "python3"))


def present(one: Discoverable, sources: Mapping[str, SourceConfig]) -> list[SourceConfig]:
    """The sources of the board that a discoverable is: installed from it, or the same server, package or folder.

    Parameters:
        one: the discoverable.
        sources: the board's sources, by name.
    """
    found = [source for source in sources.values() if source.origin == one.id]
    return found or [source for source in sources.values() if any(_same(part, source) for part in one.parts)]


def _same(part: Part, source: SourceConfig) -> bool:
    if not part.table:  # an entry that enables a source names it
        return part.name == source.name
    target = part.table.get("mcp")
    if source.kind != "mcp":
        return source.kind in part.table and _plain(part.table[source.kind]) == _plain(source.target)
    if isinstance(target, str) or isinstance(source.target, str):
        return isinstance(target, str) and isinstance(source.target, str) and _url(target) == _url(source.target)
    return part.package is not None and part.package.registry != "folder" and _starts(part, source.target)


def _starts(part: Part, argv: Any) -> bool:
    """Whether a command starts a package: its program, or a runner that fetches it."""
    assert part.package is not None
    words = [str(word) for word in cast("Iterable[Any]", argv)]
    command = cast("list[str]", part.table["mcp"])
    name = part.package.identifier.partition("[")[0]
    program = PurePath(words[0]).stem
    if program in _STARTERS:
        return any(_unpinned(word) in (name, name.partition(":")[0]) for word in words[1:])
    return part.package.registry != "oci" and program == PurePath(command[0]).stem


def _unpinned(word: str) -> str:
    """A package as a runner takes it, without its version."""
    head = word[:1]
    return head + word[1:].partition("@")[0].partition("==")[0]


def _url(text: str) -> str:
    parts = urlsplit(text)
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query, ""))


def _plain(value: Any) -> str:
    return str(Path(value)) if isinstance(value, Path) else str(value)
