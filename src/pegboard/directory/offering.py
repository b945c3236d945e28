"""What could be on one board now: its directories, minus what is there, plus what is there and switched off."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

import anyio

from pegboard.config import Config, SourceConfig
from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType
from pegboard.core.discoverable import Part
from pegboard.directory.present import present
from pegboard.directory.reading import Aside, Reading, matches
from pegboard.directory.shelf import Discoverables

LOCAL_SECONDS, REMOTE_SECONDS = 15.0, 3600.0
"""How long what was read of a directory counts."""
BOARD = "board"
"""The directory of what is on the board and switched off."""
ToolsOf: TypeAlias = Callable[[str], Sequence[str]]
"""The names of a source's tools, as far as they are known."""
_REMOTE_KINDS = frozenset(("openapi", "graphql", "http"))


@dataclass(frozen=True, slots=True)
class Standing:
    """A discoverable, and how it stands with the board.

    Parameters:
        one: the discoverable.
        sources: the sources of the board that it is.
    """

    one: Discoverable
    sources: tuple[SourceConfig, ...] = ()

    @property
    def state(self) -> str:
        """`available`, `installed` or `disabled`."""
        if not self.sources:
            return "available"
        return "disabled" if all(source.disabled for source in self.sources) else "installed"


class Offering:
    """The directories of a board, read when they are needed and again when they are old.

    Parameters:
        config: the config that names them.
        cache: the folder in which the answers of addresses are kept; None for none.
    """

    def __init__(self, config: Config, cache: Path | None = None) -> None:
        self._config, self._cache = config, cache
        self._tables = {
            name: table for name, table in config.tables.get("directories", {}).items() if not table["disabled"]
        }
        self._settings: Mapping[str, Any] = config.tables.get("suggestions", {})
        self._read: dict[str, tuple[float, Reading]] = {}
        self._lock = anyio.Lock()
        self._offers: tuple[Any, Discoverables] | None = None

    @property
    def aside(self) -> tuple[Aside, ...]:
        """What was set aside when the directories were read last."""
        return tuple(aside for _, reading in self._read.values() for aside in reading.aside)

    async def standings(
        self, sources: Mapping[str, SourceConfig], *, fresh: bool = False, tools_of: ToolsOf = lambda _: ()
    ) -> list[Standing]:
        """Everything in the directories, and what is switched off, each with how it stands.

        Parameters:
            sources: the board's sources now.
            fresh: read the directories on this machine anew.
            tools_of: the tools that a source had when it was listed last.
        """
        await self._refresh(fresh=fresh)
        never = self._settings.get("never", ())
        entries = [one for _, reading in self._read.values() for one in reading.found if not matches(one.id, never)]
        found: dict[Any, Standing] = {}
        for one in entries:
            if one.action is DiscoverableAction.ENABLE and one.parts[0].name not in sources:
                continue
            found.setdefault(one.key, self._standing(one, sources))
        if self._settings.get("disabled_sources", True):
            known = {source.name for standing in found.values() for source in standing.sources}
            for source in sources.values():
                if source.disabled and source.name not in known and not matches(source.name, never):
                    one = _of_source(source, tuple(tools_of(source.name)))
                    found.setdefault(one.key, Standing(one, (source,)))
        return list(found.values())

    async def offers(
        self, sources: Mapping[str, SourceConfig], *, fresh: bool = False, tools_of: ToolsOf = lambda _: ()
    ) -> Discoverables:
        """What is not on the board, or switched off, and so can be asked for."""
        standings = await self.standings(sources, fresh=fresh, tools_of=tools_of)
        open_ = [standing.one for standing in standings if standing.state != "installed"]
        key = tuple(open_)
        if self._offers is None or self._offers[0] != key:
            self._offers = (key, Discoverables(open_))
        return self._offers[1]

    def _standing(self, one: Discoverable, sources: Mapping[str, SourceConfig]) -> Standing:
        standing = Standing(one, tuple(present(one, sources)))
        action = DiscoverableAction.ENABLE if standing.state == "disabled" else DiscoverableAction.INSTALL
        parts = tuple(part if part.table else _as_it_is(part, sources[part.name]) for part in one.parts)
        return replace(standing, one=replace(one, action=action, parts=parts))

    async def _refresh(self, *, fresh: bool) -> None:
        async with self._lock, anyio.create_task_group() as tasks:
            for name, table in self._tables.items():
                if name not in self._read or self._is_old(name, table, fresh):
                    tasks.start_soon(self._one, name, table)

    def _is_old(self, name: str, table: Mapping[str, Any], fresh: bool) -> bool:
        remote = isinstance(table["from"], str)
        age = monotonic() - self._read[name][0]
        return age > (REMOTE_SECONDS if remote else LOCAL_SECONDS) or (fresh and not remote)

    async def _one(self, name: str, table: Mapping[str, Any]) -> None:
        from pegboard.directory.read import read_directory

        reading = await read_directory(name, table, self._config.secrets, self._cache)
        self._read[name] = (monotonic(), reading)
        self._read = {known: self._read[known] for known in self._tables if known in self._read}


def _of_source(source: SourceConfig, tools: tuple[str, ...]) -> Discoverable:
    """A source that is switched off, as something to enable."""
    remote = source.kind in _REMOTE_KINDS or (source.kind == "mcp" and isinstance(source.target, str))
    what = "A remote service" if remote else "A source on this machine"
    return Discoverable(
        id=source.origin or source.name,
        type=DiscoverableType.CONNECTOR if remote else DiscoverableType.PLUGIN,
        action=DiscoverableAction.ENABLE,
        name=source.name,
        description=f"{what} of this board ({source.kind}), which is switched off.{_told(tools)}",
        directory=BOARD,
        tools=tools,
        permissions=(f"switches the source {source.name} on",),
        parts=(_as_it_is(Part(source.name, {}), source),),
    )


def _told(tools: tuple[str, ...]) -> str:
    return f" It has the tools {', '.join(tools[:20])}." if tools else ""


def _as_it_is(part: Part, source: SourceConfig) -> Part:
    """A source of the config as it is written now: a yes for another one does not count."""
    return replace(part, table={"fingerprint": source.fingerprint})


def named(standings: Sequence[Standing], id: str) -> list[Standing]:
    """Those with an id, or whose source has this name."""
    return [each for each in standings if each.one.id == id] or [
        each for each in standings if id in [source.name for source in each.sources]
    ]
