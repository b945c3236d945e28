"""A report as Markdown."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from pegboard.insight.finding import Finding, Kind
from pegboard.insight.summary import Summary
from pegboard.schema.types import Json

TITLES = {
    Kind.BUNDLE: "Sequences to bundle",
    Kind.BATCH: "Loops to batch",
    Kind.FAN_OUT: "Questions to ask at once",
    Kind.MERGE: "Tools to merge",
    Kind.LADDER_GAP: "Missing rungs",
    Kind.MISSING_HINT: "Missing hints",
    Kind.HOT_SPOT: "Where calls fail",
    Kind.CONTEXT: "Values for the context",
    Kind.SEARCH_MISS: "Searches that missed",
    Kind.BUDGET_PRESSURE: "Budget",
    Kind.UNPROVEN: "Composites without proof",
    Kind.NO_TRAFFIC: "Tools without traffic",
    Kind.DEAD: "Dead tools",
}
"""What a report calls each kind."""

_BARS = "▁▂▃▄▅▆▇█"


def markdown(summary: Summary) -> str:
    """The report as one Markdown document."""
    parts = ["# What the traces teach", headline(summary), *_sections(summary.findings), *_traffic(summary)]
    if summary.skipped:
        parts.append(f"## Not read ({summary.unread})\n\n" + "\n".join(f"- {_plain(line)}" for line in summary.skipped))
    return "\n\n".join(parts) + "\n"


def headline(summary: Summary) -> str:
    """What was read and what it comes to, in a few sentences."""
    saving = summary.saving
    lines = [
        f"{summary.runs} runs of {summary.tasks} tasks with {summary.calls} calls; {len(summary.findings)} findings."
    ]
    if saving["calls"]:
        lines.append(
            f"Applied together they would have saved {saving['calls']} calls ({saving['calls'] / summary.calls:.0%}), "
            f"{saving['turns']} turns and about {saving['tokens']} tokens of arguments."
        )
    if summary.lengths:
        lines.append(f"Calls a run, from few to many: {sparkline(summary.lengths)}")
    lines += [
        f"{count} {what}"
        for count, what in (
            (summary.unread, "lines could not be read."),
            (summary.twice, "runs were there twice and counted once."),
            (summary.filtered, "runs did not match the filters."),
        )
        if count
    ]
    return "\n".join(lines)


def sparkline(lengths: Sequence[tuple[int, int]], columns: int = 24) -> str:
    """Runs by their number of calls, as a line of bars."""
    longest = max(length for length, _ in lengths)
    width = max(1, -(-(longest + 1) // columns))
    counts = [0] * (longest // width + 1)
    for length, runs in lengths:
        counts[length // width] += runs
    most = max(counts)
    return "".join(_BARS[min(7, count * 8 // (most + 1))] if count else " " for count in counts).rstrip()


def _sections(findings: Iterable[Finding]) -> Iterable[str]:
    for kind, group in groupby(findings, key=lambda finding: finding.kind):
        rows = list(group)
        yield f"## {TITLES[kind]} ({len(rows)})\n\n" + "\n".join(_item(row) for row in rows)


def _item(finding: Finding) -> str:
    saving = finding.saving
    saved = f", saves {saving.calls} calls and {saving.turns} turns" if saving.calls else ""
    lines = [
        f"- **{_plain(' > '.join(finding.tools[:6]))}** (`{finding.id}`, confidence {finding.confidence:.2f}{saved})  ",
        f"  {_plain(finding.reason)}",
    ]
    lines += [f"  - {_wire(row)}" for row in finding.details.get("wiring", ())]
    if finding.examples:
        lines.append(f"  - seen in: {', '.join(f'`{_plain(run)}`' for run in finding.examples)}")
    return "\n".join(lines)


def _wire(row: dict[str, Json]) -> str:
    source = row["from"]
    place = source.get("result") or source.get("argument") or source.get("pattern") or ""
    return _plain(
        f"{row['tool']}.{row['argument']} comes from {source['tool']} {place}".strip() + f" ({row['share']:.0%})"
    )


def _traffic(summary: Summary) -> Iterable[str]:
    if summary.traffic:
        head = "| tool | calls | runs | tasks | failed | tokens a call |\n|---|---:|---:|---:|---:|---:|\n"
        rows = (
            f"| {_plain(str(row['tool']))} | {row['calls']} | {row['runs']} | {row['tasks']} | {row['failed']} "
            f"| {row['mean_tokens']} |"
            for row in summary.traffic
        )
        yield "## Traffic\n\n" + head + "\n".join(rows)


def _plain(text: str) -> str:
    """A foreign text as one line in which Markdown sees no structure."""
    line = " ".join(str(text).split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>|#" else character for character in line)
