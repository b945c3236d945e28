"""Holding foreign tools back whose definition has changed, until a person has looked at the change."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING

import anyio.to_thread

from pegboard.approval.policy import FOREIGN
from pegboard.config import Config, SourceConfig
from pegboard.core import Failure, FailureCode, Note, NoteKind, Selection, Source, ToolName, ToolSpec
from pegboard.schema.types import digest

if TYPE_CHECKING:
    from pegboard.approval.pins import Pins
    from pegboard.store import Store

_REMOTE = frozenset(("openapi", "graphql"))
"""Kinds that are foreign where their description comes from an address."""
RELEASE_SECONDS = 2.0
"""How often a board looks whether what it holds back was accepted, while it holds anything back."""


@dataclass
class Guard:
    """Compares listings with what is trusted.

    Parameters:
        store: gives the board's store; called in a thread.
        origins: by source, what the operator points it at; a source that is not named is nobody's business.
        exempt: tools that may change as they like.
    """

    store: "Callable[[], Store]"
    origins: dict[str, str] = field(default_factory=dict[str, str])
    exempt: Selection = Selection(())

    @classmethod
    def of(cls, config: Config, store: "Callable[[], Store]", beside: "tuple[Source, ...]" = ()) -> "Guard | None":
        """What a config sets; None where changes are let through."""
        table = config.tables["approval"]
        if table["drift"] == "allow":
            return None
        guard = cls(store, {}, Selection.parse(table["unpinned"]))
        for source in config.sources.values():
            guard.know(source)
        guard.origins |= {source.name: source.kind for source in beside if source.kind in FOREIGN}
        return guard

    def know(self, source: SourceConfig) -> None:
        """Watch a source of the config where it is foreign."""
        remote = source.kind in _REMOTE and str(source.target).startswith("http")
        if source.kind in FOREIGN or remote:
            # Who agrees to another definition of an installed source agrees to its tools.
            agreed = [source.definition] if source.definition is not None else []
            self.origins[source.name] = digest([source.kind, source.target, *agreed])

    def watches(self, source: str) -> bool:
        """Whether a source's tools are compared."""
        return source in self.origins

    async def inspect(self, source: str, listed: Iterable[ToolSpec]) -> frozenset[ToolName]:
        """Those of the tools that a source lists now that are held back."""
        if not self.watches(source):
            return frozenset()
        specs = [spec for spec in listed if spec not in self.exempt]
        return await anyio.to_thread.run_sync(lambda: self._pins().check(source, self.origins[source], specs))

    async def still(self, source: str, held: frozenset[ToolName]) -> frozenset[ToolName]:
        """Those of the tools held back that nobody has accepted."""
        names = await anyio.to_thread.run_sync(lambda: self._pins().held(source))
        return frozenset(name for name in held if str(name) in names)

    def _pins(self) -> "Pins":
        from pegboard.approval.pins import Pins

        return Pins(self.store(), time)


def withheld(spec: ToolSpec) -> Note:
    """The note on a tool that is held back."""
    return Note(
        NoteKind.SET_ASIDE,
        spec.name.name,
        "",
        "Its definition changed since it was last trusted. It is held back until you have looked: "
        "pegboard approvals drift",
    )


def refusal(name: ToolName) -> Failure:
    """The failure of a call of a tool that is held back."""
    return Failure(
        FailureCode.APPROVAL_NEEDED,
        f"{name} has changed since it was last trusted; it is held back until a person has looked at the change. "
        "Nothing ran.",
        next_step="Ask for: `pegboard approvals drift`. Until then use another tool.",
    )


def not_allowed(name: ToolName, source: str) -> Failure:
    """The failure of a call of a tool that its source's table does not admit."""
    return Failure(
        FailureCode.BLOCKED,
        f"{name} is not allowed on this board.",
        next_step=f"Whoever runs the board can allow it in [sources.{source}].",
    )
