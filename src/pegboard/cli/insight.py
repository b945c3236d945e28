"""`pegboard insight`: what traces teach, and its verbs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from pegboard.cli.exit import Exit
from pegboard.cli.mined import EngineName, keep, mined, offered
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, guarded, one_line, row, say, table
from pegboard.insight.summary import Summary, summarise

app: Any = App(name="insight", help="Learn from traces: what to bundle, batch, merge and retire, and what it saves.")

for _verb, _home in (("list", "list_findings"), ("show", "show"), ("apply", "apply"), ("undo", "undo")):
    app.command(f"pegboard.cli.findings:{_home}", name=_verb)

app.command("pegboard.cli.verify:verify_finding", name="verify")

_SHOWN = 40


@app.default
def insight(
    *sources: Path,
    catalog: Annotated[Path | None, Parameter(help="The tools that were on offer: a JSON file of tool rows.")] = None,
    since: Annotated[str | None, Parameter(help="Only runs since then: 90m, 12h, 7d, or a date.")] = None,
    agent: Annotated[Sequence[str], Parameter(help="Only runs of these agents (patterns).")] = (),
    tool: Annotated[Sequence[str], Parameter(help="Only runs that call these tools (patterns).")] = (),
    format: Annotated[str | None, Parameter(help="Read the sources as this format, whatever they look like.")] = None,
    jobs: Annotated[int, Parameter(validator=Number(gte=1), help="Work in so many processes.")] = 1,
    engine: Annotated[
        EngineName | None, Parameter(help="Where to work; by default here, or in --jobs processes.")
    ] = None,
    ray_address: Annotated[str | None, Parameter(help="The Ray cluster to use; by default one of its own.")] = None,
    html: Annotated[Path | None, Parameter(help="Write the report there, as one HTML page with plots.")] = None,
    markdown: Annotated[Path | None, Parameter(help="Write the report there, as Markdown.")] = None,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Learn from traces: what to bundle, batch, merge and retire, and what it saves.

    Parameters
    ----------
    sources
        Trace files or folders, of any known format, compressed or not; without any, the board's own traces.
    """
    with guarded():
        told = mined(
            sources,
            config,
            since=since,
            agents=agent,
            tools=tool,
            format=format,
            jobs=jobs,
            engine=engine,
            address=ray_address,
        )
        summary = summarise(told, offered(catalog, config, board=not sources))
        _write(summary, html, markdown)
        if config.exists():
            keep(summary, sources, config)
        if json:
            document(summary.to_json())
        else:
            _show(summary)
    return Exit.OK


def _write(summary: Summary, html: Path | None, markdown: Path | None) -> None:
    if html is not None:
        from pegboard.insight.page import page

        html.write_text(page(summary), "utf-8")
        say(f"Wrote {html}.")
    if markdown is not None:
        from pegboard.insight.markdown import markdown as text

        markdown.write_text(text(summary), "utf-8")
        say(f"Wrote {markdown}.")


def _show(summary: Summary) -> None:
    from pegboard.insight.markdown import headline

    say(headline(summary))
    rows = [
        (
            finding.id,
            one_line(" > ".join(finding.tools[:4]) + (" ..." if len(finding.tools) > 4 else "")),
            finding.runs,
            finding.tasks,
            f"{finding.confidence:.2f}",
            f"{finding.saving.calls} / {finding.saving.turns}" if finding.saving.calls else "",
        )
        for finding in summary.findings[:_SHOWN]
    ]
    table(("finding", "tools", "runs", "tasks", "sure", "saves calls / turns"), rows)
    if len(summary.findings) > _SHOWN:
        say(f"... and {len(summary.findings) - _SHOWN} more; --json, --markdown or --html show all, with reasons.")
    for line in summary.skipped[:5]:
        say(f"Not read: {one_line(line)}")


@app.command
def provenance(*sources: Path, format: str | None = None, json: AsJson = False) -> int:
    """Show where each argument of each call came from: one JSON line a run, in the form of answer keys.

    Parameters
    ----------
    sources
        Trace files or folders.
    format
        Read the sources as this format, whatever they look like.
    json
        Print one JSON line a run; so it does in any case.
    """
    from pegboard.insight.flow import answer
    from pegboard.insight.mine import files
    from pegboard.trace.importers import Skipped, read

    with guarded():
        for path in files(sources):
            for item in read(path, format=format):
                if isinstance(item, Skipped):
                    say(f"Not read: {one_line(item)}")
                else:
                    row(answer(item))
    return Exit.OK


@app.command
def simulate(
    *sources: Path,
    findings: Annotated[Path, Parameter(help="What `pegboard insight --json` printed.")],
    only: Annotated[Sequence[str], Parameter(help="Only these findings, by id.")] = (),
    cap: Annotated[int, Parameter(validator=Number(gte=1), help="Count runs with more calls than this.")] = 10,
    format: Annotated[str | None, Parameter(help="Read the sources as this format, whatever they look like.")] = None,
    jobs: Annotated[int, Parameter(validator=Number(gte=1), help="Work in so many processes.")] = 1,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Replay findings on other traces: what they would have saved there.

    Parameters
    ----------
    sources
        Trace files or folders; without any, the board's own traces.
    """
    from pegboard.cli.mined import read_findings
    from pegboard.insight.replay import plan_from_json
    from pegboard.insight.simulate import simulate as replayed

    rows = [row for row in read_findings(findings) if not only or row.get("id") in only]
    with guarded():
        told = mined(sources, config, format=format, jobs=jobs)
        plan = plan_from_json(rows)
        answer = replayed(told.evidence, plan, known=plan.findings, cap=cap).to_json()
        if json:
            document(answer)
        else:
            _show_simulation(answer, cap)
    return Exit.OK


def _show_simulation(answer: dict[str, Any], cap: int) -> None:
    say(f"{answer['runs']} runs.")
    rows = [("calls", answer["calls"]), ("turns", answer["turns"]), (f"runs over {cap} calls", answer[f"over_{cap}"])]
    table(
        ("", "before", "after", "change"),
        [(name, before, after, f"{after / before - 1:+.1%}" if before else "") for name, (before, after) in rows],
    )
    table(
        ("finding", "runs", "times", "calls", "turns"),
        [(row["id"], row["runs"], row["times"], row["calls"], row["turns"]) for row in answer["by_finding"]],
    )
