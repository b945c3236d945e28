"""How much a store keeps of assets."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """How much is kept; what would expire first makes room for more.

    Parameters:
        bytes: of all assets together.
        assets: how many of them.
    """

    bytes: int = 1_000_000_000
    assets: int = 20_000
