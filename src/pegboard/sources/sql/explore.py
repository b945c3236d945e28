"""What the exploring tools answer: each layer small, each naming the next."""

from typing import Any

from pegboard.errors import nearest
from pegboard.schema.types import Json, as_object
from pegboard.sources.sql.database import Caps, Database, QueryError, Shapes, TableShape, quoted, spelled
from pegboard.sources.sql.mask import is_secret, masked, masked_rows

_FEW = 12
_OVERLAP = 200


class Explorer:
    """Answers about one database. Its methods block and are called in threads.

    Parameters:
        database: the open database.
        caps: how much a query may take.
    """

    def __init__(self, database: Database, caps: Caps) -> None:
        self.database, self.caps = database, caps
        self.shapes = Shapes(database)
        self._names: list[str] | None = None

    @property
    def names(self) -> list[str]:
        """The tables, looked up once."""
        if self._names is None:
            self._names = self.database.tables()
        return self._names

    def table(self, name: str) -> str:
        """The table that a name means, whatever its case.

        Raises:
            QueryError: there is none.
        """
        if name in self.names:
            return name
        same = [each for each in self.names if each.lower() == name.lower()]
        if len(same) == 1:
            return same[0]
        near = nearest(name, self.names) or self.names[:5]
        raise QueryError(f"There is no table {name!r}. There are: {', '.join(near)}.")

    def list_tables(self) -> Json:
        """Name, kind and size of each table."""
        found: list[Json] = []
        for name in self.names[:1_000]:
            try:
                shape = self.shapes[name]
            except QueryError as error:
                found.append({"table": name, "unreadable": str(error)})
                continue
            row: dict[str, Json] = {"table": name, "columns": len(shape.columns)}
            row |= {"view": True} if shape.view else {"rows": self._count(name)}
            found.append({**row, "about": shape.comment} if shape.comment else row)
        value: dict[str, Json] = {"tables": found, "next": "describe_table(table)"}
        if len(self.names) > len(found):
            value["more"] = (
                f"{len(self.names) - len(found)} further tables are not listed; the others can be asked too."
            )
        if self.database.left_out:
            value["left_out"] = [{"name": name, "why": why} for name, why in self.database.left_out.items()]
        return value

    def describe_table(self, table: str) -> Json:
        """Columns with value samples, keys, indexes and size of one table."""
        name = self.table(table)
        shape = self.shapes[name]
        samples = self._samples(shape)
        columns: list[Json] = []
        for column in shape.columns:
            row: dict[str, Json] = {"name": column.name, "type": column.type, "nullable": column.nullable}
            row |= {"about": column.comment} if column.comment else {}
            columns.append({**row, "samples": samples.get(column.name, [])})
        found: dict[str, Json] = {"table": name, "columns": columns, "primary_key": list(shape.key)}
        found["foreign_keys"] = [
            {"columns": list(key.columns), "refers_to": f"{key.table}({', '.join(key.refers)})"}
            for key in shape.foreign
        ]
        found["indexes"] = [list(columns) for columns in shape.indexes]
        return {**found, "rows": self._count(name), "next": "sample_rows(table, limit) or get_query_hints(table)"}

    def sample_rows(self, table: str, limit: int = 5) -> Json:
        """A few rows of one table, secrets masked."""
        name = self.table(table)
        rows = self._run(f"SELECT * FROM {self.database.place(name)}", limit=min(limit, 50))
        return {
            "table": name,
            "rows": [_brief(row) for row in masked_rows(rows.columns, rows.rows)],
            "next": "get_query_hints(table)",
        }

    def get_query_hints(self, table: str) -> Json:
        """How to query one table well: joins, filters, ranges."""
        name = self.table(table)
        shape = self.shapes[name]
        indexed = dict.fromkeys([*shape.key, *(columns[0] for columns in shape.indexes if columns)])
        values = {column: found for column, found in self._categories(shape).items()}
        return {
            "table": name,
            "joins": [*self._declared_joins(shape), *self._likely_joins(shape)],
            "indexed": list(indexed),
            "categories": values,
            "secrets": [column for column in shape.names if is_secret(column)],
            "next": "search_records(table, filters), or execute_query(sql) for joins",
        }

    def _declared_joins(self, shape: TableShape) -> list[Json]:
        joins: list[Json] = []
        for other in (shape, *self.shapes.sound(name for name in self.names[:200] if name != shape.name)):
            for key in other.foreign:
                if shape.name in (other.name, key.table):
                    pairs = zip(key.columns, key.refers, strict=False)
                    on = " AND ".join(
                        f"{self._column(other.name, mine)} = {self._column(key.table, its)}" for mine, its in pairs
                    )
                    joins.append({"with": key.table if other is shape else other.name, "on": on, "why": "foreign key"})
        return joins

    def _likely_joins(self, shape: TableShape) -> list[Json]:
        """Columns whose values are found in the key of another table, where no foreign key says so."""
        declared = {column for key in shape.foreign for column in key.columns}
        joins: list[Json] = []
        for other in self.shapes.sound(name for name in self.names[:50] if name != shape.name):
            keys = other.key or tuple(name for name in other.names if name.lower() == "id")
            if len(keys) != 1:
                continue
            for column in shape.names:
                if column not in declared and column not in shape.key and _alike(column, other.name, keys[0]):
                    share = self._overlap(shape.name, column, other.name, keys[0])
                    if share >= 0.5:
                        on = f"{self._column(shape.name, column)} = {self._column(other.name, keys[0])}"
                        joins.append(
                            {"with": other.name, "on": on, "why": f"{share:.0%} of sampled values are found there"}
                        )
        return joins

    def _column(self, table: str, column: str) -> str:
        """A column with its table, as a statement has to spell it."""
        plain = all(spelled(part) == part for part in table.split("."))
        return f"{table if plain else self.database.place(table)}.{spelled(column)}"

    def _overlap(self, table: str, column: str, other: str, key: str) -> float:
        place = self.database.place
        column, key = quoted(column), quoted(key)
        values = f"SELECT DISTINCT {column} AS v FROM {place(table)} WHERE {column} IS NOT NULL LIMIT {_OVERLAP}"
        hit = f"SUM(CASE WHEN v IN (SELECT {key} FROM {place(other)}) THEN 1 ELSE 0 END)"
        sql = f"SELECT COUNT(*), {hit} FROM ({values}) s"
        try:
            [[count, found]] = self._run(sql, limit=1).rows
        except QueryError:
            return 0.0
        return (float(found or 0) / float(count)) if count else 0.0

    def _categories(self, shape: TableShape) -> dict[str, list[Json]]:
        """Columns with few values, and the values."""
        found: dict[str, list[Json]] = {}
        for column in shape.names[:60]:
            if is_secret(column) or column in shape.key:
                continue
            spelt = quoted(column)
            sql = f"SELECT DISTINCT {spelt} FROM {self.database.place(shape.name)} WHERE {spelt} IS NOT NULL"
            try:
                rows = self._run(sql, limit=_FEW)
            except QueryError:
                continue
            if not rows.more and rows.rows:
                found[column] = sorted((_short(masked(column, row[0])) for row in rows.rows), key=str)
        return found

    def _samples(self, shape: TableShape) -> dict[str, list[Json]]:
        try:
            rows = self._run(f"SELECT * FROM {self.database.place(shape.name)}", limit=20)
        except QueryError:
            return {}
        found: dict[str, list[Json]] = {}
        for at, column in enumerate(rows.columns):
            values = [masked(column, row[at]) for row in rows.rows if row[at] is not None]
            found[column] = list({str(value): _short(value) for value in values}.values())[:3]
        return found

    def _count(self, table: str) -> Json:
        try:
            return self._run(f"SELECT COUNT(*) FROM {self.database.place(table)}", limit=1, seconds=1.0).rows[0][0]
        except QueryError:
            return None

    def _run(self, sql: str, *, limit: int, seconds: float | None = None) -> Any:
        return self.database.run(sql, limit=limit, seconds=seconds or self.caps.seconds)


def _short(value: Json, most: int = 60) -> Json:
    return f"{value[:most]}…" if isinstance(value, str) and len(value) > most else value


def _brief(row: Json) -> Json:
    """A row with its long texts cut: a sample shows what a table holds, search_records gives all of it."""
    return {name: _short(value, 500) for name, value in as_object(row).items()}


def _alike(column: str, table: str, key: str) -> bool:
    """Whether a column may mean the key of a table: `customer_id`, `customer`, `customerId` for `customers.id`."""
    flat = column.lower().replace("_", "")
    bare = table.rpartition(".")[2].lower().replace("_", "")
    stem = bare[:-1] if bare.endswith("s") else bare
    return flat in (stem, bare, f"{stem}{key.lower().replace('_', '')}", f"{stem}id") or (
        len(key) > 3 and flat == key.lower().replace("_", "")
    )
