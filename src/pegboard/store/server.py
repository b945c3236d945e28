"""A store in PostgreSQL, for what several machines share: the runs of chains."""

import threading
from collections.abc import Callable, Sequence
from time import time
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from pegboard.errors import MissingExtraError, StoreError
from pegboard.store.tables import CHAIN_RUNS, CHECKPOINTS, METADATA

T = TypeVar("T")
_NEXT = "Check [chains] store: postgresql://USER:PASSWORD@HOST/DATABASE, and that the server runs."


class ServerStore:
    """Keeps the tables of chains in a PostgreSQL database. All methods block, and are safe to call from any thread.

    Parameters:
        engine: leads to the database.
        ahead: how many seconds its clock is ahead of this machine's.
    """

    lock = " FOR UPDATE"
    """What makes a statement wait for whoever is changing the row that it looks at."""

    def __init__(self, engine: Engine, ahead: float = 0.0) -> None:
        self._engine, self._ahead = engine, ahead
        self._lock = threading.Lock()
        self.warnings: list[str] = []

    @classmethod
    def open(cls, address: str) -> Self:
        """Open a database, and make what it lacks.

        Parameters:
            address: its URL.

        Raises:
            StoreError: it cannot be opened, or is no PostgreSQL.
            MissingExtraError: the driver is not installed.
        """
        try:
            import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError:
            raise MissingExtraError("postgres", feature="A store in PostgreSQL") from None
        try:
            url = make_url(address)
            if url.get_backend_name() != "postgresql":
                raise StoreError("[chains] store leads to no PostgreSQL.", where="chains.store", next_step=_NEXT)
            engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
            with engine.begin() as connection:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7236427)")  # one of us makes the tables
                METADATA.create_all(connection, tables=[CHAIN_RUNS, CHECKPOINTS])
                now = connection.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar_one()
        except SQLAlchemyError as problem:
            raise StoreError(
                f"The database of the chains cannot be opened: {_reason(problem)}.",
                where="chains.store",
                next_step=_NEXT,
            ) from problem
        return cls(engine, float(now) - time())

    def clock(self) -> float:
        """The database's Unix time in seconds, which all machines share."""
        return time() + self._ahead

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def read(self, step: Callable[[Connection], T], fallback: T) -> T:
        """What a step finds in one transaction.

        Raises:
            StoreError: the database cannot be read. What it holds must not look as if it were empty.
        """
        try:
            with self._engine.begin() as connection:
                return step(connection)
        except SQLAlchemyError as problem:
            message = f"The database of the chains cannot be read: {_reason(problem)}."
            raise StoreError(message, where="chains.store", next_step=_NEXT) from problem

    def write(self, step: Callable[[Connection], T], fallback: T) -> T:
        """Run a step in one transaction; `fallback` where it cannot be written (see `warnings`)."""
        try:
            with self._engine.begin() as connection:
                return step(connection)
        except SQLAlchemyError as problem:
            self._warn(f"The database of the chains cannot be written: {_reason(problem)}.")
            return fallback

    def statement(self, sql: str, values: Sequence[Any]) -> int | None:
        """Run one statement, whose places are `?`; how many rows it changed, or None where it cannot be written."""
        text = sql.replace("?", "%s")
        return self.write(lambda connection: connection.exec_driver_sql(text, tuple(values)).rowcount, None)

    def _warn(self, message: str) -> None:
        with self._lock:
            if message in self.warnings:
                self.warnings.remove(message)
            self.warnings.append(message)


def _reason(problem: SQLAlchemyError) -> str:
    """The first line of what went wrong; the driver's text holds no password, SQLAlchemy's own may hold the values."""
    origin = getattr(problem, "orig", None) or problem
    return str(origin).strip().partition("\n")[0].rstrip(".")
