"""What was published, as the store keeps it: data alone, without a database."""

from dataclasses import dataclass, field
from typing import Any

from pegboard.schema.types import JsonObject

BOARD = "board"
"""The kind of a whole board's versions; they carry no name, since a store is one board's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One published version of something: it never changes.

    Parameters:
        kind: of what: `board`, `chain`, `agent`.
        name: whose version it is; empty for a board.
        version: what the version is called.
        digest: of the content.
        published: Unix time in seconds.
        note: what is new in it.
        content: the definitions, as plain data.
    """

    kind: str
    name: str
    version: str
    digest: str
    published: float = 0.0
    note: str = ""
    content: JsonObject = field(default_factory=dict[str, Any])

    @property
    def label(self) -> str:
        """How it is called in commands: `v1` for a board, `chain/publish_report@v1` for all else."""
        return self.version if self.kind == BOARD else f"{self.kind}/{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Reference:
    """Which published version is meant: `v1`, `chain/publish_report@v1`; without a version the chosen or latest one.

    Parameters:
        kind: of what.
        name: whose.
        version: which; None for the chosen or latest one.
    """

    kind: str = BOARD
    name: str = ""
    version: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Read a reference as commands take it."""
        kind, slash, rest = text.partition("/")
        if not slash:
            return cls(version=text)
        name, at, version = rest.rpartition("@")
        return cls(kind, name, version) if at else cls(kind, rest)
