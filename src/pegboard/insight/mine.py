"""Mining files: portions out, evidence in, merged. How portions are worked on is an engine's matter."""

import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pegboard.errors import ConfigError
from pegboard.insight.evidence import Evidence
from pegboard.insight.portion import Keep, Line, Observed, Portion, Portions, observe
from pegboard.trace.importers.stream import Skipped
from pegboard.trace.record import Run

MOST_SKIPPED = 1000


@dataclass(frozen=True, slots=True)
class Mined:
    """What traces came to.

    Parameters:
        evidence: of all runs that count.
        skipped: what could not be read, the first `MOST_SKIPPED` of it, in order.
        unread: how much that was in all.
        twice: how many runs were there a second time, and were left out.
        filtered: how many runs did not count.
    """

    evidence: Evidence
    skipped: tuple[Skipped, ...] = ()
    unread: int = 0
    twice: int = 0
    filtered: int = 0


class Engine(Protocol):
    """Observes portions, in any order and place, and gives what they came to in the order of the portions."""

    def __call__(self, portions: Iterable[Portion], keep: Keep) -> Iterator[Observed]:
        """Observe the portions."""
        ...


def local(portions: Iterable[Portion], keep: Keep) -> Iterator[Observed]:
    """The engine that works here and now."""
    for portion in portions:
        yield observe(portion, keep)


def mine(
    paths: Iterable[Path],
    *,
    keep: Keep = Keep(),
    engine: Engine = local,
    format: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Mined:
    """Read traces and gather their evidence.

    Parameters:
        paths: files and folders; of a folder every file in it and below that looks like traces.
        keep: which runs count.
        engine: where the work is done; the evidence is the same.
        format: read every record as this format, whatever its content says.
        progress: told the runs and bytes so far.

    Raises:
        ConfigError: a path does not exist, or there is no such format.
        SourceError: a file cannot be opened.
    """
    portions = Portions(files(paths), format=format)
    total = _Total(progress)
    left: dict[str, list[Line]] = {}
    sources: list[str] = []

    def noted() -> Iterator[Portion]:
        for portion in portions:
            sources.append(portion.source)
            yield portion

    fruitful: set[str] = set()
    for index, observed in enumerate(engine(noted(), keep)):
        total.add(observed)
        if observed.evidence.runs or observed.filtered:
            fruitful.add(sources[index])
        if observed.left:
            left.setdefault(sources[index], []).extend(observed.left)
    for source, lines in left.items():
        for observed in engine(portions.of_left(source, lines), keep):
            total.add(observed)
            if observed.evidence.runs or observed.filtered:
                fruitful.add(source)
    skipped = sorted([*portions.skipped, *total.skipped], key=_line_order)
    told = tuple(_told(skipped, fruitful))
    return Mined(total.evidence, told[:MOST_SKIPPED], len(skipped), portions.twice, total.filtered)


def mine_runs(runs: Iterable[Run], *, keep: Keep = Keep(), engine: Engine = local) -> Mined:
    """Gather the evidence of runs that are at hand, such as those of a store."""
    portions = Portions(())
    total = _Total(None)
    for observed in engine(portions.of_runs(runs, "", 0), keep):
        total.add(observed)
    return Mined(total.evidence, twice=portions.twice, filtered=total.filtered)


class _Total:
    def __init__(self, progress: Callable[[int, int], None] | None) -> None:
        self.evidence = Evidence()
        self.skipped: list[Skipped] = []
        self.filtered = 0
        self._size = 0
        self._progress = progress

    def add(self, observed: Observed) -> None:
        self.evidence.merge(observed.evidence)
        self.skipped.extend(observed.skipped)
        self.filtered += observed.filtered
        self._size += observed.size
        if self._progress:
            self._progress(self.evidence.runs, self._size)


_PLACE = re.compile(r":\d+$| element \d+$")


def _told(skipped: Iterable[Skipped], fruitful: Set[str]) -> Iterator[Skipped]:
    """What was skipped, but a file without any run, such as a catalog among traces, as one."""
    barren: dict[str, list[Skipped]] = {}
    for item in skipped:
        source = _PLACE.sub("", item.where)
        barren.setdefault(item.where if source in fruitful else source, []).append(item)
    for source, items in barren.items():
        if len(items) == 1 or source in fruitful or source == items[0].where:
            yield from items
        else:
            yield Skipped(source, f"no traces in it: {len(items)} records, the first {items[0].message}")


def _line_order(item: Skipped) -> tuple[str, int, str]:
    source, _, line = item.where.rpartition(":")
    return (source, int(line), item.message) if line.isdigit() else (item.where, 0, item.message)


_ENDINGS = (".jsonl", ".json", ".ndjson", ".log", ".parquet")
_PACKED = (".gz", ".bz2", ".xz", ".zst")


def files(paths: Iterable[Path]) -> list[Path]:
    """The files that these paths mean: files as they are, and of folders what looks like traces, sorted.

    Raises:
        ConfigError: a path does not exist.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(each for each in path.rglob("*") if each.is_file() and _looks_like_traces(each)))
        elif path.exists():
            found.append(path)
        else:
            raise ConfigError(
                "There is no such file or folder.", where=str(path), next_step="Give trace files, or a folder of them."
            )
    return found


def _looks_like_traces(path: Path) -> bool:
    name = path.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name.endswith(_ENDINGS)
