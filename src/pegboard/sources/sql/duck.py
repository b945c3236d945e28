"""DuckDB files, and folders of Parquet and CSV files, read by an engine that can reach nothing else."""

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pegboard.errors import MissingExtraError, SourceError
from pegboard.sources.sql.database import PLACE, Column, QueryError, Rows, TableShape, placed, plain, quoted

_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}


class DuckDatabase:
    """A DuckDB file, or the Parquet and CSV files of a folder, each a table.

    Parameters:
        path: the file or folder.

    Raises:
        SourceError: it cannot be opened, or the folder holds no such file.
    """

    dialect = "duckdb"

    def __init__(self, path: Path) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtraError("sql", feature="DuckDB, Parquet and CSV") from None
        self._places: dict[str, tuple[str | None, str]] = {}
        self.left_out: dict[str, str] = {}
        config: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        try:
            if path.is_dir():
                self._connection: Any = duckdb.connect(":memory:", config=config)
                self._views(path)
            else:
                self._connection = duckdb.connect(str(path), read_only=True, config=config)
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            raise SourceError(f"It cannot be opened: {_first(error)}", where=str(path)) from error
        self._lock = threading.Lock()

    def _views(self, folder: Path) -> None:
        import duckdb

        files = sorted(file for file in folder.iterdir() if file.suffix.lower() in _READERS)
        if not files:
            raise SourceError("The folder holds no .parquet, .csv or .tsv file.", where=str(folder))
        taken: set[str] = set()
        for file in files:
            name = re.sub(r"\W+", "_", file.stem).strip("_").lower() or "table"
            name = name if name not in taken else f"{name}_{len(taken)}"
            reader = _READERS[file.suffix.lower()]
            place = str(file).replace("'", "''")
            try:
                # Read into memory: afterwards the engine needs no file at all.
                self._connection.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM {reader}('{place}')")
            except duckdb.Error as error:
                self.left_out[file.name] = f"It cannot be read: {_first(error)}".replace(str(folder), ".")
                continue
            taken.add(name)
        if not taken:
            raise SourceError(f"No file can be read. {self.left_out[files[0].name]}", where=str(files[0]))
        for inner in sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
            self.left_out[inner.name] = "It is a folder inside of the folder; name it as a source of its own."

    def tables(self) -> list[str]:
        """The names of tables and views."""
        rows = self._connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('information_schema', 'pg_catalog')"
        ).fetchall()
        self._places = placed((None if schema == "main" else schema, name) for schema, name in rows)
        return list(self._places)

    def shape(self, table: str) -> TableShape:
        """The shape of a table."""
        schema, name = self._places[table]
        rows = self._connection.execute(
            "SELECT column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position",
            [schema or "main", name],
        ).fetchall()
        keys = self._connection.execute(
            "SELECT constraint_column_names FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY' "
            "AND schema_name = ? AND table_name = ?",
            [schema or "main", name],
        ).fetchall()
        columns = tuple(Column(row[0], row[1], row[2] == "YES") for row in rows)
        return TableShape(name=table, columns=columns, key=tuple(keys[0][0]) if keys else ())

    def run(self, sql: str, values: Sequence[Any] = (), *, limit: int, seconds: float) -> Rows:
        """Run a query."""
        import duckdb

        timer = threading.Timer(seconds, self._connection.interrupt)
        with self._lock:
            timer.start()
            try:
                result = self._connection.execute(sql.replace(PLACE, "?"), list(values))
                found = result.fetchmany(limit + 1)
                columns = tuple(str(column[0]) for column in result.description)
            except duckdb.InterruptException as error:
                raise QueryError(f"It ran longer than {seconds:g} s.", late=True) from error
            except duckdb.Error as error:
                raise QueryError(_first(error)) from error
            finally:
                timer.cancel()
        return Rows(columns, [[plain(value) for value in row] for row in found[:limit]], len(found) > limit)

    def place(self, table: str) -> str:
        """A table, quoted, with its schema."""
        schema, name = self._places[table]
        return f"{quoted(schema)}.{quoted(name)}" if schema else quoted(name)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _first(error: Exception) -> str:
    return " ".join(line.strip() for line in str(error).splitlines()[:2])[:300]
