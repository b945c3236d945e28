"""What repair keeps while it works: the changes, and where each schema node has gone."""

from dataclasses import dataclass, field

from pegboard.schema.types import Json
from pegboard.schema.walk import Node


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One thing that was rewritten.

    Parameters:
        pointer: a JSON pointer into the author's schema.
        message: what was found and what stands there now.
    """

    pointer: str
    message: str


@dataclass(slots=True)
class Record:
    """The notes of one repair.

    Parameters:
        document: the author's schema as clean JSON, before any repair of its meaning.
        changes: what was rewritten, in order.
        moved: the new pointer of every schema node by its old one.
        refs: the nodes that hold a `$ref`, each with its old pointer.
        ids: old pointers by `$id`.
        anchors: old pointers by anchor name.
        tables: old pointers of definitions by name.
    """

    document: Json
    changes: list[SchemaChange] = field(default_factory=list[SchemaChange])
    moved: dict[str, str] = field(default_factory=dict[str, str])
    refs: list[tuple[Node, str]] = field(default_factory=list[tuple[Node, str]])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    anchors: dict[str, str] = field(default_factory=dict[str, str])
    tables: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def note(self, at: str, message: str) -> None:
        """List one change."""
        self.changes.append(SchemaChange(at, message))
