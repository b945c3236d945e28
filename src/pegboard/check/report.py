"""Findings as others read them: lines for people, annotations for GitHub, SARIF 2.1.0 for code scanning."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pegboard.check.finding import Finding, Severity
from pegboard.check.rule import Rule, summary
from pegboard.schema.types import Json

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SHOWN = 3
"""So many tools with the same finding are named in one line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands.

    Parameters:
        file: the file, relative to where the command runs, with forward slashes.
        line: from 1.
    """

    file: str
    line: int = 1


Locate = Callable[[Finding], Place | None]
"""Where a finding stands, if it stands in a file."""


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """One line for each finding; those that say the same of several tools in one."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.message), []).append(finding)
    for group in groups.values():
        first = group[0]
        yield f"{first.severity:8}{first.code}  {_about(group)}{first.message}"


def _about(group: Sequence[Finding]) -> str:
    named = [finding.tool for finding in group if finding.tool]
    if not named:
        return ""
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    return f"{', '.join(named[:SHOWN])}{more}: "


def total(findings: Sequence[Finding]) -> str:
    """How many findings there are, by severity, and how many of them a machine can fix."""
    counts = [(severity, sum(finding.severity is severity for finding in findings)) for severity in Severity]
    words = ", ".join(f"{count} {severity}{'' if count == 1 else 's'}" for severity, count in counts if count)
    fixable = sum(finding.fix is not None for finding in findings)
    hint = f" {fixable} can be fixed in the config." if fixable else ""
    return (
        f"{len(findings)} finding{'' if len(findings) == 1 else 's'}: {words}.{hint}"
        if findings
        else "Nothing to say: all is well."
    )


def github(findings: Sequence[Finding], locate: Locate) -> Iterator[str]:
    """Workflow commands that annotate a pull request (GitHub Actions, "Workflow commands")."""
    level = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
    for finding in findings:
        place = locate(finding)
        where = f"file={_property(place.file)},line={place.line}," if place else ""
        title = _property(f"{finding.code} {finding.rule}")
        about = f"{finding.tool}: " if finding.tool else ""
        yield f"::{level[finding.severity]} {where}title={title}::{_data(about + finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def sarif(findings: Sequence[Finding], rules: Sequence[Rule], locate: Locate, version: str) -> dict[str, Json]:
    """One SARIF 2.1.0 log (OASIS) with every rule and every finding.

    Parameters:
        findings: the findings.
        rules: the rules that spoke.
        locate: where a finding stands.
        version: ours.
    """
    places = {rule.code: index for index, rule in enumerate(rules)}
    driver = {
        "name": "pegboard",
        "version": version,
        "rules": [_rule(rule) for rule in rules],
    }
    results = [_result(finding, places, locate) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


_LEVEL: Mapping[Severity, str] = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def _rule(rule: Rule) -> dict[str, Json]:
    told = rule.explanation
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": summary(rule)},
        "fullDescription": {"text": told.why},
        "help": {"text": f"{told.why}\n\nBad: {told.bad}\nGood: {told.good}\n\n{told.remedy}"},
        "defaultConfiguration": {"level": _LEVEL[rule.severity]},
    }


def _result(finding: Finding, places: Mapping[str, int], locate: Locate) -> dict[str, Json]:
    about = f"{finding.tool}: " if finding.tool else ""
    location: dict[str, Any] = {}
    place = locate(finding)
    if place is not None:
        region = {"startLine": place.line}
        location["physicalLocation"] = {"artifactLocation": {"uri": place.file}, "region": region}
    if finding.tool:
        name = f"{finding.tool}{finding.pointer}"
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    mark = sha256("\0".join((finding.code, finding.tool, finding.pointer)).encode("utf-8", "replace")).hexdigest()
    return {
        "ruleId": finding.code,
        "ruleIndex": places[finding.code],
        "level": _LEVEL[finding.severity],
        "message": {"text": about + finding.message},
        "locations": [location] if location else [],
        "partialFingerprints": {"pegboardFinding/v1": mark},
    }
