"""`pegboard runs export`: traces written to a file, in any format that can be written."""

from pathlib import Path

from pegboard.cli.agent import read_runs
from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, say
from pegboard.trace.store import RunFilter


def export_runs(
    target: Path,
    *sources: Path,
    format: str = "pegboard",
    agent: str | None = None,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Write traces to a file: JSON Lines, compressed if it ends in .gz, or Parquet if it ends in .parquet.

    Parameters
    ----------
    target
        The file to write.
    sources
        Trace files or folders; without any, the board's own traces.
    format
        The form of JSON Lines: pegboard, otel, openai-chat, openai-responses or anthropic.
    agent
        Of the board's own traces only those of this agent; * stands for anything.
    """
    from pegboard.cli.runs import traces_at
    from pegboard.trace.exporters.registry import write

    found = read_runs(sources) if sources else traces_at(config).scan(RunFilter(agent=agent))
    count = write(found, target, format=format)
    if json:
        document({"runs": count, "file": str(target)})
    else:
        say(f"Wrote {count} runs to {target}.")
    return Exit.OK
