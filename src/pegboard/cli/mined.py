"""Traces for verbs that learn from them: from files, or from the board's own store."""

import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from pegboard.cli.when import moment
from pegboard.errors import ConfigError
from pegboard.insight.mine import Engine, Mined, local, mine
from pegboard.insight.offer import Offer, read_offer
from pegboard.insight.portion import Keep


def mined(
    sources: Sequence[Path],
    config: Path,
    *,
    since: str | None = None,
    agents: Sequence[str] = (),
    tools: Sequence[str] = (),
    format: str | None = None,
    jobs: int = 1,
    ray: bool = False,
) -> Mined:
    """The evidence of some sources, with a passing line on how far it is.

    Raises:
        ConfigError: there are no sources, and the board has no traces.
    """
    keep = Keep(moment(since), tuple(agents), tuple(tools))
    if not sources:
        raise ConfigError("No traces were named.", where=str(config), next_step="Give trace files or folders.")
    with _progress() as told:
        return mine(sources, keep=keep, engine=_engine(jobs, ray), format=format, progress=told)


def _engine(jobs: int, ray: bool) -> Engine:
    if jobs > 1:
        from pegboard.insight.processes import processes

        return processes(jobs)
    return local


@contextmanager
def _progress() -> Generator[Callable[[int, int], None]]:
    if not sys.stderr.isatty():
        yield lambda runs, size: None
        return
    from rich.console import Console

    with Console(stderr=True).status("Reading ...") as line:
        yield lambda runs, size: line.update(f"Read {runs} runs, {size / 1e6:.0f} MB ...")


def offered(catalog: Path | None, config: Path, *, board: bool) -> Offer:
    """The tools that were on offer: of a file, or of the board itself; none where neither is asked for."""
    return read_offer(catalog)[0] if catalog is not None else Offer()


def read_findings(path: Path) -> list[dict[str, Any]]:
    """The findings of a file that `pegboard insight --json` wrote.

    Raises:
        ConfigError: it holds none.
    """
    step = "Write it with: pegboard insight FILES --json > findings.json"
    try:
        whole: Any = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as problem:
        raise ConfigError(f"Cannot read findings: {problem}", where=str(path), next_step=step) from problem
    rows: Any = cast("dict[str, Any]", whole).get("findings") if isinstance(whole, dict) else whole
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in cast("list[Any]", rows)):
        raise ConfigError("It holds no findings.", where=str(path), next_step=step)
    return cast("list[dict[str, Any]]", rows)
