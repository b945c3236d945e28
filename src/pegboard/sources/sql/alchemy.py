"""SQLite and PostgreSQL through SQLAlchemy, on connections that cannot write."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pegboard.errors import MissingExtraError, SourceError
from pegboard.sources.sql.database import (
    PLACE,
    Column,
    ForeignKey,
    QueryError,
    Rows,
    TableShape,
    placed,
    plain,
    quoted,
)

_DENIED = frozenset(
    getattr(sqlite3, f"SQLITE_{name}")
    for name in ("ATTACH", "DETACH", "INSERT", "UPDATE", "DELETE", "ALTER_TABLE", "CREATE_TABLE", "DROP_TABLE")
)


def _authorize(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_DENY if action in _DENIED else sqlite3.SQLITE_OK


class AlchemyDatabase:
    """A database that SQLAlchemy speaks to.

    Parameters:
        url: its URL, such as `sqlite:///shop.db` or `postgresql://user:password@host/name`.

    Raises:
        SourceError: it cannot be opened.
    """

    def __init__(self, url: str) -> None:
        try:
            import sqlalchemy
        except ImportError:
            raise MissingExtraError("sql", feature="A database") from None
        self._sqlalchemy = sqlalchemy
        self._places: dict[str, tuple[str | None, str]] = {}
        self.left_out: Mapping[str, str] = {}
        try:
            parsed = sqlalchemy.make_url(url)
            name = parsed.get_backend_name()
            self.dialect = "postgres" if name == "postgresql" else name
            self._engine = self._sqlite(parsed.database or "") if name == "sqlite" else self._postgres(parsed)
            self._inspector: Any = sqlalchemy.inspect(self._engine)
        except MissingExtraError:
            raise
        except Exception as error:
            raise SourceError(f"The database cannot be opened: {_first(error)}", next_step="Check the URL.") from error

    def _sqlite(self, path: str) -> Any:
        if not path or path == ":memory:" or not Path(path).is_file():
            raise FileNotFoundError(f"there is no file {path!r}")
        uri = f"{Path(path).resolve().as_uri()}?mode=ro"

        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            connection.execute("PRAGMA query_only = ON")
            connection.set_authorizer(_authorize)
            return connection

        return self._sqlalchemy.create_engine("sqlite://", creator=connect, poolclass=self._sqlalchemy.pool.QueuePool)

    def _postgres(self, url: Any) -> Any:
        if url.get_backend_name() != "postgresql":
            raise ValueError(f"{url.get_backend_name()} is not supported; use sqlite, postgresql or duckdb")
        try:
            import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError:
            raise MissingExtraError("postgres", feature="PostgreSQL") from None
        url = url.set(drivername="postgresql+psycopg")
        options = {"options": "-c default_transaction_read_only=on", "connect_timeout": 10}
        return self._sqlalchemy.create_engine(url, connect_args=options, pool_pre_ping=True)

    def tables(self) -> list[str]:
        """The names of tables and views."""
        found: list[tuple[str | None, str]] = list(self._named_in(None))
        if self.dialect == "postgres":
            default = self._inspector.default_schema_name
            for schema in self._inspector.get_schema_names():
                if schema not in (default, "information_schema"):
                    found += self._named_in(schema)
        self._places = placed(found)
        return list(self._places)

    def _named_in(self, schema: str | None) -> Iterator[tuple[str | None, str]]:
        inspector = self._inspector
        stored = inspector.get_materialized_view_names(schema=schema) if self.dialect == "postgres" else ()
        for name in (*inspector.get_table_names(schema=schema), *inspector.get_view_names(schema=schema), *stored):
            yield schema, name

    def shape(self, table: str) -> TableShape:
        """The shape of a table."""
        schema, name = self._places[table]
        # SQLAlchemy takes `a.b` for a table of the database a, unless the database is named.
        place: dict[str, Any] = {"schema": schema or ("main" if self.dialect == "sqlite" else None)}
        try:
            return self._shape(table, name, place)
        except Exception as error:
            raise QueryError(f"The table {table!r} cannot be read: {_first(error)}") from error

    def _shape(self, table: str, name: str, place: dict[str, Any]) -> TableShape:
        inspector = self._inspector
        columns = tuple(
            Column(row["name"], str(row["type"]), bool(row.get("nullable", True)), row.get("comment"))
            for row in inspector.get_columns(name, **place)
        )
        foreign = tuple(
            ForeignKey(tuple(row["constrained_columns"]), self._target(row), tuple(row["referred_columns"]))
            for row in inspector.get_foreign_keys(name, **place)
        )
        indexes = tuple(tuple(c for c in row["column_names"] if c) for row in inspector.get_indexes(name, **place))
        try:
            comment = inspector.get_table_comment(name, **place).get("text")
        except NotImplementedError:
            comment = None
        key = tuple(inspector.get_pk_constraint(name, **place).get("constrained_columns") or ())
        view = name in inspector.get_view_names(**place)
        return TableShape(
            name=table, columns=columns, key=key, foreign=foreign, indexes=indexes, view=view, comment=comment
        )

    def _target(self, row: Any) -> str:
        """The name here of the table that a foreign key refers to."""
        schema, name = row.get("referred_schema"), row["referred_table"]
        wanted = (None if schema in (None, "main", self._inspector.default_schema_name) else schema, name)
        return next((known for known, place in self._places.items() if place == wanted), name)

    def run(self, sql: str, values: Sequence[Any] = (), *, limit: int, seconds: float) -> Rows:
        """Run a query; it is rolled back whatever it was."""
        try:
            with self._engine.connect() as connection:
                return self._read(connection, sql, values, limit, seconds)
        except QueryError:
            raise
        except Exception as error:
            text = _first(error)
            late = "interrupted" in text or "statement timeout" in text
            raise QueryError(f"It ran longer than {seconds:g} s." if late else text, late=late) from error

    def _read(self, connection: Any, sql: str, values: Sequence[Any], limit: int, seconds: float) -> Rows:
        raw = connection.connection.dbapi_connection
        timer: threading.Timer | None = None
        if self.dialect == "sqlite":
            timer = threading.Timer(seconds, raw.interrupt)
            timer.start()
        else:
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
            sql = sql.replace("%", "%%")
        sql = sql.replace(PLACE, "?" if self.dialect == "sqlite" else "%s")
        try:
            result = connection.exec_driver_sql(sql, tuple(values))
            if not result.returns_rows:
                raise QueryError("It gave no rows.")
            found = result.fetchmany(limit + 1)
            columns = tuple(str(name) for name in result.keys())  # noqa: SIM118 - a result is no mapping
            return Rows(columns, [[plain(value) for value in row] for row in found[:limit]], len(found) > limit)
        finally:
            if timer is not None:
                timer.cancel()
            connection.rollback()

    def place(self, table: str) -> str:
        """A table, quoted, with its schema."""
        schema, name = self._places[table]
        return f"{quoted(schema)}.{quoted(name)}" if schema else quoted(name)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


def _first(error: Exception) -> str:
    inner = getattr(error, "orig", None) or error
    text = str(inner).strip() or type(inner).__name__
    return " ".join(line.strip() for line in text.splitlines()[:2])[:300]
