"""What a rule is: a code, a severity, an explanation that teaches, and a way to find what breaks it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from pegboard.check.finding import Finding, Fix, Severity
from pegboard.check.toolset import Toolset
from pegboard.core import ToolSpec
from pegboard.schema.types import JsonObject


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a rule teaches.

    Parameters:
        why: what happens to agents where the rule is broken.
        bad: an example that breaks it.
        good: the same, mended.
        remedy: how to fix it, for one's own tools and for foreign ones.
    """

    why: str
    bad: str
    good: str
    remedy: str


class Rule:
    """A rule. A subclass sets the fields, says in its docstring what it reports, and finds it in `tool` or in `tools`.

    Parameters:
        code: `PB` and three digits; the first says the theme.
        name: in words, joined by hyphens.
        severity: how bad a breach is, unless the finding says otherwise.
        explanation: what it teaches.
        fixable: whether some of its findings carry an override.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    explanation: ClassVar[Explanation]
    fixable: ClassVar[bool] = False

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """What is to be said of one tool among the others."""
        yield from ()

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """What is to be said of the tools together."""
        yield from ()

    def finding(
        self,
        about: ToolSpec | str,
        message: str,
        *,
        pointer: str = "",
        severity: Severity | None = None,
        others: tuple[str, ...] = (),
        fix: JsonObject | Fix | None = None,
        details: dict[str, Any] | None = None,
    ) -> Finding:
        """A finding of this rule.

        Parameters:
            about: the tool, or the name of a tool that is not there; empty for the set.
            message: what is wrong.
            pointer: JSON pointer into the definition.
            severity: where it is not the rule's own.
            others: the other tools that it is about.
            fix: the keys of an override that mends it, or another fix.
            details: figures behind the message.
        """
        tool = about if isinstance(about, str) else str(about.name)
        return Finding(
            code=self.code,
            rule=self.name,
            severity=severity or self.severity,
            tool=tool,
            message=message,
            pointer=pointer,
            others=others,
            fix=fix if isinstance(fix, Fix) else Fix(tool, fix) if fix else None,
            details=details or {},
        )


def summary(rule: Rule) -> str:
    """What a rule reports: the first paragraph of its docstring, on one line."""
    return " ".join((rule.__doc__ or "").strip().split("\n\n")[0].split())
