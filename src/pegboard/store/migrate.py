"""Versions of the store: an ordered list of steps, each run once, all in one transaction."""

from collections.abc import Callable

from sqlalchemy import Connection, insert, inspect, select

from pegboard.store.glance import STEPS
from pegboard.store.tables import (
    ALIASES,
    ASSETS,
    BLOBS,
    CATALOG,
    CHAIN_RUNS,
    CHECKPOINTS,
    CHOSEN,
    CODE_CALLS,
    CODE_RUNS,
    FINDINGS,
    GRANTS,
    METADATA,
    MIGRATED,
    PINS,
    REQUESTS,
    VERSIONS,
)

Step = Callable[[Connection], object]


def _first(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[CATALOG, ALIASES])


def _assets(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[ASSETS, BLOBS])
    connection.exec_driver_sql("DROP TABLE IF EXISTS results")  # pages of answers of an hour ago: now assets


def _findings(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[FINDINGS])


def _approvals(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[REQUESTS, GRANTS, PINS])


def _versions(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[VERSIONS, CHOSEN])


def _chains(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[CHAIN_RUNS, CHECKPOINTS])


def _code(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[CODE_RUNS, CODE_CALLS])


MIGRATIONS: tuple[tuple[str, Step], ...] = tuple(
    zip(STEPS, (_first, _assets, _findings, _approvals, _versions, _chains, _code), strict=True)
)
"""The steps in order. A step that has been released is never changed; a change of tables is a new step."""


def migrate(connection: Connection, steps: tuple[tuple[str, Step], ...] = MIGRATIONS) -> list[str]:
    """Run the steps that this store has not seen.

    Returns:
        The names of steps that the store has seen and this Pegboard does not know: a newer one wrote it.
    """
    MIGRATED.create(connection, checkfirst=True)
    done = set(connection.execute(select(MIGRATED.c.name)).scalars())
    for name, step in steps:
        if name not in done:
            step(connection)
            connection.execute(insert(MIGRATED).values(name=name))
    return sorted(done - {name for name, _ in steps})


def is_current(connection: Connection, steps: tuple[tuple[str, Step], ...] = MIGRATIONS) -> bool:
    """Whether every step has run, and no other."""
    if not inspect(connection).has_table(MIGRATED.name):
        return False
    return set(connection.execute(select(MIGRATED.c.name)).scalars()) == {name for name, _ in steps}
