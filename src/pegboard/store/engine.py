"""Opening the database: a SQLite file in WAL mode that two processes may share, or memory where that cannot be."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from pegboard.store.migrate import is_current, migrate

BUSY_SECONDS = 10
_BROKEN = ("malformed", "not a database", "file is encrypted", "unsupported file format")


def file_engine(path: Path) -> Engine:
    """An engine on a SQLite file, which is made with its folder where it is missing, readable by its owner only.

    Raises:
        OSError: the folder cannot be made or written.
    """
    _make_private(path)
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False})
    return _prepared(engine)


def memory_engine(copy_of: Path | None = None) -> Engine:
    """An engine in memory, with what a file that cannot be written holds."""
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    _prepared(engine)
    if copy_of is not None and copy_of.exists():
        _copy(copy_of, engine)
    return engine


def bring_up_to_date(engine: Engine) -> list[str]:
    """Run the migrations that are due; returns the steps that only a newer Pegboard knows."""
    with engine.connect() as connection:
        if is_current(connection):
            return []
    with writing(engine) as connection:
        return migrate(connection)


@contextmanager
def writing(engine: Engine) -> Generator[Connection]:
    """A transaction that holds the write lock from its start, so that read, change and write are one step."""
    with engine.connect().execution_options(pegboard_write=True) as connection, connection.begin():
        yield connection


def is_broken(problem: DBAPIError) -> bool:
    """Whether the file itself is damaged."""
    return any(sign in str(problem.orig) for sign in _BROKEN)


def file_id(path: Path) -> int | None:
    """Tells one file from the next one under the same name."""
    return path.stat().st_ino if path.exists() else None


def set_aside(path: Path) -> Path:
    """Move a damaged file, with its log, out of the way; returns where it went."""
    number = next(n for n in range(1, 10_000) if not _aside(path, n).exists())
    target = _aside(path, number)
    path.rename(target)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return target


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.broken-{number}")


def _make_private(path: Path) -> None:
    if not path.parent.exists():
        path.parent.mkdir(parents=True, mode=0o700)
        (path.parent / ".gitignore").write_text("*\n")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.close(descriptor)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "the folder cannot be written", str(path.parent))


def _prepared(engine: Engine) -> Engine:
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        try:
            connection.execute(f"PRAGMA {pragma}")
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem):  # another process is switching this very file to WAL
                raise


def _on_begin(connection: Connection) -> None:
    write = connection.get_execution_options().get("pegboard_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _copy(path: Path, engine: Engine) -> None:
    for mode in ("mode=ro", "immutable=1"):  # a WAL file in a folder that cannot be written needs the second
        try:
            source = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
            target = engine.raw_connection()
            source.backup(target.driver_connection)  # pyright: ignore[reportArgumentType]
            source.close()
            return
        except sqlite3.DatabaseError:
            continue
