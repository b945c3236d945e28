"""The runs of chains in the store. Whoever holds a run has a ticket; without the current one nothing can be written.

Safety stands on the tickets alone. Clocks only decide how soon a run whose owner says nothing any more can be taken.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update

from pegboard.chain.fault import ChainError, ChainFault, unknown_run
from pegboard.chain.record import ChainRun, Checkpoint, RunStatus, StepStatus
from pegboard.errors import StoreError
from pegboard.schema.types import Json, JsonObject
from pegboard.store.owner import has_ended, this_process
from pegboard.store.tables import CHAIN_RUNS, CHECKPOINTS

WITHDRAWN = -1.0
"""The lease of a run whose caller has withdrawn the call: whoever names it may go on with it, nobody by himself."""
LEASE = 15.0
"""Seconds that a run is held without another word of its owner."""
KEEP_SECONDS = 30 * 86_400.0
"""Runs that are over are forgotten so long after their last word."""

_OVER = (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED)
_MINE = "WHERE EXISTS (SELECT 1 FROM chain_runs WHERE id = ? AND ticket = ? AND status = 'running'{lock}) "
_BEGIN = (
    "INSERT INTO checkpoints (run, step, tool, status, attempts, started) SELECT ?, ?, ?, ?, 1, ? "
    f"{_MINE} ON CONFLICT (run, step) DO UPDATE SET tool = excluded.tool, status = excluded.status, "
    "attempts = checkpoints.attempts + 1, started = excluded.started, ended = NULL, value = NULL, failure = NULL"
)
_END = (
    "INSERT INTO checkpoints (run, step, tool, status, attempts, started, ended, value, failure) "
    f"SELECT ?, ?, ?, ?, 1, ?, ?, ?, ? {_MINE} ON CONFLICT (run, step) DO UPDATE SET status = excluded.status, "
    "ended = excluded.ended, value = excluded.value, failure = excluded.failure"
)
_MARK = (
    "UPDATE checkpoints SET status = ? WHERE run = ? AND step = ? AND EXISTS "
    "(SELECT 1 FROM chain_runs WHERE id = ? AND ticket = ? AND status = 'running'{lock})"
)
_RENEW = "UPDATE chain_runs SET lease = ?, updated = ? WHERE id = ? AND ticket = ? AND status = 'running'"


T = TypeVar("T")


class Records(Protocol):
    """Where runs stand: the board's `Store`, or a `ServerStore` that several machines share."""

    warnings: list[str]

    @property
    def lock(self) -> str:
        """What makes a statement wait for whoever is changing the row that it looks at."""
        ...

    def clock(self) -> float:
        """The Unix time in seconds, the same for all who share the runs."""
        ...

    def read(self, step: Callable[[Connection], T], fallback: T) -> T:
        """What a step finds in one transaction."""
        ...

    def write(self, step: Callable[[Connection], T], fallback: T) -> T:
        """Run a step in one transaction; `fallback` where it cannot be written."""
        ...

    def statement(self, sql: str, values: Sequence[Any]) -> int | None:
        """Run one statement; how many rows it changed, or None where it cannot be written."""
        ...


