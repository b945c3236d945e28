"""The rungs over the data: `execute_query` (low) and `search_records` (middle)."""

import json
from collections.abc import Sequence
from typing import Any

from pegboard.core import Failure, Report, Result
from pegboard.errors import nearest
from pegboard.schema.types import Json, as_list
from pegboard.sources.sql.database import PLACE, QueryError, Rows, TableShape, quoted
from pegboard.sources.sql.explore import Explorer
from pegboard.sources.sql.statement import refusal

OPERATORS = (
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not_in",
    "contains",
    "starts_with",
    "is_null",
    "not_null",
    "between",
)


class Asker:
    """Runs queries within the caps. Its methods block and are called in threads.

    Parameters:
        explorer: knows the tables.
    """

    def __init__(self, explorer: Explorer) -> None:
        self.explorer, self.database, self.caps = explorer, explorer.database, explorer.caps

    def execute_query(self, sql: str, limit: int = 100) -> Result | Failure:
        """One SELECT of the caller's own."""
        refused = refusal(sql, self.database.dialect, self.explorer.names)
        if refused is not None:
            return refused
        return self._answer(self._run(sql.strip().rstrip(";"), (), limit))

    def search_records(
        self,
        table: str,
        filters: Sequence[dict[str, Any]] = (),
        columns: Sequence[str] = (),
        order_by: str | None = None,
        descending: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> Result | Failure:
        """Rows of one table that meet every filter."""
        name = self.explorer.table(table)
        shape = self.explorer.shapes[name]
        values: list[Any] = []
        shown = ", ".join(self._column(shape, column) for column in columns) or "*"
        where = [self._condition(shape, one, values) for one in filters]
        sql = f"SELECT {shown} FROM {self.database.place(name)}"
        sql += f" WHERE {' AND '.join(where)}" if where else ""
        if order_by is not None:
            sql += f" ORDER BY {self._column(shape, order_by)}{' DESC' if descending else ''}"
        wanted = min(limit, self.caps.rows)
        sql += f" LIMIT {wanted + 1} OFFSET {int(offset)}"
        return self._answer(self._run(sql, values, wanted))

    def _run(self, sql: str, values: Sequence[Any], limit: int) -> Rows:
        return self.database.run(sql, values, limit=min(limit, self.caps.rows), seconds=self.caps.seconds)

    def _column(self, shape: TableShape, name: str) -> str:
        if name not in shape.names:
            near = nearest(name, shape.names) or list(shape.names)
            raise QueryError(f"{shape.name} has no column {name!r}. It has: {', '.join(near)}.")
        return quoted(name)

    def _condition(self, shape: TableShape, one: dict[str, Any], values: list[Any]) -> str:
        column = self._column(shape, str(one.get("column")))
        value = one.get("value")
        match one.get("op", "="):
            case "is_null":
                return f"{column} IS NULL"
            case "not_null":
                return f"{column} IS NOT NULL"
            case "in" | "not_in" as op:
                listed = as_list(value) if isinstance(value, list) else [value]
                values += listed
                places = ", ".join(PLACE for _ in listed)
                return f"{column} {'NOT ' if op == 'not_in' else ''}IN ({places})" if listed else "1 = 0"
            case "between":
                if len(as_list(value)) != 2:
                    raise QueryError("between takes a list of two values.")
                values += as_list(value)
                return f"{column} BETWEEN {PLACE} AND {PLACE}"
            case "contains" | "starts_with" as op:
                text = str(value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
                values.append(f"{'%' if op == 'contains' else ''}{text}%".lower())
                return f"LOWER(CAST({column} AS VARCHAR)) LIKE {PLACE} ESCAPE '\\'"
            case op:
                values.append(value)
                return f"{column} {op} {PLACE}"

    def _answer(self, rows: Rows) -> Result:
        """Rows as objects, as many as the byte cap lets through."""
        found: list[Json] = []
        size, cut = 0, False
        columns = _apart(rows.columns)
        for row in rows.rows:
            record = dict(zip(columns, row, strict=True))
            size += len(json.dumps(record, ensure_ascii=False, default=str))
            if size > self.caps.bytes and found:
                cut = True
                break
            found.append(record)
        value: dict[str, Json] = {"rows": found, "count": len(found), "more": rows.more or cut}
        notes = [f"Only the first {len(found)} rows are shown: they are large."] if cut else []
        if rows.more and not cut:
            notes.append("There are more rows: narrow the query, or raise limit or offset.")
        if columns != rows.columns:
            notes.append("Columns of one name are numbered; name them with AS.")
        return Result(value=value, report=Report(notes=tuple(notes)) if notes else None)


def _apart(columns: Sequence[str]) -> tuple[str, ...]:
    """Columns with a name each: a join gives two of one name, and neither is to hide the other."""
    found: list[str] = []
    for column in columns:
        name, number = column, 2
        while name in found or (name != column and name in columns):
            name, number = f"{column}_{number}", number + 1
        found.append(name)
    return tuple(found)
