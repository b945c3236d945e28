"""Which formats can be written, and writing runs to a file."""

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from pegboard.errors import ConfigError
from pegboard.trace.exporters import anthropic, native, openai_chat, openai_responses, otel
from pegboard.trace.record import Run

Exporter = Callable[[Run], Iterator[str]]
"""Gives the lines of a run."""

EXPORTERS: Mapping[str, Exporter] = {
    "pegboard": native.lines,
    "otel": otel.lines,
    "openai-chat": openai_chat.lines,
    "openai-responses": openai_responses.lines,
    "anthropic": anthropic.lines,
}
"""By the name of the format, as importers name it. `pegboard` and `otel` lose nothing."""


def write(runs: Iterable[Run], path: Path, *, format: str = "pegboard") -> int:
    """Write runs to a file, compressed if its name ends in `.gz`, as Parquet if in `.parquet`; returns how many.

    Raises:
        ConfigError: no exporter has this name.
    """
    if path.name.endswith(".parquet"):
        return _write_parquet(runs, path)
    exporter = EXPORTERS.get(format)
    if exporter is None:
        raise ConfigError(f"{format!r} cannot be written.", next_step=f"Use one of: {', '.join(EXPORTERS)}.")
    count = 0
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "wt", encoding="utf-8", errors="backslashreplace") as file:
        for run in runs:
            count += 1
            for line in exporter(run):
                file.write(line + "\n")
    return count


def _write_parquet(runs: Iterable[Run], path: Path) -> int:
    from pegboard.trace.parquet import write_parquet

    count = 0

    def counted() -> Iterator[Run]:
        nonlocal count
        for run in runs:
            count += 1
            yield run

    write_parquet(counted(), path)
    return count