class Ledger:
    """Blocks; safe to call from any thread, and from several processes over one store.

    Parameters:
        store: keeps the runs.
        clock: gives the Unix time in seconds; by default the store's.
        owner: the name of this process.
    """

    def __init__(self, store: Records, clock: Callable[[], float] | None = None, owner: str | None = None) -> None:
        self._store, self.clock = store, clock or store.clock
        self._begin, self._end, self._mark = (sql.format(lock=store.lock) for sql in (_BEGIN, _END, _MARK))
        self.owner = owner or this_process()
        self.stopping = False
        """Whether this process comes to its end, so that others shall go on with what it has to let go."""

    def open(self, run: ChainRun, points: Iterable[Checkpoint] = ()) -> tuple[ChainRun, str]:
        """Begin a run and hold it.

        Returns:
            The run, and the ticket.

        Raises:
            StoreError: it cannot be written; nothing has begun.
        """
        now, ticket = self.clock(), uuid4().hex
        begun = replace(run, owner=self.owner, lease=now + LEASE, created=now, updated=now)
        rows = [_point_row(run.id, point) for point in points]

        def step(connection: Connection) -> bool:
            _forget(connection, now - KEEP_SECONDS)
            connection.execute(insert(CHAIN_RUNS).values(**_run_row(begun), ticket=ticket))
            if rows:
                connection.execute(insert(CHECKPOINTS), rows)
            return True

        self._written(step)
        return begun, ticket

    def claim(
        self, id: str, change: "Callable[[ChainRun], Mapping[str, Checkpoint]] | None" = None
    ) -> tuple[ChainRun, str]:
        """Hold a run that is not over and that nobody else holds.

        Parameters:
            id: the run.
            change: what an operator decided: from the run to the checkpoints to write; raises `ChainError`.

        Raises:
            ChainError: there is none, it is over, or somebody holds it.
            StoreError: it cannot be written.
        """
        now, ticket = self.clock(), uuid4().hex

        def step(connection: Connection) -> ChainRun:
            run = self._known(connection, id)
            self._check_free(run, now)
            points: Mapping[str, Checkpoint] = change(run) if change is not None else {}
            for point in points.values():
                connection.execute(delete(CHECKPOINTS).where(CHECKPOINTS.c.run == id, CHECKPOINTS.c.step == point.step))
                connection.execute(insert(CHECKPOINTS).values(**_point_row(id, point)))
            row = {"status": RunStatus.RUNNING.value, "owner": self.owner, "lease": now + LEASE, "updated": now}
            connection.execute(update(CHAIN_RUNS).where(CHAIN_RUNS.c.id == id).values(**row, ticket=ticket))
            return replace(run, status=RunStatus.RUNNING, owner=self.owner, steps={**run.steps, **points})

        return self._written(step), ticket

    def renew(self, id: str, ticket: str) -> bool:
        """Say that the owner lives; False where the run is not its own any more."""
        now = self.clock()
        renewed = self._store.statement(_RENEW, (now + LEASE, now, id, ticket))
        return renewed is None or renewed == 1  # a store that cannot be written now takes nothing away

    def start(self, id: str, ticket: str, step: str, tool: str) -> None:
        """Write down that a step's tool is about to be called.

        Raises:
            ChainError: the run is not the owner's any more.
            StoreError: it cannot be written; the tool must not be called.
        """
        self._fenced(id, ticket, self._begin, (id, step, tool, StepStatus.STARTED.value, self.clock()))

    def mark(self, id: str, ticket: str, step: str, status: StepStatus) -> None:
        """Write down how a step is that was begun: whether a person is asked about it. Raises like `start`."""
        self._fenced(id, ticket, self._mark, (status.value, id, step))

    def end(self, id: str, ticket: str, point: Checkpoint) -> None:
        """Write down what a step came to. Raises like `start`."""
        now = self.clock()
        outcome = (_text(point.value), _text(point.failure))
        self._fenced(id, ticket, self._end, (id, point.step, point.tool, point.status.value, now, now, *outcome))

    def settle(
        self, id: str, ticket: str, status: RunStatus, *, value: Json = None, failure: JsonObject | None = None
    ) -> None:
        """Let a run go, and say how it is. Raises like `start`."""
        now = self.clock()
        row = {"status": status.value, "value": _text(value), "failure": _text(failure)}
        mine = (CHAIN_RUNS.c.id == id) & (CHAIN_RUNS.c.ticket == ticket)

        def step(connection: Connection) -> int:
            change = update(CHAIN_RUNS).where(mine, CHAIN_RUNS.c.status == RunStatus.RUNNING.value)
            return connection.execute(change.values(**row, owner="", ticket="", lease=0.0, updated=now)).rowcount

        if self._written(step) != 1:
            raise _lost(id)

    def release(self, id: str, ticket: str) -> None:
        """Let a run go as it is, so that another process can take it at once. Does nothing where that fails.

        While this process is stopping, others adopt the run; else its caller has withdrawn, and it waits to be resumed.
        """
        mine = (CHAIN_RUNS.c.id == id) & (CHAIN_RUNS.c.ticket == ticket)
        lease = 0.0 if self.stopping else WITHDRAWN
        change = update(CHAIN_RUNS).where(mine).values(owner="", ticket="", lease=lease, updated=self.clock())
        self._store.write(lambda connection: connection.execute(change), None)

    def cancel(self, id: str) -> ChainRun:
        """End a run for good, whoever holds it; a step that is under way is the last.

        Raises:
            ChainError: there is none, or it is over.
            StoreError: it cannot be written.
        """
        now = self.clock()

        def step(connection: Connection) -> ChainRun:
            run = self._known(connection, id)
            if run.status in _OVER:
                raise _over(run)
            row = {"status": RunStatus.CANCELLED.value, "owner": "", "lease": 0.0, "updated": now}
            connection.execute(update(CHAIN_RUNS).where(CHAIN_RUNS.c.id == id).values(**row, ticket=""))
            return replace(run, status=RunStatus.CANCELLED, owner="", lease=0.0, updated=now)

        return self._written(step)

    def run(self, id: str) -> ChainRun:
        """A run with its checkpoints; the beginning of its id is enough where no other begins so.

        Raises:
            ChainError: there is none.
        """
        found = self._store.read(lambda connection: _find(connection, id), None)
        if found is None:
            raise unknown_run(id, self.ids())
        return found

    def ids(self) -> list[str]:
        """The ids of all runs, the latest first."""
        query = select(CHAIN_RUNS.c.id).order_by(CHAIN_RUNS.c.created.desc(), CHAIN_RUNS.c.id)
        return self._store.read(lambda connection: list(connection.execute(query).scalars()), [])

    def runs(self, *, status: RunStatus | None = None, chain: str | None = None, limit: int = 50) -> list[ChainRun]:
        """Runs without their checkpoints, the latest first."""
        query = select(CHAIN_RUNS).order_by(CHAIN_RUNS.c.created.desc(), CHAIN_RUNS.c.id).limit(limit)
        query = query if status is None else query.where(CHAIN_RUNS.c.status == status.value)
        query = query if chain is None else query.where(CHAIN_RUNS.c.chain == chain)
        return self._store.read(lambda connection: [_run(row) for row in connection.execute(query)], [])

    def followed(self, session: str, principal: str) -> str | None:
        """The run of a chain that the agent of a session follows, if there is one that is not over."""
        query = select(CHAIN_RUNS.c.id, CHAIN_RUNS.c.definition).where(
            CHAIN_RUNS.c.session == session,
            CHAIN_RUNS.c.principal == principal,
            CHAIN_RUNS.c.status.not_in([status.value for status in _OVER]),
        )
        rows = self._store.read(lambda connection: connection.execute(query.order_by(CHAIN_RUNS.c.created)).all(), [])
        return next((row.id for row in rows if json.loads(row.definition).get("form") == "specification"), None)

    def bind(self, id: str, session: str) -> None:
        """Have the agent of another session follow a run from now on. Raises `StoreError` where it cannot be kept."""
        change = update(CHAIN_RUNS).where(CHAIN_RUNS.c.id == id).values(session=session)
        self._written(lambda connection: connection.execute(change).rowcount)

    def left(self) -> list[str]:
        """The ids of the runs whose owner has died or says nothing any more, the oldest first."""
        now = self.clock()
        runs = self.runs(status=RunStatus.RUNNING, limit=10_000)
        return [run.id for run in reversed(runs) if self._is_left(run, now)]

    def _known(self, connection: Connection, id: str) -> ChainRun:
        run = _find(connection, id, locked=True)
        if run is None:
            raise unknown_run(id, connection.execute(select(CHAIN_RUNS.c.id)).scalars())
        return run

    def _check_free(self, run: ChainRun, now: float) -> None:
        if run.status in (RunStatus.DONE, RunStatus.CANCELLED):
            raise _over(run)
        if run.status is RunStatus.RUNNING and run.lease != WITHDRAWN and not self._is_left(run, now):
            raise ChainError(
                ChainFault.RUN_HELD,
                f"The run {run.id} is under way in another process ({run.owner}).",
                next_step=f"Wait until it is through; if that process is gone, in {max(run.lease - now, 0):.0f} s.",
            )

    def _is_left(self, run: ChainRun, now: float) -> bool:
        # A lease that lies further ahead than any lease lasts was written before the clock was set back.
        if run.lease == WITHDRAWN:
            return False
        return not run.owner or run.lease < now or run.lease > now + 2 * LEASE or has_ended(run.owner)

    def _fenced(self, id: str, ticket: str, sql: str, values: tuple[Any, ...]) -> None:
        if self._kept(lambda: self._store.statement(sql, (*values, id, ticket))) != 1:
            raise _lost(id)

    def _written(self, step: Callable[[Connection], Any]) -> Any:
        return self._kept(lambda: self._store.write(step, None))

    def _kept(self, work: Callable[[], Any]) -> Any:
        """What a write comes to; it must not come to None."""
        done = work()
        if done is None:
            reason = self._store.warnings[-1] if self._store.warnings else "It cannot be written."
            raise StoreError(
                f"The chain's checkpoint could not be written. {reason}",
                where="board.store",
                next_step="Make room or mend the store (`pegboard doctor`), then resume the run.",
            )
        return done


