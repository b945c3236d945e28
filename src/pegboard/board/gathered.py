"""The lists of a board's sources gathered into one: who cannot be listed is left out alone, and that is said."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import anyio

from pegboard.board.attached import LIVE, Attached
from pegboard.catalog import AliasTable
from pegboard.core import SourceState, ToolName
from pegboard.core.primitive import AskError, Primitive, Rows, Supplying, supplying
from pegboard.errors import SourceError
from pegboard.schema.types import JsonObject
from pegboard.surface.primitive import row

PATIENCE = 5.0
"""Seconds that one list waits for a source; one that comes later is announced."""


@dataclass(frozen=True)
class Part:
    """One source's part of a list.

    Parameters:
        rows: what it lists.
        namespace: the namespace of its names.
        error: why it is not there, if it is not.
        late: whether it may still come by itself.
    """

    rows: Rows = Rows(watched=True)
    namespace: str = ""
    error: str | None = None
    late: bool = False


@dataclass(frozen=True)
class Gathered:
    """One list of a whole board.

    Parameters:
        kind: of what.
        parts: each source's part, in the board's order.
        aliases: the names on the board of prompts.
    """

    kind: Primitive
    parts: Mapping[str, Part] = field(default_factory=dict[str, Part])
    aliases: AliasTable = AliasTable()

    @cached_property
    def rows(self) -> tuple[JsonObject, ...]:
        """The rows, under the board's names."""
        return tuple(shown for source, part in self.parts.items() for shown, _ in self._shown(source, part))

    @cached_property
    def notes(self) -> Mapping[str, tuple[str, ...]]:
        """What was odd about each source's part, by source; only those where anything was."""
        found = {source: (*part.rows.notes, *self._lost(source, part)) for source, part in self.parts.items()}
        return {source: notes for source, notes in found.items() if notes}

    @property
    def errors(self) -> Mapping[str, str]:
        """Why a source's part is not there, by source."""
        return {source: part.error for source, part in self.parts.items() if part.error}

    @property
    def ttl(self) -> int:
        """For how long all of it may be kept, in ms."""
        return min((_ttl(part) for part in self.parts.values() if part.error or part.rows.rows), default=0)

    @property
    def public(self) -> bool:
        """Whether each source says that its part is the same for everybody."""
        told = [part.rows.public and not part.error for part in self.parts.values() if part.error or part.rows.rows]
        return bool(told) and all(told)

    @cached_property
    def by_name(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Sources and own names of the prompts, by each of their spellings."""
        known: dict[str, list[tuple[str, str]]] = {}
        for source, part in self.parts.items():
            for found in part.rows.rows:
                own = str(found["name"])
                full = ToolName(part.namespace, own)
                for spelling in dict.fromkeys((self.aliases[full], str(full), own)):
                    known.setdefault(spelling, []).append((source, own))
        return {spelling: tuple(targets) for spelling, targets in known.items()}

    def full(self, source: str, own: str) -> ToolName:
        """The full name of a source's prompt."""
        return ToolName(self.parts[source].namespace, own)

    def names(self) -> Iterable[ToolName]:
        """The full names of the prompts."""
        return (
            ToolName(part.namespace, str(found["name"])) for part in self.parts.values() for found in part.rows.rows
        )

    def _shown(self, source: str, part: Part) -> list[tuple[JsonObject, list[str]]]:
        name = partial(self._wire_name, part.namespace)
        return [row(self.kind, found, source, name) for found in part.rows.rows]

    def _wire_name(self, namespace: str, name: str) -> str:
        return self.aliases[ToolName(namespace, name)]

    def _lost(self, source: str, part: Part) -> list[str]:
        return [
            f"{shown[self.kind.key]}: {', '.join(lost)} left out, for no client takes it."
            for shown, lost in self._shown(source, part)
            if lost
        ]


def _ttl(part: Part) -> int:
    return 0 if part.error else part.rows.ttl


async def gather(kind: Primitive, sources: Mapping[str, Attached], clean: Callable[[str], str]) -> dict[str, Part]:
    """Each source's part of a list, all of them asked at once.

    Parameters:
        kind: which list.
        sources: the sources, in the board's order.
        clean: masks secrets in what went wrong.
    """
    found: dict[str, Part] = {}

    async def take(name: str, attached: Attached) -> None:
        part = Part(error=f"It did not answer within {PATIENCE:g} s.", late=True)
        with anyio.move_on_after(PATIENCE):
            part = await _part(kind, attached, clean)
        found[name] = part

    async with anyio.create_task_group() as tasks:
        for name, attached in sources.items():
            tasks.start_soon(take, name, attached)
    return {name: found[name] for name in sources}


async def _part(kind: Primitive, attached: Attached, clean: Callable[[str], str]) -> Part:
    try:
        supplier = await supplier_of(attached, wake=attached.state is not SourceState.UNAVAILABLE)
        if supplier is None:
            return Part()
        return Part(await supplier.rows(kind), namespace_of(attached, supplier))
    except (SourceError, AskError) as problem:
        return Part(error=clean(problem.message))


async def supplier_of(attached: Attached, *, wake: bool = True) -> Supplying | None:
    """What supplies a source's resources and prompts, the source started where need be.

    Parameters:
        attached: the source.
        wake: whether to start it.

    Raises:
        SourceError: it is not there.
    """
    if attached.source.kind != "mcp":
        return None
    if attached.state not in LIVE:
        if not wake:
            raise SourceError(attached.error or "It cannot be reached.", where=attached.source.name)
        await attached.ensure()
    return supplying(attached.source)


def namespace_of(attached: Attached, supplier: Supplying) -> str:
    """The namespace of a source's names: that of its tools, where it has any."""
    tools = attached.listing.tools
    return tools[0].name.namespace if tools else supplier.namespace
