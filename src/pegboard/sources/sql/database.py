"""What every engine answers: its tables, their shape, and the rows of a query."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from pegboard.schema.types import Json

PLACE = "\x1a"
"""Stands for a value in a statement; each engine puts its own placeholder there."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its type as the engine spells it, whether it may be null, and what its author says."""

    name: str
    type: str
    nullable: bool = True
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that refer to columns of another table."""

    columns: tuple[str, ...]
    table: str
    refers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """The shape of one table or view.

    Parameters:
        name: its name, with its schema where that is not the default one.
        columns: its columns in order.
        key: the columns of the primary key.
        foreign: what it refers to.
        indexes: the columns of each index.
        view: whether it is a view.
        comment: what its author says.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    foreign: tuple[ForeignKey, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    view: bool = False
    comment: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a query, and whether there were more."""

    columns: tuple[str, ...]
    rows: list[list[Json]]
    more: bool = False


class QueryError(Exception):
    """The engine refused a query or gave it up.

    Parameters:
        message: what it said.
        late: whether it took too long.
    """

    def __init__(self, message: str, *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much a query may take.

    Parameters:
        rows: the most rows of an answer.
        bytes: about how many bytes of JSON an answer may have.
        seconds: how long it may run.
    """

    rows: int = 500
    bytes: int = 200_000
    seconds: float = 10.0


class Database(Protocol):
    """An open database; its methods block and are called in threads."""

    @property
    def dialect(self) -> str:
        """`sqlite`, `postgres` or `duckdb`, as sqlglot calls it."""
        ...

    def tables(self) -> list[str]:
        """The names of tables and views."""
        ...

    def shape(self, table: str) -> TableShape:
        """The shape of a table that `tables` names."""
        ...

    def run(self, sql: str, values: Sequence[Any] = (), *, limit: int, seconds: float) -> Rows:
        """Run a query on a connection that cannot write. Raises `QueryError`."""
        ...

    def place(self, table: str) -> str:
        """A table that `tables` names, quoted, with its schema."""
        ...

    @property
    def left_out(self) -> Mapping[str, str]:
        """What could not be read, by name, and why."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


def quoted(name: str) -> str:
    """One name, quoted: every engine here takes double quotes. A dot in it is a letter like any other."""
    return '"' + name.replace('"', '""') + '"'


def spelled(name: str) -> str:
    """A column's name as a statement has to spell it: quoted where it is no plain word."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else quoted(name)


def placed(found: Iterable[tuple[str | None, str]]) -> dict[str, tuple[str | None, str]]:
    """A name for each table of (schema, table), bare in the default schema; two that would be one are quoted."""
    rows = sorted(found, key=lambda row: (row[0] or "", row[1]))
    names = [table if schema is None else f"{schema}.{table}" for schema, table in rows]
    taken: dict[str, tuple[str | None, str]] = {}
    for row, name in zip(rows, names, strict=True):
        schema, table = row
        free = name if names.count(name) == 1 else f"{quoted(schema)}.{quoted(table)}" if schema else quoted(table)
        taken[free] = row
    return dict(sorted(taken.items()))


@dataclass
class Shapes:
    """The shapes of a database's tables, read once each."""

    database: Database
    held: dict[str, TableShape] = field(default_factory=dict[str, TableShape])

    def __getitem__(self, table: str) -> TableShape:
        """The shape of a table. Raises `QueryError` where it cannot be read."""
        if table not in self.held:
            self.held[table] = self.database.shape(table)
        return self.held[table]

    def sound(self, tables: Iterable[str]) -> Iterator[TableShape]:
        """The shapes of those tables that can be read: one that cannot costs itself alone."""
        for table in tables:
            try:
                yield self[table]
            except QueryError:
                continue


def plain(value: Any) -> Json:
    """A value of a database as JSON."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value == value and abs(value) != float("inf") else str(value)
        case bytes() | bytearray():
            return f"({len(value)} bytes)"
        case list() | tuple():
            return [plain(part) for part in cast("list[Any]", value)]
        case dict():
            return {str(key): plain(part) for key, part in cast("dict[Any, Any]", value).items()}
        case _:
            return value.isoformat() if hasattr(value, "isoformat") else str(value)