def _find(connection: Connection, id: str, *, locked: bool = False) -> ChainRun | None:
    """A run by its id, which nobody else changes until the transaction ends; or by the beginning of its id."""
    if locked:  # PostgreSQL must see here what others have written meanwhile; SQLite has one writer anyhow
        rows = connection.execute(select(CHAIN_RUNS).where(CHAIN_RUNS.c.id == id).with_for_update()).all()
    else:
        mine = CHAIN_RUNS.c.id.startswith(id, autoescape=True)
        rows = connection.execute(select(CHAIN_RUNS).where(mine).limit(2)).all()
    exactly = [row for row in rows if row.id == id] or rows
    if len(exactly) != 1 or not id:
        return None
    run = exactly[0]
    query = select(CHECKPOINTS).where(CHECKPOINTS.c.run == run.id).order_by(CHECKPOINTS.c.started, CHECKPOINTS.c.ended)
    points = [_point(row) for row in connection.execute(query)]
    return replace(_run(run), steps={point.step: point for point in points})


def _forget(connection: Connection, before: float) -> None:
    old = select(CHAIN_RUNS.c.id).where(
        CHAIN_RUNS.c.updated < before, CHAIN_RUNS.c.status.in_([status.value for status in _OVER])
    )
    connection.execute(delete(CHECKPOINTS).where(CHECKPOINTS.c.run.in_(old)))
    connection.execute(delete(CHAIN_RUNS).where(CHAIN_RUNS.c.id.in_(old)))


