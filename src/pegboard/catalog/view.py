"""What a model sees of the catalog: the tools in its list, the meta-tools, and the rest that it finds by search."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pegboard.catalog.alias import AliasTable
from pegboard.catalog.snapshot import by_bare_name, by_version
from pegboard.core import ToolName, ToolSpec
from pegboard.errors import PegboardError


@dataclass(frozen=True)
class View:
    """A board as one model sees it. Surfaces turn it into their wire format.

    Parameters:
        direct: the tools in the list from the start.
        deferred: the tools that are found by search.
        meta: the meta-tools, where the view has any.
        loaded: deferred tools that the session has loaded, last in its list, so that what stands before them stays.
        aliases: the wire names of the tools.
        notes: what a reader should know of the selection, such as tools deferred because there are too many.
        refusal: why no list can be made of it: more tools than may be sent, and no search to find the rest by.
        about: what the source of a namespace says of itself, by namespace; untrusted text.
    """

    direct: tuple[ToolSpec, ...] = ()
    deferred: tuple[ToolSpec, ...] = ()
    meta: tuple[ToolSpec, ...] = ()
    loaded: tuple[ToolSpec, ...] = ()
    aliases: AliasTable = AliasTable()
    notes: tuple[str, ...] = ()
    refusal: PegboardError | None = None
    about: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def listed(self) -> tuple[ToolSpec, ...]:
        """Everything in the list, in its order.

        Raises:
            PegboardError: there are more tools than may be sent, and search is off.
        """
        if self.refusal is not None:
            raise self.refusal
        return (*self.direct, *self.meta, *self.loaded)

    def wire_name(self, name: ToolName) -> str:
        """The wire name of a tool; a meta-tool's is its own name."""
        return self.aliases.wire.get(name, name.name)

    @cached_property
    def tools(self) -> Mapping[ToolName, ToolSpec]:
        """Everything that the view holds, in the list or not, by its full name."""
        return {spec.name: spec for spec in (*self.direct, *self.deferred, *self.loaded, *self.meta)}

    @cached_property
    def by_bare_name(self) -> Mapping[str, tuple[ToolName, ...]]:
        """The full names that share a bare name or alias."""
        return by_bare_name(self.tools.values())

    @cached_property
    def by_version(self) -> Mapping[ToolName, ToolName]:
        """Of each name without a version, under which a tool has versions only, the version that it means."""
        return by_version(self.tools.values(), self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self.tools
