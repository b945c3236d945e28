"""Which formats there are, and reading a file of any of them, or of several at once."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pegboard.errors import ConfigError, nearest
from pegboard.schema.types import Json
from pegboard.trace.importers import native, neutral
from pegboard.trace.importers.format import Assembler, Format
from pegboard.trace.importers.stream import Record, Skipped, records
from pegboard.trace.record import Run

FORMATS: tuple[Format, ...] = (native.FORMAT, neutral.FORMAT)
"""In the order in which they are tried; the strictest first."""


def detect(value: Json) -> Format | None:
    """The format of a record, by its content."""
    return next((item for item in FORMATS if item.matches(value)), None)


def named(name: str) -> Format:
    """The format of this name.

    Raises:
        ConfigError: there is none; the message lists those that there are.
    """
    found = next((item for item in FORMATS if item.name == name), None)
    if found is None:
        close = nearest(name, [item.name for item in FORMATS])
        raise ConfigError(
            f"There is no trace format {name!r}.",
            next_step=f"Use one of: {', '.join(close or [item.name for item in FORMATS])}.",
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
    return assembled(records(path), path.name, fixed)


def assembled(items: Iterable[Record | Skipped], source: str, fixed: Format | None = None) -> Iterator[Run | Skipped]:
    """The runs that these records of one file make."""
    assemblers: dict[str, Assembler] = {}
    last = fixed
    for item in items:
        if isinstance(item, Skipped):
            yield item
            continue
        if last is None or not (fixed or last.matches(item.value)):
            last = detect(item.value)
        if last is None:
            yield Skipped(item.where, "of no known trace format")
            continue
        if last.name not in assemblers:
            assemblers[last.name] = last.assembler(source)
        yield from assemblers[last.name].feed(item)
    for assembler in assemblers.values():
        yield from assembler.finish()
