"""What a model sees of the catalog: the tools in its list, the meta-tools, and the rest that it finds by search."""

from dataclasses import dataclass

from pegboard.catalog.alias import AliasTable
from pegboard.core import ToolName, ToolSpec


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
    """

    direct: tuple[ToolSpec, ...] = ()
    deferred: tuple[ToolSpec, ...] = ()
    meta: tuple[ToolSpec, ...] = ()
    loaded: tuple[ToolSpec, ...] = ()
    aliases: AliasTable = AliasTable()
    notes: tuple[str, ...] = ()

    @property
    def listed(self) -> tuple[ToolSpec, ...]:
        """Everything in the list, in its order."""
        return (*self.direct, *self.meta, *self.loaded)

    def wire_name(self, name: ToolName) -> str:
        """The wire name of a tool; a meta-tool's is its own name."""
        return self.aliases.wire.get(name, name.name)
