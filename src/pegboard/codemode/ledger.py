"""The runs of code in the store. Whoever holds a run has a ticket; without the current one nothing can be written.

Only runs of which something must not be forgotten are here: a call that may take effect, or one that waits for a yes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import time
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update

from pegboard.codemode.fault import CodeError, CodeFault, lost, unknown_run
from pegboard.codemode.record import CodeRun, CodeStatus, Entry, EntryStatus
from pegboard.errors import StoreError
from pegboard.schema.types import JsonObject
from pegboard.store import Store
from pegboard.store.owner import has_ended, this_process
from pegboard.store.tables import CODE_CALLS, CODE_RUNS

LEASE = 15.0
"""Seconds that a run is held without another word of its owner."""
KEEP_SECONDS = 7 * 86_400.0
"""Runs are forgotten so long after their last word."""

_HELD = "UPDATE code_runs SET status = ?, lease = ?, updated = ? WHERE id = ? AND ticket = ? AND ticket <> ''"
_ROW = "INSERT INTO code_calls (run, number, name, digest, status, place, after, at, answer, request) "
_OVER = (
    " ON CONFLICT (run, number) DO UPDATE SET status = excluded.status, place = excluded.place, "
    "after = excluded.after, at = excluded.at, answer = excluded.answer, request = excluded.request"
)
_PUT = f"{_ROW}VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?){_OVER}"
_PUT_HELD = (
    f"{_ROW}SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? "
    f"WHERE EXISTS (SELECT 1 FROM code_runs WHERE id = ? AND ticket = ? AND ticket <> ''){_OVER}"
)


class Ledger:
    """Blocks; safe to call from any thread, and from several processes over one store.

    Parameters:
        store: the board's store.
        clock: gives the Unix time in seconds.
        owner: the name of this process.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time, owner: str | None = None) -> None:
        self._store, self.clock = store, clock
        self.owner = owner or this_process()

    def open(self, run: CodeRun) -> str:
        """Begin to keep a run, and hold it; returns the ticket. Raises `StoreError`: it cannot be written."""
        now, ticket = self.clock(), uuid4().hex
        begun = replace(run, owner=self.owner, lease=now + LEASE, updated=now)

        def step(connection: Connection) -> bool:
            _forget(connection, now - KEEP_SECONDS)
            connection.execute(insert(CODE_RUNS).values(**_run_row(begun), ticket=ticket))
            return True

        self._written(step)
        return ticket

    def claim(self, id: str, change: Callable[[CodeRun], Iterable[Entry]] | None = None) -> tuple[CodeRun, str]:
        """Hold a run that is not over and that nobody else holds.

        Parameters:
            id: the run.
            change: what an operator decided: from the run to the entries to write; raises `CodeError`.

        Raises:
            CodeError: there is none, it is over, or somebody holds it.
            StoreError: it cannot be written.
        """
        now, ticket = self.clock(), uuid4().hex

        def step(connection: Connection) -> CodeRun:
            run = self._known(connection, id)
            self._check_free(run, now)
            entries = list(change(run)) if change is not None else []
            for entry in entries:
                connection.exec_driver_sql(_PUT, _entry_row(id, entry))
            row = {"status": CodeStatus.RUNNING.value, "owner": self.owner, "lease": now + LEASE, "updated": now}
            connection.execute(update(CODE_RUNS).where(CODE_RUNS.c.id == id).values(**row, ticket=ticket))
            changed = {**run.entries, **{entry.number: entry for entry in entries}}
            return replace(run, status=CodeStatus.RUNNING, owner=self.owner, entries=changed)

        return self._written(step), ticket

    def write(self, id: str, ticket: str, entries: Sequence[Entry], status: CodeStatus) -> None:
        """Write down how far calls have come; this is also a word that the owner lives.

        Raises:
            CodeError: the run is not the owner's any more.
            StoreError: it cannot be written.
        """
        now = self.clock()
        rows = [_entry_row(id, entry) for entry in entries]

        def step(connection: Connection) -> bool:
            held = connection.exec_driver_sql(_HELD, (status.value, now + LEASE, now, id, ticket)).rowcount == 1
            if held and rows:
                connection.exec_driver_sql(_PUT, rows)
            return held

        if not self._written(step):
            raise lost(id)

    def put(self, id: str, ticket: str, entry: Entry) -> None:
        """Write down how far one call has come, and nothing else, which is quicker. Raises like `write`."""
        done = self._store.statement(_PUT_HELD, (*_entry_row(id, entry), id, ticket))
        if self._kept(done) != 1:
            raise lost(id)

    def settle(self, id: str, ticket: str, status: CodeStatus, failure: JsonObject | None) -> None:
        """Let a run go, and say how it is; the journal of one that is over is dropped. Raises like `write`."""
        now = self.clock()
        told = None if failure is None else json.dumps(failure, default=str)
        mine = (CODE_RUNS.c.id == id) & (CODE_RUNS.c.ticket == ticket)
        change = update(CODE_RUNS).where(mine, CODE_RUNS.c.ticket != "").values(
            status=status.value, failure=told, owner="", ticket="", lease=0.0, updated=now
        )  # fmt: skip

        def step(connection: Connection) -> bool:
            held = connection.execute(change).rowcount == 1
            if held and status.is_over:
                dropped = update(CODE_CALLS).where(CODE_CALLS.c.run == id)
                connection.execute(dropped.values(answer=None))
            return held

        if not self._written(step):
            raise lost(id)

    def cancel(self, id: str) -> CodeRun:
        """End a run for good, whoever holds it; calls that are under way are the last.

        Raises:
            CodeError: there is none, or it is over.
            StoreError: it cannot be written.
        """
        now = self.clock()

        def step(connection: Connection) -> CodeRun:
            run = self._known(connection, id)
            if run.status.is_over:
                raise _over(run)
            row = {"status": CodeStatus.CANCELLED.value, "owner": "", "ticket": "", "lease": 0.0, "updated": now}
            connection.execute(update(CODE_RUNS).where(CODE_RUNS.c.id == id).values(**row))
            return replace(run, status=CodeStatus.CANCELLED, owner="", lease=0.0, updated=now)

        return self._written(step)

    def left(self, digest: str, principal: str, since: float) -> str | None:
        """The oldest run of this code, of this principal, that is not over and that nobody holds; its id.

        Parameters:
            digest: of the code.
            principal: whose.
            since: only a run that has said a word after this Unix time.
        """
        query = (
            select(CODE_RUNS)
            .where(CODE_RUNS.c.digest == digest, CODE_RUNS.c.principal == principal, CODE_RUNS.c.updated > since)
            .order_by(CODE_RUNS.c.created, CODE_RUNS.c.id)
        )
        now = self.clock()
        rows = self._store.read(lambda connection: [_run(row) for row in connection.execute(query)], [])
        return next((run.id for run in rows if not run.status.is_over and self._is_free(run, now)), None)

    def run(self, id: str) -> CodeRun:
        """A run with its journal; the beginning of its id is enough where no other begins so.

        Raises:
            CodeError: there is none.
        """
        found = self._store.read(lambda connection: _find(connection, id), None)
        if found is None:
            raise unknown_run(id, [run.id for run in self.runs(limit=10_000)])
        return found

    def runs(self, *, status: CodeStatus | None = None, limit: int = 50) -> list[CodeRun]:
        """Runs without their journals, the latest first."""
        query = select(CODE_RUNS).order_by(CODE_RUNS.c.created.desc(), CODE_RUNS.c.id).limit(limit)
        query = query if status is None else query.where(CODE_RUNS.c.status == status.value)
        return self._store.read(lambda connection: [_run(row) for row in connection.execute(query)], [])

    def _known(self, connection: Connection, id: str) -> CodeRun:
        run = _find(connection, id)
        if run is None or run.id != id:
            raise unknown_run(id, connection.execute(select(CODE_RUNS.c.id)).scalars())
        return run

    def _check_free(self, run: CodeRun, now: float) -> None:
        if run.status.is_over:
            raise _over(run)
        if not self._is_free(run, now):
            raise CodeError(
                CodeFault.RUN_HELD,
                f"The run {run.id} is under way in a process ({run.owner}).",
                next_step=f"Wait until it is through; if that process is gone, {max(run.lease - now, 0):.0f} s.",
            )

    def _is_free(self, run: CodeRun, now: float) -> bool:
        # A lease that lies further ahead than any lease lasts was written before the clock was set back.
        return not run.owner or run.lease < now or run.lease > now + 2 * LEASE or has_ended(run.owner)

    def _written(self, step: Callable[[Connection], Any]) -> Any:
        return self._kept(self._store.write(step, None))

    def _kept(self, done: Any) -> Any:
        """What a write came to; it must not come to None."""
        if done is None:
            reason = self._store.warnings[-1] if self._store.warnings else "It cannot be written."
            raise StoreError(
                f"The journal of the code could not be written. {reason}",
                where="board.store",
                next_step="Make room or mend the store (`pegboard doctor`).",
            )
        return done


