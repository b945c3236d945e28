"""Traces for verbs that learn from them: from files, or from the board's own store."""

import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import anyio

from pegboard.board import Board
from pegboard.board.passage import traces_of
from pegboard.cli.open import doubtful
from pegboard.cli.when import moment
from pegboard.config import load
from pegboard.core import ToolSpec
from pegboard.errors import ConfigError
from pegboard.insight.mine import Engine, Mined, local, mine, mine_runs
from pegboard.insight.offer import Offer, read_offer
from pegboard.insight.portion import Keep
from pegboard.insight.summary import Summary
from pegboard.insight.trial import TRIAL
from pegboard.trace.store import RunFilter, TraceStore

EngineName: TypeAlias = Literal["local", "processes", "ray"]
"""Where traces are mined; the findings are the same."""


def mined(
    sources: Sequence[Path],
    config: Path,
    *,
    since: str | None = None,
    agents: Sequence[str] = (),
    tools: Sequence[str] = (),
    format: str | None = None,
    jobs: int = 1,
    engine: EngineName | None = None,
    address: str | None = None,
) -> Mined:
    """The evidence of some sources, or of the board's own traces, with a passing line on how far it is.

    Raises:
        ConfigError: there are no sources, and the board has no traces.
    """
    keep = Keep(moment(since), tuple(agents), tuple(tools))
    if not sources:
        own = (run for run in _own(config).scan(RunFilter(since=keep.since)) if run.agent != TRIAL)
        return mine_runs(own, keep=keep, engine=_engine(jobs, engine, address))
    with _progress() as told:
        work = _engine(jobs, engine, address)
        return mine(sources, keep=keep, engine=work, format=format, progress=told)


def _own(config: Path) -> TraceStore:
    """The board's own traces."""
    traces = traces_of(load(config)) if config.exists() else None
    if traces is None:
        raise ConfigError(
            "No traces were named, and there is no board here that keeps any.",
            where=str(config),
            next_step="Give trace files or folders, or a board with --config.",
        )
    return traces


def _engine(jobs: int, kind: EngineName | None = None, address: str | None = None) -> Engine:
    if kind == "ray":
        from pegboard.insight.clusters import cluster

        return cluster(jobs, address=address)
    if kind == "processes" or kind is None and jobs > 1:
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
    """The tools that were on offer: of a file, or of the board itself; none where neither is asked for.

    Parameters:
        catalog: a file of tool rows.
        config: the board's config.
        board: whether the board's own tools are meant where there is no file; they are taken as they are stored.
    """
    if catalog is not None:
        return read_offer(catalog)[0]
    return stored_offer(config) if board else Offer()


def stored_offer(config: Path) -> Offer:
    """The tools of a board, as they are stored."""
    return Offer(anyio.run(_stored, config))


async def _stored(config: Path) -> tuple[ToolSpec, ...]:
    async with Board.open(load(config), refresh=doubtful) as board:
        return board.catalog.specs


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


def keep(summary: Summary, sources: Sequence[Path], config: Path) -> None:
    """Keep the findings in the board's store, so that `apply`, `show` and `verify` know them by id."""
    settings = load(config)
    if isinstance(settings.board.store, Path):
        from pegboard.board.findings import Findings

        Findings(settings).keep([finding.to_json() for finding in summary.findings], sources)
