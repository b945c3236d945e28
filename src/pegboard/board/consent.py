"""What a board lets run only with a person's yes, and where that person is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from pegboard.approval import Approver, Desk
from pegboard.approval.gate import SpecOf, gate
from pegboard.approval.policy import Policy
from pegboard.approval.reason import reasons
from pegboard.board.memory import Memory
from pegboard.config import Config
from pegboard.core import Middleware, ToolSpec

if TYPE_CHECKING:
    from pegboard.store import Store


def _nowhere() -> "Store":
    from pegboard.store import Store

    return Store.open(":memory:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Who is asked, and for what.

    Parameters:
        desk: where requests wait; by default one that keeps nothing beyond the process.
        policy: which calls need a yes; None: none does.
    """

    desk: Desk = field(default_factory=lambda: Desk(_nowhere))
    policy: Policy | None = None

    @classmethod
    def of(cls, config: Config, memory: Memory, approvers: Sequence[Approver] = ()) -> Self:
        """What a config sets; the requests stand in the board's store."""
        table = config.tables["approval"]
        desk = Desk(lambda: memory.store, approvers=approvers, lasts=table["timeout"], wait=table["wait"])
        return cls(desk=desk, policy=Policy.of(table))

    def asks(self, specs: Iterable[ToolSpec]) -> bool:
        """Whether some call of these tools waits for a yes."""
        return self.policy is not None and any(map(self.policy.asks, specs))

    def outer(self, spec_of: SpecOf) -> list[Middleware]:
        """What stands before the arguments are checked."""
        return [] if self.policy is None else [reasons(spec_of)]

    def middleware(self, spec_of: SpecOf) -> list[Middleware]:
        """What stands after the arguments were checked; nothing where no call needs a yes."""
        return [] if self.policy is None else [gate(spec_of, self.policy, self.desk)]
