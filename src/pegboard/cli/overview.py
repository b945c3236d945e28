"""`pegboard --help` and `--version`, without the cost of a parser."""

from collections.abc import Sequence
from importlib.metadata import version

from pegboard.cli.verbs import VERBS

_OPTIONS = (
    ("--help, -h", "Show this, or with a verb its own help."),
    ("--version", "Show the version."),
    ("--install-completion", "Complete verbs and options in your shell."),
)


def shortcut(arguments: Sequence[str]) -> str | None:
    """What to print, where the arguments ask for nothing else."""
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        return _overview() if len(arguments) <= 1 else None
    return version("pegboard") if list(arguments) == ["--version"] else None


def _overview() -> str:
    verbs = "\n".join(f"  {verb.name:<22}{verb.summary}" for verb in VERBS)
    options = "\n".join(f"  {name:<22}{text}" for name, text in _OPTIONS)
    return (
        "Usage: pegboard VERB [OPTIONS]\n\n"
        "One tool board for LLM agents: find, choose, call and trust tools from anywhere.\n\n"
        f"Verbs:\n{verbs}\n\nOptions:\n{options}\n\n"
        "Every verb takes --config FILE (./pegboard.toml if left out); verbs that read take --json.\n"
        "Exit codes: 0 ok; 1 a finding, a failed call or an unknown tool; 2 wrong usage or config."
    )
