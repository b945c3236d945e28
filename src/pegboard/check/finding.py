"""What a check says of a catalog: a coded finding, and the override that would mend it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pegboard.schema.types import Json, JsonObject


class Severity(StrEnum):
    """How bad it is, worst first."""

    ERROR = "error"
    """Agents fail, or are led astray: the check ends with exit code 1."""
    WARNING = "warning"
    """Agents choose or call worse than they could."""
    INFO = "info"
    """Worth knowing; whether it is worth a change, its maintainer judges."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Fix:
    """What the board's own config can say over the tool's definition, so that the finding is gone.

    Parameters:
        tool: the tool, `namespace.name`.
        values: keys and values of `[override."namespace.name"]`.
        table: the kind of table, where it is not `override`.
    """

    tool: str
    values: JsonObject
    table: str = "override"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a rule has to say.

    Parameters:
        code: the rule's code, such as `PB401`.
        rule: the rule's name, such as `destructive-without-preview`.
        severity: how bad it is.
        tool: the tool, `namespace.name`; empty where it is about the set as a whole.
        message: what is wrong and, in half a sentence, what to do.
        pointer: JSON pointer into the tool's definition, where one place is meant.
        others: the other tools that it is about.
        fix: what a machine can do about it.
        details: figures and lists behind the message.
    """

    code: str
    rule: str
    severity: Severity
    tool: str
    message: str
    pointer: str = ""
    others: tuple[str, ...] = ()
    fix: Fix | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "code": self.code,
            "rule": self.rule,
            "severity": self.severity.value,
            "tool": self.tool or None,
            "pointer": self.pointer,
            "message": self.message,
            "others": list(self.others),
            "fix": {"table": f"{self.fix.table}.{self.fix.tool}", **self.fix.values} if self.fix else None,
            "details": dict(self.details),
        }


def statistics(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings each rule has, by code, in the order of the codes."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
    return dict(sorted(counts.items()))