def _run_row(run: ChainRun) -> dict[str, Any]:
    plain = ("id", "chain", "digest", "principal", "session", "owner", "lease", "created", "updated")
    return {
        **{name: getattr(run, name) for name in (*plain, "forked_from", "forked_at")},
        "status": run.status.value,
        "definition": json.dumps(run.definition, default=str),  # in its order: the steps' arguments stand in it
        "input": json.dumps(run.input, default=str),
    }


def _run(row: Any) -> ChainRun:
    fields: dict[str, Any] = dict(row._mapping)
    del fields["ticket"]
    fields.update({name: _value(fields[name]) for name in ("definition", "input", "value", "failure")})
    fields["status"] = RunStatus(row.status)
    return ChainRun(**fields)


def _point_row(run: str, point: Checkpoint) -> dict[str, Any]:
    return {
        "run": run,
        "step": point.step,
        "tool": point.tool,
        "status": point.status.value,
        "attempts": point.attempts,
        "value": _text(point.value),
        "failure": _text(point.failure),
        "started": point.started,
        "ended": point.ended,
    }


def _point(row: Any) -> Checkpoint:
    fields: dict[str, Any] = dict(row._mapping)
    del fields["run"]
    fields.update(value=_value(row.value), failure=_value(row.failure), status=StepStatus(row.status))
    return Checkpoint(**fields)


def _text(value: Json) -> str | None:
    return None if value is None else json.dumps(value, default=str)


def _value(text: str | None) -> Json:
    return None if text is None else json.loads(text)


def _lost(id: str) -> ChainError:
    return ChainError(
        ChainFault.RUN_LOST,
        f"The run {id} is not this process's any more: it was cancelled, or another process has taken it.",
        next_step=f"See it with: pegboard chain show {id}",
    )


def _over(run: ChainRun) -> ChainError:
    return ChainError(
        ChainFault.RUN_OVER,
        f"The run {run.id} is {run.status}.",
        next_step=f"Run its steps again from one on with: pegboard chain fork {run.id} STEP",
    )
