"""The words of a comparison: how much a difference weighs, on which side of a call, and in which direction it goes."""

from dataclasses import dataclass
from enum import StrEnum

from pegboard.schema.types import Json, canonical


class Weight(StrEnum):
    """What a difference means for those who call the tool, heaviest first."""

    BREAKING = "breaking"
    """A call that was right, or a reading of its answer, may now be wrong, or may do more harm."""
    COMPATIBLE = "compatible"
    """Whatever worked goes on working."""
    DOCS = "docs"
    """Only the words changed."""


class Side(StrEnum):
    """Which way the values of a schema travel."""

    INPUT = "input"
    """From the caller to the tool: it hurts when the tool takes less."""
    OUTPUT = "output"
    """From the tool to the caller: it hurts when the tool may answer more."""


class Turn(StrEnum):
    """How the set of values that a schema admits has changed."""

    NARROWER = "narrower"
    WIDER = "wider"
    OTHER = "other"
    """Neither inside the other, or not decided."""

    def weight(self, side: Side) -> Weight:
        """What the turn means on this side of a call."""
        harmless = Turn.WIDER if side is Side.INPUT else Turn.NARROWER
        return Weight.COMPATIBLE if self is harmless else Weight.BREAKING


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two definitions differ.

    Parameters:
        weight: what it means for callers.
        pointer: JSON pointer into the newer definition; into the older one for what was removed. It follows the
            values: where a schema is used through `$ref`, the pointer is that of the place that uses it.
        message: what changed and why it weighs so much, in one sentence.
        before: what stood there; None where nothing did.
        after: what stands there now; None where nothing does.
    """

    weight: Weight
    pointer: str
    message: str
    before: Json = None
    after: Json = None

    def __str__(self) -> str:
        return f"{self.weight} {self.pointer or '/'}: {self.message}"


def brief(value: Json, limit: int = 60) -> str:
    """A JSON value as text for a message, cut to `limit` characters."""
    text = canonical(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
