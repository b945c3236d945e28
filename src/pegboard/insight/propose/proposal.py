"""What applying a finding would write, as data: nothing is written here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One table of a config.

    Parameters:
        kind: `bundle`, `batch`, `scatter` or `hint`.
        name: the table's name: the new tool's full name, or of a hint the tool that it is about.
        table: its keys.
    """

    kind: str
    name: str
    table: Mapping[str, Any]

    @property
    def makes_a_tool(self) -> bool:
        """Whether it puts a new tool on the board."""
        return self.kind != "hint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What would be written for a finding.

    Parameters:
        finding: the finding's id.
        pieces: the tables, parts before what is made of them; the last one is what the finding is about.
        replaces: the sequences of tools that the new tool stands for, the longest first.
        notes: what a person should look at before and after.
        refused: why there is nothing to write, and what to do instead; None where there is.
    """

    finding: str
    pieces: tuple[Piece, ...] = ()
    replaces: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    refused: str | None = None

    @property
    def tool(self) -> str | None:
        """The full name of the new tool, or None."""
        return self.pieces[-1].name if self.pieces and self.pieces[-1].makes_a_tool else None
