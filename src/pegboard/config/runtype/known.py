"""What the ids of a foreign definition mean on a board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the ids of a flow mean on a board.

    Parameters:
        known: the full names of the board's tools; None where nobody knows, so that none is missed.
        agents: the names of the config's agents; None where nobody knows.
        renamed: by an id of Runtype, the tool or agent that stands for it.
    """

    known: Sequence[str] | None = None
    agents: Sequence[str] | None = None
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
