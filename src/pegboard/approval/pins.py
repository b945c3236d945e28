"""Definitions of foreign tools, trusted as first seen; one that changes is held back until it was looked at."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select, update

from pegboard.approval.fault import ApprovalError, Fault
from pegboard.core import ToolName, ToolSpec, definition
from pegboard.errors import nearest
from pegboard.schema.diff import Difference, diff_definitions
from pegboard.schema.types import Json, JsonObject, digest
from pegboard.store import Store
from pegboard.store.tables import PINS


@dataclass(frozen=True)
class Drift:
    """A tool that is held back because its definition changed.

    Parameters:
        source: its source.
        tool: its full name.
        before: the definition that is trusted.
        after: the one that its source sends now.
        since: when that was first seen, Unix time in seconds.
    """

    source: str
    tool: str
    before: JsonObject
    after: JsonObject
    since: float

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What changed, and what that means for callers."""
        return diff_definitions(self.before, self.after)

    def to_json(self) -> dict[str, Json]:
        """As plain data, for `--json`."""
        rows = [
            {"weight": one.weight.value, "pointer": one.pointer, "message": one.message, "before": one.before}
            | {"after": one.after}
            for one in self.differences
        ]
        return {
            "source": self.source,
            "tool": self.tool,
            "since": self.since,
            "differences": rows,
            "before": dict(self.before),
            "after": dict(self.after),
        }


class Pins:
    """The pinned definitions in a store. Blocks; safe to call from any thread.

    Parameters:
        store: the board's store.
        clock: gives the Unix time in seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock

    def check(self, source: str, origin: str, specs: Iterable[ToolSpec]) -> frozenset[ToolName]:
        """Compare what a source lists now with what is trusted; what is new is trusted from now on.

        Parameters:
            source: the source's name.
            origin: changes when the operator points the source elsewhere; then all is new.
            specs: its tools.

        Returns:
            The tools that are held back.
        """
        rows = [(spec.name, definition(spec)) for spec in specs]
        listed = {name: (row, digest(_pinned(row))) for name, row in rows}
        now = self._clock()

        def step(connection: Connection) -> frozenset[ToolName]:
            query = select(PINS.c.name, PINS.c.origin, PINS.c.digest, PINS.c.held).where(PINS.c.source == source)
            known = {name: (found, pin, held) for name, found, pin, held in connection.execute(query)}
            fresh: list[dict[str, Any]] = []
            held: set[ToolName] = set()
            for name, (row, pin) in listed.items():
                trusted = known.get(str(name))
                if trusted is None or trusted[0] != origin:
                    fresh.append(_pin(source, str(name), origin, pin, row, now))
                elif trusted[1] != pin:
                    held.add(name)
                    _hold(connection, source, str(name), row, trusted[2], now)
                elif trusted[2] is not None:  # it is again what it was
                    _set(connection, source, str(name), held=None, held_since=None)
            stale = [row["name"] for row in fresh if row["name"] in known]
            connection.execute(PINS.delete().where(PINS.c.source == source, PINS.c.name.in_(stale)))
            if fresh:
                connection.execute(PINS.insert(), fresh)
            return frozenset(held)

        return self._store.write(step, frozenset[ToolName]())

    def held(self, source: str) -> frozenset[str]:
        """The full names of a source's tools that are held back."""
        query = select(PINS.c.name).where(PINS.c.source == source, PINS.c.held.is_not(None))
        return self._store.read(lambda connection: frozenset(connection.execute(query).scalars()), frozenset[str]())

    def drifts(self) -> list[Drift]:
        """Everything that is held back."""
        query = select(PINS).where(PINS.c.held.is_not(None)).order_by(PINS.c.source, PINS.c.name)
        return [_drift(row) for row in self._store.read(lambda connection: list(connection.execute(query)), [])]

    def accept(self, tools: Sequence[str] | None) -> list[Drift]:
        """Trust the new definitions of tools, or of all that are held back.

        Returns:
            What was accepted.

        Raises:
            ApprovalError: a tool is not held back; then none is accepted.
        """
        waiting = self.drifts()
        chosen = waiting if tools is None else [_named(name, waiting) for name in tools]

        def step(connection: Connection) -> bool:
            for drift in chosen:
                row = dict(drift.after)
                text, pin = json.dumps(row), digest(_pinned(row))
                where = (PINS.c.source == drift.source, PINS.c.name == drift.tool, PINS.c.held == text)
                values = {"digest": pin, "definition": text, "held": None, "held_since": None, "seen": self._clock()}
                if connection.execute(update(PINS).where(*where).values(**values)).rowcount != 1:
                    raise _moved_on(drift)
            return True

        if not self._store.write(step, False):
            raise ApprovalError(Fault.NOT_KEPT, "Nothing could be kept.", next_step="See `pegboard doctor`.")
        return chosen


def _pinned(row: JsonObject) -> JsonObject:
    """What must not change unseen: all that a source says of a tool; effects are what Pegboard makes of that."""
    return {key: value for key, value in row.items() if key != "effects"}


def _pin(source: str, name: str, origin: str, pin: str, row: JsonObject, now: float) -> dict[str, Any]:
    text = json.dumps(row)
    return {"source": source, "name": name, "origin": origin, "digest": pin, "definition": text, "seen": now}


def _hold(connection: Connection, source: str, name: str, row: JsonObject, before: str | None, now: float) -> None:
    text = json.dumps(row)
    if before != text:
        _set(connection, source, name, held=text, **({"held_since": now} if before is None else {}))


def _set(connection: Connection, source: str, name: str, **values: Any) -> None:
    connection.execute(update(PINS).where(PINS.c.source == source, PINS.c.name == name).values(**values))


def _drift(row: Row[Any]) -> Drift:
    found = row._mapping  # pyright: ignore[reportPrivateUsage]
    before, after = json.loads(found["definition"]), json.loads(found["held"])
    return Drift(found["source"], found["name"], before, after, found["held_since"] or 0.0)


def _named(name: str, waiting: Sequence[Drift]) -> Drift:
    fit = [drift for drift in waiting if name in (drift.tool, drift.tool.replace(".", "__", 1))]
    if fit:
        return fit[0]
    near = nearest(name, [drift.tool for drift in waiting])
    step = f"Held back are: {', '.join(near or [drift.tool for drift in waiting]) or 'none'}."
    raise ApprovalError(Fault.UNKNOWN_TOOL, f"{name!r} is not held back.", next_step=step)


def _moved_on(drift: Drift) -> ApprovalError:
    return ApprovalError(
        Fault.ALREADY_ANSWERED,
        f"{drift.tool} has changed once more, or was accepted meanwhile; nothing was accepted.",
        next_step="Look again: pegboard approvals drift",
    )
