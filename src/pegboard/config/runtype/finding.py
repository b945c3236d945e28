"""What is said of a foreign definition: each with a code, a JSON pointer into it, and what to do."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pegboard.schema.types import Json, pointer


class Weight(StrEnum):
    """How heavy a finding is."""

    REFUSED = "refused"
    """It cannot be taken over; nothing is."""
    CHANGED = "changed"
    """It is taken over, and works otherwise here."""
    DROPPED = "dropped"
    """It has no effect here; the origin keeps it for the way back."""
    WARNING = "warning"
    """It is taken over as it is, and is likely wrong."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is said.

    Parameters:
        weight: how heavy it is.
        code: Runtype's own where it has one, such as `TOOL_CALL_STEP_UNKNOWN_CATALOG_TOOL`.
        where: JSON Pointer into the document.
        message: what is so.
        next_step: what to do.
    """

    weight: Weight
    code: str
    where: str
    message: str
    next_step: str | None = None

    def __str__(self) -> str:
        step = f" {self.next_step}" if self.next_step else ""
        return f"{self.weight} {self.code} at {self.where or '/'}: {self.message}{step}"

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "weight": self.weight.value,
            "code": self.code,
            "where": self.where,
            "message": self.message,
            "next_step": self.next_step,
        }


@dataclass
class Findings:
    """Collects what is said."""

    all: list[Finding] = field(default_factory=list[Finding])
    secrets: dict[tuple[str | int, ...], str] = field(default_factory=dict[tuple[str | int, ...], str])
    """By its place, what stands for a secret that stood there in plain text."""

    _seen: set[Finding] = field(default_factory=set[Finding])

    @property
    def refused(self) -> bool:
        """Whether something cannot be taken over."""
        return any(one.weight is Weight.REFUSED for one in self.all)

    def say(self, weight: Weight, code: str, at: tuple[str | int, ...], message: str, step: str | None = None) -> None:
        """Add one; the same of the same place only once."""
        found = Finding(weight, code, pointer(*at), message, step)
        if found not in self._seen:
            self._seen.add(found)
            self.all.append(found)

    def secret(self, at: tuple[str | int, ...], variable: str, scheme: str = "") -> str:
        """Say that a secret stood in plain text; the reference that stands for it."""
        self.say(
            Weight.CHANGED,
            "SECRET_INLINE",
            at,
            "A secret stood here in plain text; it is not taken over.",
            f"Set ${variable} to it.",
        )
        self.secrets[at] = f"{scheme}{{{{secret:{variable}}}}}"
        return f"{scheme}${{env:{variable}}}"

    def refuse(self, code: str, at: tuple[str | int, ...], message: str, step: str | None = None) -> None:
        """Add one that lets nothing be taken over."""
        self.say(Weight.REFUSED, code, at, message, step)


def without_secrets(document: Json, secrets: Mapping[tuple[str | int, ...], str]) -> Json:
    """A document with references in the place of secrets.

    Parameters:
        document: plain data.
        secrets: by place, what stands there instead.
    """
    if not secrets:
        return document
    copied: Any = json.loads(json.dumps(document))
    for at, text in secrets.items():
        inner = copied
        for part in at[:-1]:
            inner = inner[part]
        inner[at[-1]] = text
    return copied
