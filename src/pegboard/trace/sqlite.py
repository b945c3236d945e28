"""Traces in an SQLite file (WAL): written in batches, safe for several processes, read at any time."""

import json
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

from pegboard.errors import StoreError
from pegboard.schema.types import digest
from pegboard.trace.plain import call_from_json, call_to_json
from pegboard.trace.record import CallRecord, Run
from pegboard.trace.store import Entry, RunFilter, RunSummary

VERSION = 1

# What is asked for stands in columns, the rest in `body`. A run's id is a caller's session: several processes may
# write to one run, so calls are ordered by time, and by `seq` where a process made several at once.
_TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, agent TEXT, calls INTEGER NOT NULL, failed INTEGER NOT NULL, started REAL, ended REAL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_ended ON runs (ended);
CREATE TABLE IF NOT EXISTS calls (
    row INTEGER PRIMARY KEY, run_id TEXT NOT NULL, seq INTEGER NOT NULL, tool TEXT NOT NULL, source TEXT,
    status TEXT NOT NULL, t0 REAL, t1 REAL, parent_id TEXT, args_hash TEXT, result_bytes INTEGER, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS calls_run ON calls (run_id, t0, seq);
"""
_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=5000")
_ADD_CALLS = """
INSERT INTO calls (run_id, seq, tool, source, status, t0, t1, parent_id, args_hash, result_bytes, body) VALUES
"""
_CALL = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_AT_ONCE = (64, 8, 1)
"""So many calls go into one statement: the interpreter lock changes hands with every statement, and a busy event loop
pays for that more than for the rest of the recording."""
_ADD_RUN = """
INSERT INTO runs (id, agent, calls, failed, started, ended) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET agent = coalesce(agent, excluded.agent), calls = calls + excluded.calls,
    failed = failed + excluded.failed,
    started = min(coalesce(started, excluded.started), coalesce(excluded.started, started)),
    ended = max(coalesce(ended, excluded.ended), coalesce(excluded.ended, ended))
"""


class SqliteTraces:
    """A `TraceStore` in a file.

    Parameters:
        path: the file; it and its folder are made when the first call is kept.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._writer: sqlite3.Connection | None = None
        self._lock = Lock()

    def append(self, entries: Sequence[Entry]) -> None:
        """Keep these calls in one transaction.

        Raises:
            StoreError: the file cannot be written; nothing of the batch is kept.
        """
        calls = [_call_row(entry) for entry in entries]
        runs = _run_rows(entries)
        with self._lock, self._explained("written"):
            connection = self._writer = self._writer or self._created()
            with _transaction(connection):
                for part in _parts(calls):
                    connection.execute(_ADD_CALLS + ", ".join([_CALL] * len(part)), list(chain.from_iterable(part)))
                connection.executemany(_ADD_RUN, runs)

    def runs(self, where: RunFilter = RunFilter(), *, limit: int | None = 100) -> tuple[RunSummary, ...]:
        """The runs, the latest first."""
        condition, values = _condition(where)
        query = f"SELECT id, agent, calls, failed, started, ended FROM runs {condition} ORDER BY ended DESC, id LIMIT ?"
        with self._reading() as connection:
            if connection is None:
                return ()
            rows = connection.execute(query, (*values, -1 if limit is None else limit)).fetchall()
            return tuple(_summary(row, _tools(connection, row[0])) for row in rows)

    def run(self, id: str) -> Run | None:
        """One run with its calls in the order in which they started, or None."""
        with self._reading() as connection:
            row = connection.execute("SELECT agent FROM runs WHERE id = ?", (id,)).fetchone() if connection else None
            if connection is None or row is None:
                return None
            return _run(connection, id, row[0])

    def scan(self, where: RunFilter = RunFilter()) -> Iterator[Run]:
        """Every run with its calls, the earliest first, one at a time."""
        condition, values = _condition(where)
        with self._reading() as connection:
            if connection is None:
                return
            runs = connection.execute(f"SELECT id, agent FROM runs {condition} ORDER BY started, id", values).fetchall()
            for id, agent in runs:
                yield _run(connection, id, agent)

    def prune(self, before: float, *, most: int | None = None) -> int:
        """Forget the runs that ended before a Unix time, and all but the latest `most`; returns how many calls went."""
        if not self.path.exists():
            return 0
        with self._lock, self._explained("written"):
            connection = self._writer = self._writer or self._created()
            with _transaction(connection):
                old = "SELECT id FROM runs WHERE ended < ?"
                late = "SELECT id FROM runs ORDER BY ended DESC, id LIMIT -1 OFFSET ?"
                gone = 0
                for chosen, value in ((old, before), (late, most)):
                    if value is not None:
                        found = [row[0] for row in connection.execute(chosen, (value,))]
                        gone += _forget(connection, found)
            return gone

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            connection, self._writer = self._writer, None
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def _created(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise sqlite3.OperationalError(str(problem)) from problem
        connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
        try:
            for pragma in _PRAGMAS:
                _set(connection, pragma)
            _check_version(connection)
            connection.executescript(_TABLES)
            connection.execute(f"PRAGMA user_version={VERSION}")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection | None]:
        """A connection that only reads; None where no call was ever kept."""
        if not self.path.exists():
            yield None
            return
        with self._explained("read"):
            connection = _readable(self.path)
            try:
                _check_version(connection)
                yield connection if _has_tables(connection) else None
            finally:
                connection.close()

    @contextmanager
    def _explained(self, what: str) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError) as problem:
            if self._writer is not None and what == "written":
                with suppress(sqlite3.Error):
                    self._writer.close()
                self._writer = None
            raise StoreError(
                f"The traces cannot be {what}: {problem}.", where=str(self.path), next_step=_remedy(problem)
            ) from problem


