"""Whether a statement only reads. It is checked here, and the connection cannot write in any case."""

import re
from collections.abc import Container

from pegboard.core import Failure, FailureCode

_DANGEROUS = re.compile(
    r"^(?:pg_(?:read|write|ls|stat_file|logdir|terminate|cancel|reload|rotate|promote|switch|create|drop|advisory|sleep)"
    r"|lo_|dblink|set_config|setval|nextval|load_extension|fts3_tokenizer|readfile|writefile|edit|query_to_xml"
    r"|read_(?:csv|parquet|json|text|blob|ndjson)|parquet_|sniff_csv|glob$|getenv|copy|system$|xp_|currval_internal)",
    re.IGNORECASE,
)


def refusal(sql: str, dialect: str, tables: Container[str] = ()) -> Failure | None:
    """None where the statement is one query that only reads, else what is wrong with it.

    Parameters:
        sql: the statement.
        dialect: `sqlite`, `postgres` or `duckdb`.
        tables: the tables that there are; any other that is called like a file is taken for one.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if len(sql) > 20_000:
        return _no("The statement has more than 20,000 characters.", "Shorten it.")
    try:
        statements = [found for found in sqlglot.parse(sql, dialect=dialect) if found is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        return _no(f"The statement cannot be read: {str(error).splitlines()[0]}", "Correct it.")
    if len(statements) != 1:
        return _no(f"There are {len(statements)} statements, and one is run.", "Give one SELECT.")
    [statement] = statements
    if not isinstance(statement, exp.Query):
        return _no(
            f"{type(statement).__name__.upper()} is not allowed here.", "Only SELECT is; nothing can be changed."
        )
    writes = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Command, exp.Into)
    for node in statement.walk():
        if isinstance(node, (*writes, exp.Copy, exp.Set, exp.Attach, exp.Lock)):
            return _no(f"{type(node).__name__.upper()} is not allowed here.", "Only reading is.")
        if isinstance(node, exp.Func):
            name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
            if _DANGEROUS.match(name or ""):
                return _no(f"The function {name} is not allowed here.", "Use the tables alone.")
        if isinstance(node, exp.Table) and node.name not in tables and _is_file(node.name):
            return _no(f"{node.name!r} is a file, not a table.", "Call list_tables for what there is.")
    return None


def _is_file(name: str) -> bool:
    return (
        "/" in name
        or "\\" in name
        or bool(re.search(r"\.(?:csv|tsv|parquet|json|jsonl|ndjson|txt|db)\b", name.lower()))
    )


def _no(message: str, next_step: str) -> Failure:
    return Failure(FailureCode.BLOCKED, f"{message} Nothing was run.", where="/sql", next_step=next_step)