def _find(connection: Connection, id: str) -> CodeRun | None:
    query = select(CODE_RUNS).where(CODE_RUNS.c.id.startswith(id, autoescape=True)).limit(2)
    rows = connection.execute(query).all()
    exactly = [row for row in rows if row.id == id] or rows
    if len(exactly) != 1 or not id:
        return None
    run = _run(exactly[0])
    calls = connection.execute(select(CODE_CALLS).where(CODE_CALLS.c.run == run.id).order_by(CODE_CALLS.c.number))
    return replace(run, entries={row.number: _entry(row) for row in calls})


def _forget(connection: Connection, before: float) -> None:
    old = select(CODE_RUNS.c.id).where(CODE_RUNS.c.updated < before)
    connection.execute(delete(CODE_CALLS).where(CODE_CALLS.c.run.in_(old)))
    connection.execute(delete(CODE_RUNS).where(CODE_RUNS.c.updated < before))


_PLAIN = ("id", "code", "language", "digest", "principal", "session", "owner", "lease", "created", "updated")


def _run_row(run: CodeRun) -> dict[str, Any]:
    return {**{name: getattr(run, name) for name in _PLAIN}, "status": run.status.value}


def _run(row: Any) -> CodeRun:
    fields: Mapping[str, Any] = row._mapping
    failure = None if row.failure is None else json.loads(row.failure)
    return CodeRun(**{name: fields[name] for name in _PLAIN}, status=CodeStatus(row.status), failure=failure)


_FIELDS = ("number", "name", "digest", "status", "place", "after", "at", "answer", "request")


def _entry_row(run: str, entry: Entry) -> tuple[Any, ...]:
    name = entry.name[:500]
    found = {name: getattr(entry, name) for name in _FIELDS}
    return (run, *{**found, "name": name, "status": entry.status.value}.values())


def _entry(row: Any) -> Entry:
    fields: dict[str, Any] = {name: row._mapping[name] for name in _FIELDS}
    fields.update(status=EntryStatus(row.status), at=int(row.at))
    return Entry(**fields)


def _over(run: CodeRun) -> CodeError:
    return CodeError(
        CodeFault.RUN_OVER, f"The run {run.id} is {run.status}.", next_step="Run the code again from its start."
    )
