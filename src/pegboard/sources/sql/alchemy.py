"""SQLite and PostgreSQL through SQLAlchemy, on connections that cannot write."""

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pegboard.errors import MissingExtraError, SourceError
from pegboard.sources.sql.database import PLACE, Column, ForeignKey, QueryError, Rows, TableShape, plain

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
        found = [*self._inspector.get_table_names(), *self._inspector.get_view_names()]
        if self.dialect == "postgres":
            default = self._inspector.default_schema_name
            others = [
                name for name in self._inspector.get_schema_names() if name not in (default, "information_schema")
            ]
            for schema in others:
                found += [f"{schema}.{table}" for table in self._inspector.get_table_names(schema=schema)]
        return sorted(cast("list[str]", found))

    def shape(self, table: str) -> TableShape:
        """The shape of a table."""
        schema, _, name = table.rpartition(".")
        place: dict[str, Any] = {"schema": schema or None}
        inspector = self._inspector
        columns = tuple(
            Column(row["name"], str(row["type"]), bool(row.get("nullable", True)), row.get("comment"))
            for row in inspector.get_columns(name, **place)
        )
        foreign = tuple(
            ForeignKey(tuple(row["constrained_columns"]), self._named(row, schema), tuple(row["referred_columns"]))
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

    def _named(self, row: Any, schema: str) -> str:
        other = row.get("referred_schema")
        return f"{other}.{row['referred_table']}" if other and other != schema else row["referred_table"]

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

    def quote(self, name: str) -> str:
        """A name, quoted."""
        return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


def _first(error: Exception) -> str:
    inner = getattr(error, "orig", None) or error
    text = str(inner).strip() or type(inner).__name__
    return " ".join(line.strip() for line in text.splitlines()[:2])[:300]
