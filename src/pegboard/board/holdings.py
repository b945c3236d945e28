"""What the board holds now: catalog, wire names and index, which change together."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from pegboard.catalog import AliasTable, Catalog, Diff, Unknown, resolve
from pegboard.core import Tool, ToolName
from pegboard.discovery.residency import Exposed, Residency, expose
from pegboard.index import Found, Index, Where
from pegboard.surface import mcp


class Holdings:
    """The present catalog. Each change makes a new one, so that a reader never sees half of it.

    Parameters:
        index: makes the search engine, when it is first needed.
        residency: decides which tools a model sees at once.
        reserved: names that no tool may take, and what they mean.
    """

    def __init__(self, index: Callable[[], Index], residency: Residency, reserved: Mapping[str, ToolName]) -> None:
        self.catalog = Catalog()
        self.aliases = AliasTable()
        self.list_version = 0
        self.exposed = Exposed(())
        self._residency = residency
        self._deferred_bytes: int | None = None
        self._make_index = index
        self._index: Index | None = None
        self._reserved = reserved
        self._behind: set[ToolName] = set()

    def rename(self, aliases: Mapping[ToolName, str]) -> None:
        """Take over wire names; they must hold every name that is held already."""
        self.aliases = AliasTable(aliases)

    def replace(self, tools: Iterable[Tool]) -> Diff:
        """Hold these tools from now on; returns what changed."""
        newer = Catalog.of(tools)
        diff = self.catalog.diff(newer)
        self.aliases = self.aliases.extend(diff.added, reserved=self._reserved)
        if not diff:
            return diff
        self.catalog = newer
        exposed = expose(newer, self._residency)
        if (exposed.direct, exposed.meta) != (self.exposed.direct, self.exposed.meta):
            self.list_version += 1
        self.exposed = exposed
        self._deferred_bytes = None
        self._behind.update(diff.added, diff.changed, diff.removed)
        return diff

    @property
    def deferred_bytes(self) -> int:
        """How many bytes the definitions of the deferred tools take."""
        if self._deferred_bytes is None:
            rows = [mcp.tool(spec, self.aliases[spec.name]) for spec in self.exposed.deferred]
            self._deferred_bytes = len(json.dumps(rows, separators=(",", ":"), default=str))
        return self._deferred_bytes

    def resolve(self, text: str) -> ToolName | Unknown:
        """The tool that a name means: its own spelling first, then a meta-tool's."""
        found = self.aliases.full.get(text)
        tool = self.catalog.tools.get(found) if found is not None else None
        if tool is not None:
            return tool.spec.name  # the catalog's own object: dictionaries find it without comparing
        return self._reserved.get(text) or resolve(text, self.catalog, self.aliases)

    def find(self, query: str, *, limit: int = 8, where: Where | None = None) -> Found:
        """Search. The index catches up here, so that a change costs nothing until somebody asks."""
        if self._index is None:
            self._index = self._make_index()
        if self._behind:
            names, self._behind = self._behind, set[ToolName]()
            present = [tool.spec for name in sorted(names) for tool in [self.catalog.get(name)] if tool is not None]
            self._index.update(put=present, remove=sorted(name for name in names if name not in self.catalog))
        return self._index.search(query, limit=limit, where=where)


class Loaded:
    """Which tools each session has loaded, in the order of loading; the least recent sessions are forgotten.

    Parameters:
        most: how many sessions are remembered.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._sessions: dict[str, dict[ToolName, None]] = {}

    def add(self, session: str, names: Iterable[ToolName]) -> None:
        """Remember that a session has these tools. A session without an id is no session."""
        if not session:
            return
        known = self._sessions.pop(session, {})
        self._sessions[session] = known | dict.fromkeys(names)
        if len(self._sessions) > self._most:
            del self._sessions[next(iter(self._sessions))]

    def of(self, session: str) -> tuple[ToolName, ...]:
        """What a session has loaded."""
        return tuple(self._sessions.get(session, ()))

    def forget(self, session: str) -> None:
        """The session is over."""
        with suppress(KeyError):
            del self._sessions[session]
