"""Which formats there are, and reading a file of any of them, or of several at once."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pegboard.errors import ConfigError, nearest
from pegboard.schema.types import Json
from pegboard.trace.importers import (
    anthropic,
    claude_code,
    codex,
    langfuse,
    langsmith,
    mcp_log,
    native,
    neutral,
    openai_chat,
    openai_responses,
    openinference,
    openllmetry,
    otel,
    runtype,
    vercel,
)
from pegboard.trace.importers.format import ODD, Assembler, Format
from pegboard.trace.importers.stream import Record, Skipped, records
from pegboard.trace.parquet import is_parquet, read_parquet
from pegboard.trace.record import Run

FORMATS: tuple[Format, ...] = (
    native.FORMAT,
    neutral.FORMAT,
    openinference.FORMAT,
    openllmetry.FORMAT,
    vercel.FORMAT,
    otel.FORMAT,
    langsmith.FORMAT,
    langfuse.FORMAT,
    runtype.FORMAT,
    claude_code.FORMAT,
    codex.FORMAT,
    mcp_log.FORMAT,
    openai_responses.FORMAT,
    anthropic.FORMAT,
    openai_chat.FORMAT,
)
"""In the order in which they are tried; of two that could both be meant, the stricter first."""

_WAITING = 1000


def detect(value: Json) -> Format | None:
    """The format of a record, by its content; None also for one in which nothing is of the type that it should be."""
    return next((item for item in FORMATS if holds(item.matches, value)), None)


def holds(matches: Callable[[Json], bool], value: Json) -> bool:
    """Whether a format's test holds of a record; one that breaks on it does not."""
    try:
        return matches(value)
    except ODD:
        return False


def named(name: str) -> Format:
    """The format of this name.

    Raises:
        ConfigError: there is none; the message lists those that there are.
    """
    found = next((item for item in FORMATS if item.name == name), None)
    if found is None:
        known = [item.name for item in FORMATS]
        raise ConfigError(
            f"There is no trace format {name!r}.", next_step=f"Use one of: {', '.join(nearest(name, known) or known)}."
        )
    return found


def read(path: Path, *, format: str | None = None) -> Iterator[Run | Skipped]:
    """The runs of a file, and what had to be left out of it.

    Parameters:
        path: a file of any known format, compressed or not; several formats may be mixed in it.
        format: read every record as this format, whatever its content says.

    Raises:
        SourceError: the file cannot be opened.
        ConfigError: no format has this name.
    """
    fixed = named(format) if format else None
    if fixed is None and is_parquet(path):
        return read_parquet(path)
    return assembled(records(path), path.name, fixed)


def assembled(items: Iterable[Record | Skipped], source: str, fixed: Format | None = None) -> Iterator[Run | Skipped]:
    """The runs that these records of one file make.

    Parameters:
        items: the records.
        source: the file's name.
        fixed: the format of all of them, where it is known.
    """
    desk = _Desk(source, fixed)
    for item in items:
        if isinstance(item, Skipped):
            yield item
        else:
            yield from desk.take(item)
    yield from desk.close()


class _Desk:
    """Hands each record to the assembler of its format.

    A record that no format knows by itself (a plain user message) waits for the next one that is known, and goes with
    it if its format accepts it.
    """

    def __init__(self, source: str, fixed: Format | None) -> None:
        self._source = source
        self._fixed = fixed
        self._last = fixed
        self._document = 0
        self._assemblers: dict[Callable[[str], Assembler], Assembler] = {}
        self._waiting: list[Record] = []

    def take(self, record: Record) -> Iterator[Run | Skipped]:
        """Take one record."""
        if record.document != self._document and self._fixed is None:
            self._document, self._last = record.document, None
            yield from self._give_up()
        if self._last is not None and (self._fixed or holds(self._last.takes, record.value)):
            yield from self._feed(self._last, record)
            return
        found = detect(record.value)
        if found is None:
            self._waiting.append(record)
            if len(self._waiting) > _WAITING:
                yield from self._give_up()
            return
        self._last = found
        waiting, self._waiting = self._waiting, []
        for earlier in waiting:
            if holds(found.takes, earlier.value):
                yield from self._feed(found, earlier)
            else:
                yield unknown(earlier)
        yield from self._feed(found, record)

    def close(self) -> Iterator[Run | Skipped]:
        """Give what is left."""
        yield from self._give_up()
        for assembler in self._assemblers.values():
            yield from assembler.finish()

    def _give_up(self) -> Iterator[Skipped]:
        waiting, self._waiting = self._waiting, []
        yield from map(unknown, waiting)

    def _feed(self, format: Format, record: Record) -> Iterator[Run | Skipped]:
        try:
            yield from self._assembler(format).feed(record)
        except ODD as error:
            yield Skipped(record.where, f"cannot be read as {format.title}: {error}")

    def _assembler(self, format: Format) -> Assembler:
        """One for each kind of assembler: formats that share one share the runs that they make."""
        if format.assembler not in self._assemblers:
            self._assemblers[format.assembler] = format.assembler(self._source)
        return self._assemblers[format.assembler]


def unknown(record: Record) -> Skipped:
    """What is said of a record that no format knows."""
    return Skipped(record.where, "of no known trace format")