def _set(connection: sqlite3.Connection, pragma: str) -> None:
    try:
        connection.execute(f"PRAGMA {pragma}")
    except sqlite3.OperationalError as problem:
        if "locked" not in str(problem):  # another one is switching this very file to WAL, for both
            raise


def _forget(connection: sqlite3.Connection, runs: Sequence[str]) -> int:
    gone = 0
    for run in runs:
        gone += connection.execute("DELETE FROM calls WHERE run_id = ?", (run,)).rowcount
        connection.execute("DELETE FROM runs WHERE id = ?", (run,))
    return gone


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _readable(path: Path) -> sqlite3.Connection:
    """A reading connection; in a folder that cannot be written, where WAL is impossible, one that expects no writer."""
    address = path.absolute().as_uri()
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"{address}?{options}", uri=True, check_same_thread=False)
        try:
            connection.execute("PRAGMA busy_timeout=5000")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            if "immutable" in options:
                raise
            continue
        except BaseException:
            connection.close()
            raise
        return connection
    raise AssertionError("the last try returns or raises")


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone() is not None


def _check_version(connection: sqlite3.Connection) -> None:
    [found] = connection.execute("PRAGMA user_version").fetchone()
    if found > VERSION:
        raise ValueError(f"the file is of version {found}, newer than this Pegboard's {VERSION}")


def _remedy(problem: Exception) -> str:
    text = str(problem)
    if "newer" in text:
        return "Update Pegboard, or move the file away to start anew."
    if "malformed" in text or "not a database" in text:
        return "Move the file away; a new one is made."
    if "full" in text:
        return "Make room on the disk."
    return "See that the folder can be written, and that no other program holds the file."


def _call_row(entry: Entry) -> tuple[Any, ...]:
    record = entry.record
    body = call_to_json(record)
    ended = None if record.started is None or record.seconds is None else record.started + record.seconds
    size = record.meta.get("result_bytes")
    return (
        *(entry.run, entry.seq, record.tool, record.source, _status(record)),
        *(record.started, ended, record.parent, digest(record.arguments)[:16], size),
        _as_json(body),
    )


_as_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=str).encode


def _parts(rows: list[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    start = 0
    for size in _AT_ONCE:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size


def _status(record: CallRecord) -> str:
    return "unknown" if record.ok is None else "ok" if record.ok else (record.failure or "failed")


def _run_rows(entries: Sequence[Entry]) -> list[tuple[Any, ...]]:
    found: dict[str, list[Any]] = {}
    for entry in entries:
        record = entry.record
        row = found.setdefault(entry.run, [entry.run, entry.agent, 0, 0, None, None])
        row[1] = row[1] or entry.agent
        row[2] += 1
        row[3] += record.ok is False
        if record.started is not None:
            row[4] = record.started if row[4] is None else min(row[4], record.started)
            ended = record.started + (record.seconds or 0)
            row[5] = ended if row[5] is None else max(row[5], ended)
    return [tuple(row) for row in found.values()]


def _condition(where: RunFilter) -> tuple[str, list[Any]]:
    parts: list[str] = []
    values: list[Any] = []

    def add(part: str, *value: Any) -> None:
        parts.append(part)
        values.extend(value)

    if where.agent is not None:
        add("agent GLOB ?", where.agent)
    if where.failed is not None:
        add("failed > 0" if where.failed else "failed = 0")
    if where.since is not None:
        add("ended >= ?", where.since)
    if where.tool is not None:
        bare = "" if "." in where.tool else " OR tool GLOB ('*.' || ?)"
        add(f"id IN (SELECT run_id FROM calls WHERE tool GLOB ?{bare})", *([where.tool] * (2 if bare else 1)))
    if where.source is not None:
        add("id IN (SELECT run_id FROM calls WHERE source = ?)", where.source)
    return (f"WHERE {' AND '.join(parts)}" if parts else ""), values


def _tools(connection: sqlite3.Connection, run: str) -> tuple[str, ...]:
    query = "SELECT tool FROM calls WHERE run_id = ? GROUP BY tool ORDER BY min(t0), min(seq)"
    return tuple(row[0] for row in connection.execute(query, (run,)))


def _summary(row: tuple[Any, ...], tools: tuple[str, ...]) -> RunSummary:
    id, agent, calls, failed, started, ended = row
    return RunSummary(id=id, agent=agent, calls=calls, failed=failed, tools=tools, started=started, ended=ended)


def _run(connection: sqlite3.Connection, id: str, agent: str | None) -> Run:
    rows = connection.execute("SELECT body FROM calls WHERE run_id = ? ORDER BY t0, seq, row", (id,))
    return Run(id=id, agent=agent, calls=tuple(call_from_json(json.loads(row[0])) for row in rows), source="board")
