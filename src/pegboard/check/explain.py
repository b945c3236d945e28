"""Rules explained: to a person who met one, and as the reference page."""

from collections.abc import Iterable

from pegboard.check.rule import Rule, summary
from pegboard.schema.types import Json


def page(rule: Rule) -> str:
    """What a rule reports, why, an example of each side, and how to fix it, as text."""
    told = rule.explanation
    fixable = "\n\nA machine can fix some of it: pegboard check --fix" if rule.fixable else ""
    return (
        f"{rule.code} {rule.name} ({rule.severity})\n\n{summary(rule)}\n\nWhy: {told.why}\n\n"
        f"Bad:  {_shown(told.bad)}\nGood: {_shown(told.good)}\n\nHow to fix it: {told.remedy}{fixable}"
    )


def _shown(example: str) -> str:
    """An example, its further lines below its first."""
    return example.replace("\n", "\n      ")


def listed(rules: Iterable[Rule]) -> list[tuple[str, str, str, str]]:
    """Code, severity, name and summary of each rule."""
    return [(rule.code, rule.severity.value, rule.name, summary(rule)) for rule in rules]


def explained(rule: Rule) -> dict[str, Json]:
    """A rule as plain data."""
    told = rule.explanation
    return {
        "code": rule.code,
        "rule": rule.name,
        "severity": rule.severity.value,
        "fixable": rule.fixable,
        "what": summary(rule),
        "why": told.why,
        "bad": told.bad,
        "good": told.good,
        "remedy": told.remedy,
    }
