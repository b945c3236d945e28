"""Traces cut into portions, which can be read and observed anywhere: the work that engines hand out.

Files in which each line is a whole run are cut into raw lines, and parsed where they are observed. Other files are
put together into runs by whoever reads them. The cuts are the same whatever engine works on them.
"""

import fnmatch
import gc
import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from pegboard.errors import MissingExtraError, SourceError
from pegboard.insight.evidence import Evidence
from pegboard.trace.importers.format import Assembler, Format
from pegboard.trace.importers.registry import assembled, detect, holds, read, unknown
from pegboard.trace.importers.stream import Record, Skipped, line_head, numbered_lines, opened, parsed
from pegboard.trace.parquet import is_parquet
from pegboard.trace.record import Run

PORTION_BYTES = 16 * 1024 * 1024
PORTION_RUNS = 2000

Line = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Keep:
    """Which runs count.

    Parameters:
        since: only runs with a call that started at this Unix time or later; runs without times fall out.
        agents: only runs of agents that match one of these patterns; all where empty.
        tools: only runs that call a tool that matches one of these patterns; all where empty.
    """

    since: float | None = None
    agents: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    def holds(self, run: Run) -> bool:
        """Whether a run counts."""
        if self.since is not None and not any((call.started or 0) >= self.since for call in run.calls):
            return False
        if self.agents and not any(fnmatch.fnmatchcase(run.agent or "", pattern) for pattern in self.agents):
            return False
        tools = {call.tool for call in run.calls} if self.tools else set[str]()
        return not self.tools or any(fnmatch.fnmatchcase(tool, pattern) for tool in tools for pattern in self.tools)


@dataclass(frozen=True, slots=True)
class Portion:
    """Some runs of one source.

    Parameters:
        source: the file's name.
        lines: raw lines with their numbers, each a run.
        runs: runs, where the file had to be read whole.
        size: how many bytes it stands for, for progress.
    """

    source: str
    lines: tuple[Line, ...] = ()
    runs: tuple[Run, ...] = ()
    size: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """What one portion came to.

    Parameters:
        evidence: of its runs.
        skipped: what could not be read.
        left: lines that are no whole runs, and belong together with others of the file.
        filtered: how many runs did not count.
        size: how many bytes it stood for.
    """

    evidence: Evidence
    skipped: tuple[Skipped, ...] = ()
    left: tuple[Line, ...] = ()
    filtered: int = 0
    size: int = 0


def observe(portion: Portion, keep: Keep) -> Observed:
    """Read and observe one portion; needs nothing but its arguments, so that it runs in any process."""
    with _uncollected():
        return _observe(portion, keep)


@contextmanager
def _uncollected() -> Generator[None]:
    """Without the cycle collector: records and counts hold no cycles, and it would walk them again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _observe(portion: Portion, keep: Keep) -> Observed:
    evidence, skipped, left = Evidence(), list[Skipped](), list[Line]()
    filtered = 0
    for item in chain(portion.runs, _parsed(portion, left)):
        if isinstance(item, Skipped):
            skipped.append(item)
        elif keep.holds(item):
            evidence.observe(item, portion.source)
        else:
            filtered += 1
    return Observed(evidence, tuple(skipped), tuple(left), filtered, portion.size)


def _parsed(portion: Portion, left: list[Line]) -> Iterator[Run | Skipped]:
    """The runs of the lines that are whole runs, without a desk between: what belongs to others is left."""
    last: Format | None = None
    assemblers: dict[str, Assembler] = {}
    for number, line in portion.lines:
        for item in parsed(line, f"{portion.source}:{number}", number):
            if isinstance(item, Skipped):
                yield item
                continue
            if last is None or not holds(last.matches, item.value):
                last = detect(item.value)
            if last is None:
                yield unknown(item)
            elif last.independent:
                if last.name not in assemblers:
                    assemblers[last.name] = last.assembler(portion.source)
                yield from assemblers[last.name].feed(item)
            else:
                left.append((number, line))
                last = None
                break


class Portions:
    """The portions of some files, each run once: a line or run that was there before is counted and left out.

    Parameters:
        paths: the files.
        format: read every record as this format, whatever its content says.
    """

    def __init__(self, paths: Iterable[Path], *, format: str | None = None) -> None:
        self._paths = list(paths)
        self._format = format
        self._seen: set[bytes] = set()
        self.twice = 0
        self.skipped: list[Skipped] = []

    def __iter__(self) -> Iterator[Portion]:
        for path in self._paths:
            try:
                yield from self._of(path)
            except (SourceError, MissingExtraError) as error:
                if len(self._paths) == 1:
                    raise
                self.skipped.append(Skipped(path.name, str(error)))

    def _of(self, path: Path) -> Iterator[Portion]:
        if self._format is None and not is_parquet(path) and _each_line_a_run(path):
            yield from self._of_lines(path)
        else:
            yield from self.of_runs(read(path, format=self._format), path.name, path.stat().st_size)

    def of_left(self, source: str, left: Iterable[Line]) -> Iterator[Portion]:
        """The portions of lines that stood between others and are no whole runs."""
        items = (item for number, line in left for item in parsed(line, f"{source}:{number}", number))
        yield from self.of_runs(assembled(items, source), source, 0)

    def of_runs(self, items: Iterable[Run | Skipped], source: str, size: int) -> Iterator[Portion]:
        """The portions of runs."""
        batch: list[Run] = []
        calls = 0
        for item in items:
            if isinstance(item, Skipped):
                self.skipped.append(item)
            elif self._new(_signature(item)):
                batch.append(item)
                calls += len(item.calls)
            if calls >= 10 * PORTION_RUNS or len(batch) >= PORTION_RUNS:
                yield Portion(source, runs=tuple(batch))
                batch, calls = [], 0
        yield Portion(source, runs=tuple(batch), size=size)

    def _of_lines(self, path: Path) -> Iterator[Portion]:
        batch: list[Line] = []
        size = 0
        with opened(path) as file:
            for item in numbered_lines(file, path.name):
                if isinstance(item, Skipped):
                    self.skipped.append(item)
                elif self._new(item[1].strip()):
                    batch.append(item)
                    size += len(item[1])
                if size >= PORTION_BYTES:
                    yield Portion(path.name, lines=tuple(batch))
                    batch, size = [], 0
        yield Portion(path.name, lines=tuple(batch), size=path.stat().st_size)

    def _new(self, content: bytes) -> bool:
        digest = hashlib.blake2b(content, digest_size=16).digest()
        if digest in self._seen:
            self.twice += 1
            return False
        self._seen.add(digest)
        return True


def _each_line_a_run(path: Path) -> bool:
    with opened(path) as file:
        head = list(islice(numbered_lines(file, path.name), 20))
    if not line_head(head):
        return False
    records = [item for part in head if not isinstance(part, Skipped) for item in parsed(part[1], "", part[0])]
    formats = [detect(item.value) for item in records if isinstance(item, Record)]
    return any(formats) and all(found is None or found.independent for found in formats)


def _signature(run: Run) -> bytes:
    calls = "\n".join(f"{call.id} {call.tool} {call.arguments!r} {call.turn}" for call in run.calls)
    return f"{run.source}\n{run.id}\n{run.agent}\n{calls}".encode("utf-8", "surrogatepass")


Report = Callable[[int, int], None]
"""Receives progress: runs observed so far, bytes read so far."""
