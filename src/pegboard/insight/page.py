"""A report as one HTML page that needs nothing else: no script, no font, no request."""

from collections.abc import Iterable
from html import escape
from itertools import groupby

from pegboard.insight.chart import bars, flow_graph, histogram
from pegboard.insight.finding import Finding
from pegboard.insight.markdown import TITLES, headline
from pegboard.insight.summary import Summary

_MOST_BARS = 20

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #667; --line: #d5d9e0; --back: #fff; --accent: #2a6fbb;
  --accent-2: #c2641b; --panel: #f6f7f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --faint: #9aa3ad; --line: #343a42; --back: #14171a;
  --accent: #6aa9ea; --accent-2: #e39a5c; --panel: #1c2025; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.25rem 4rem; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.figures div { background: var(--panel); border-radius: .5rem; padding: .75rem 1rem; }
.figures b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.figures span, .faint { color: var(--faint); font-size: .85rem; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: .5rem .9rem; }
summary { cursor: pointer; display: flex; gap: .75rem; flex-wrap: wrap; align-items: baseline; }
summary code { font-weight: 600; } summary .saves { margin-left: auto; color: var(--accent); }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } th { font-weight: 600; color: var(--faint); }
.wide { overflow-x: auto; } svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; } svg .faint { fill: var(--faint); }
svg .bar { fill: var(--accent); } svg .bar.second { fill: var(--accent-2); } svg .axis { stroke: var(--line); }
svg .edge { fill: none; stroke: var(--accent); stroke-opacity: .45; }
svg .node { fill: var(--panel); stroke: var(--line); }
"""


def page(summary: Summary) -> str:
    """The report as one HTML document."""
    body = "\n".join(
        (
            "<h1>What the traces teach</h1>",
            f'<p class="faint">{escape(headline(summary).splitlines()[0])}</p>',
            _figures(summary),
            _plot("What each finding saves", _savings(summary.findings)),
            _plot("How values flow", flow_graph(summary.flows)),
            *_sections(summary.findings),
            _plot("Calls a run", histogram(summary.lengths, mark=10)),
            _plot("Traffic", bars([(str(row["tool"]), row["calls"], 0) for row in summary.traffic[:_MOST_BARS]])),
            _traffic(summary),
            _unread(summary),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Pegboard insight</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _figures(summary: Summary) -> str:
    saving = summary.saving
    share = f" ({saving['calls'] / summary.calls:.0%})" if summary.calls and saving["calls"] else ""
    figures = (
        (summary.runs, "runs"),
        (summary.tasks, "tasks"),
        (summary.calls, "calls"),
        (len(summary.findings), "findings"),
        (saving["calls"], f"calls saved{share}"),
        (saving["turns"], "turns saved"),
    )
    return (
        '<div class="figures">' + "".join(f"<div><b>{n}</b><span>{what}</span></div>" for n, what in figures) + "</div>"
    )


def _plot(title: str, drawing: str) -> str:
    return f'<h2>{escape(title)}</h2>\n<div class="wide">{drawing}</div>' if drawing else ""


def _savings(findings: Iterable[Finding]) -> str:
    rows = sorted((row for row in findings if row.saving.calls), key=lambda row: (-row.saving.calls, row.id))
    labelled = [(" > ".join(row.tools), row.saving.calls, row.saving.turns) for row in rows[:_MOST_BARS]]
    return bars(labelled, names=("calls", "turns"))


def _sections(findings: Iterable[Finding]) -> Iterable[str]:
    for kind, group in groupby(findings, key=lambda finding: finding.kind):
        rows = list(group)
        yield f"<h2>{escape(TITLES[kind])} ({len(rows)})</h2>\n" + "\n".join(map(_detail, rows))


def _detail(finding: Finding) -> str:
    saving = finding.saving
    saves = f'<span class="saves">saves {saving.calls} calls, {saving.turns} turns</span>' if saving.calls else ""
    seen = f"{finding.runs} runs, {finding.tasks} tasks, confidence {finding.confidence:.2f}"
    wires = "".join(f"<li>{escape(_wire(row))}</li>" for row in finding.details.get("wiring", ()))
    examples = ", ".join(f"<code>{escape(run)}</code>" for run in finding.examples)
    foot = f"<code>{escape(finding.id)}</code>" + (f" · seen in {examples}" if examples else "")
    return (
        f'<details id="{escape(finding.id)}"><summary><code>{escape(" > ".join(finding.tools[:8]))}</code>'
        f'<span class="faint">{escape(seen)}</span>{saves}</summary><p>{escape(finding.reason)}</p>'
        + (f"<ul>{wires}</ul>" if wires else "")
        + f'<p class="faint">{foot}</p></details>'
    )


def _wire(row: dict[str, dict[str, object]]) -> str:
    source = row["from"]
    place = source.get("result") or source.get("argument") or source.get("pattern") or ""
    return f"{row['tool']}.{row['argument']} ← {source['tool']} {place}"


def _traffic(summary: Summary) -> str:
    head = "<tr><th>tool</th><th>calls</th><th>runs</th><th>tasks</th><th>failed</th><th>tokens a call</th></tr>"
    rows = "".join(
        f"<tr><td><code>{escape(str(row['tool']))}</code></td><td>{row['calls']}</td><td>{row['runs']}</td>"
        f"<td>{row['tasks']}</td><td>{row['failed']}</td><td>{row['mean_tokens']}</td></tr>"
        for row in summary.traffic
    )
    return f'<div class="wide"><table>{head}{rows}</table></div>' if rows else ""


def _unread(summary: Summary) -> str:
    rows = "".join(f"<li><code>{escape(line)}</code></li>" for line in summary.skipped)
    return f"<h2>Not read ({summary.unread})</h2><ul>{rows}</ul>" if rows else ""
