"""What a trace format is to the reader: how to know it, and how its records become runs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from pegboard.schema.types import Json
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

ODD = (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RecursionError)
"""What reading a record raises whose fields are of types that no one would expect there."""


class Assembler(Protocol):
    """Puts the records of one file together into runs; one is made a file and format."""

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one record; give the runs that are complete with it."""
        ...

    def finish(self) -> Iterable[Run | Skipped]:
        """Give the runs that are left when the file ends."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One trace format.

    Parameters:
        name: what reports and `--format` call it.
        title: its name for people.
        matches: whether a record, by its content, is of this format.
        assembler: makes an assembler for one file; it takes the file's name, for run ids and sources.
        accepts: whether a record may stand between records of this format, where `matches` alone would not know it.
        independent: whether each record is a whole run, so that a file can be read in parts.
    """

    name: str
    title: str
    matches: Callable[[Json], bool]
    assembler: Callable[[str], Assembler]
    accepts: Callable[[Json], bool] | None = None
    independent: bool = False

    def takes(self, value: Json) -> bool:
        """Whether a record that comes after others of this format is of it too."""
        return self.matches(value) or self.accepts is not None and self.accepts(value)


@dataclass(frozen=True, slots=True)
class EachRecord:
    """An assembler for formats in which each record is a whole run.

    Parameters:
        source: the file's name.
        convert: makes a run of a record's value; raises ValueError with the place where it cannot.
    """

    source: str
    convert: Callable[[Json, str], Run]

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """The record's run, or why it is none."""
        try:
            return (self.convert(record.value, self.source),)
        except ODD as error:
            return (Skipped(record.where, str(error)),)

    def finish(self) -> Iterable[Run | Skipped]:
        """Nothing is left over."""
        return ()
