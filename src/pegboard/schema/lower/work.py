"""What a lowering keeps while it works, and what it reports at the end."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pegboard.schema.lower.node import Node
from pegboard.schema.repair import SchemaChange
from pegboard.schema.types import Json

if TYPE_CHECKING:
    from pegboard.schema.lower.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the author's schema says and the lowered one no longer enforces.

    The author's schema is still checked when the tool is called; what is lost is that the model is held to it.

    Parameters:
        tool: the tool's name; empty where a bare schema was lowered.
        pointer: a JSON pointer into the author's schema.
        keyword: the keyword that had to go.
        said: what it said.
        went: where it went: `description` (said there in words) or `dropped`.
    """

    tool: str
    pointer: str
    keyword: str
    said: Json
    went: str


@dataclass(slots=True)
class Work:
    """One lowering under way.

    Parameters:
        dialect: the target.
        root: the tree; passes change it in place.
        changes: rewritings that keep the meaning.
        losses: what is no longer enforced.
        obstacles: why the tool cannot be strict without losing meaning.
        loops: the pointers of the definitions that lead back to themselves.
        parts: the definition that was made of a node, by the node's text.
    """

    dialect: "Dialect"
    root: Node
    changes: dict[SchemaChange, None] = field(default_factory=dict[SchemaChange, None])
    losses: dict[str, Loss] = field(default_factory=dict[str, Loss])
    obstacles: list[str] = field(default_factory=list[str])
    loops: set[str] = field(default_factory=set[str])
    parts: dict[str, str] = field(default_factory=dict[str, str])

    def change(self, node: Node, message: str) -> None:
        """List a rewriting that keeps the meaning."""
        self.changes.setdefault(SchemaChange(node.at, message))

    def lose(self, node: Node, keyword: str, said: Json, words: str = "") -> None:
        """List a loss; its words, if any, go to the node's description."""
        node.say(words)
        loss = Loss("", node.at, keyword, said, "description" if words else "dropped")
        self.losses.setdefault(f"{node.at}\n{keyword}", loss)

    def obstruct(self, node: Node, reason: str) -> None:
        """List a reason why the tool cannot be strict."""
        self.obstacles.append(f"{reason} at {node.at or 'the root'}")


class Refused(Exception):
    """The schema cannot be the arguments of any tool of this dialect."""
