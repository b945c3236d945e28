"""A share with its interval, as tables of before and after show it."""

from dataclasses import dataclass
from math import sqrt

from pegboard.schema.types import Json

Z95 = 1.96


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many.

    Parameters:
        hits: how many.
        of: of how many.
    """

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval (Wilson, "Probable inference", 1927); from 0 to 1 where nothing was seen."""
        if not self.of:
            return 0.0, 1.0
        share, of, z = self.hits / self.of, self.of, Z95
        centre = share + z * z / (2 * of)
        spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
        whole = 1 + z * z / of
        return max(0.0, (centre - spread) / whole), min(1.0, (centre + spread) / whole)

    def __str__(self) -> str:
        if self.value is None:
            return "none seen"
        low, high = self.interval
        return f"{self.hits} of {self.of} ({self.value:.0%}, {low:.0%} to {high:.0%})"

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        low, high = self.interval
        share = None if self.value is None else round(self.value, 4)
        return {"passed": self.hits, "of": self.of, "share": share, "interval": [round(low, 4), round(high, 4)]}


def apart(one: Share, other: Share) -> bool:
    """Whether two shares differ by more than chance explains: their 95 % intervals do not meet."""
    low, high = one.interval
    other_low, other_high = other.interval
    return high < other_low or other_high < low
