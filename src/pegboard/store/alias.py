"""The stored wire names: a tool keeps its name for as long as the store lives."""

from collections.abc import Mapping

from sqlalchemy import Connection, and_, delete, select

from pegboard.core import ToolName
from pegboard.store.tables import ALIASES


def read_aliases(connection: Connection) -> dict[ToolName, str]:
    """Wire name by full name."""
    rows = connection.execute(select(ALIASES).order_by(ALIASES.c.namespace, ALIASES.c.name, ALIASES.c.version))
    return {ToolName(namespace, name, version or None): wire for namespace, name, version, wire in rows}


def write_aliases(connection: Connection, before: Mapping[ToolName, str], after: Mapping[ToolName, str]) -> None:
    """Bring the table from `before` to `after`."""
    for name in (name for name in before if after.get(name) != before[name]):
        columns = (ALIASES.c.namespace == name.namespace, ALIASES.c.name == name.name)
        connection.execute(delete(ALIASES).where(and_(*columns, ALIASES.c.version == (name.version or ""))))
    rows = [_row(name, wire) for name, wire in after.items() if before.get(name) != wire]
    if rows:
        connection.execute(ALIASES.insert(), rows)


def _row(name: ToolName, wire: str) -> dict[str, str]:
    return {"namespace": name.namespace, "name": name.name, "version": name.version or "", "wire": wire}
