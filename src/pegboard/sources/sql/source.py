"""A database as a source of tools."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
import anyio.to_thread

from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Health,
    Hint,
    Listing,
    Mode,
    Note,
    NoteKind,
    Relation,
    Result,
    Rung,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.core.draft import Unbound
from pegboard.errors import SourceError
from pegboard.schema.types import Json
from pegboard.sources.sql.ask import OPERATORS, Asker
from pegboard.sources.sql.database import Caps, Database, QueryError
from pegboard.sources.sql.explore import Explorer
from pegboard.sources.sql.like import RowsLike
from pegboard.sources.sql.mask import is_secret

_TEXT = re.compile(r"char|text|string|clob|^$", re.IGNORECASE)
MOST_LIKE = 20
"""For how many tables there is a `find_<table>_like` at most."""

_TABLE: dict[str, Json] = {"type": "string", "description": "A table; call list_tables first if you do not know any."}


class SqlSource:
    """A database, read only.

    Parameters:
        name: the source's name.
        url: `sqlite:///file.db`, `postgresql://...`, `duckdb:///file.duckdb`, or a folder of Parquet and CSV files.
        prefix: the namespace of its tools; the source's name by default.
        caps: how much a query may take.
    """

    kind = "sql"

    def __init__(self, name: str, url: str, *, prefix: str | None = None, caps: Caps | None = None) -> None:
        self.name = name
        self._url = url
        self._namespace = name if prefix is None else prefix
        self._caps = caps or Caps()
        self._database: Database | None = None
        self._ended = anyio.Event()

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold the database open. Raises `SourceError` where it cannot be opened."""
        self._ended = anyio.Event()
        self._database = await anyio.to_thread.run_sync(opened, self._url)
        try:
            yield
        finally:
            database, self._database = self._database, None
            self._ended.set()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(database.close)

    async def listing(self) -> Listing:
        """The exploring tools, and the rungs over the data."""
        if self._database is None:
            raise SourceError("The source is not open.", where=self.name, next_step="Enter its session first.")
        explorer = Explorer(self._database, self._caps)
        names = await anyio.to_thread.run_sync(lambda: explorer.names)
        tools = [*self._exploring(explorer), *self._asking(Asker(explorer))]
        # A warning: no tool is missing, a table is.
        notes = [Note(NoteKind.WARNING, None, name, why) for name, why in self._database.left_out.items()]
        for table in names[:MOST_LIKE]:
            try:
                tools.append(await anyio.to_thread.run_sync(self._like, explorer, table, {tool.name for tool in tools}))
            except QueryError as error:
                notes.append(Note(NoteKind.WARNING, None, "", str(error)))
        return Listing(tuple(tools), tuple(notes))

    async def health(self) -> Health:
        """Whether a trivial query is answered."""
        if self._database is None:
            return Health(SourceState.IDLE)
        try:
            with anyio.fail_after(0.9):
                ask = partial(self._database.run, "SELECT 1", limit=1, seconds=0.8)
                await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
        except (QueryError, TimeoutError) as error:
            return Health(SourceState.UNAVAILABLE, str(error) or "It did not answer in time.")
        return Health(SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """A database does not tell of changes."""
        await self._ended.wait()
        for nothing in ():
            yield nothing

    def _exploring(self, explorer: Explorer) -> list[Tool]:
        return [
            self._tool(
                "list_tables",
                "List the tables. Start here; then call describe_table for the ones that you need.",
                explorer.list_tables,
                {},
                then="describe_table",
            ),
            self._tool(
                "describe_table",
                "Describe one table: columns with value samples, keys, indexes, row count. Then call sample_rows to "
                "see rows, or get_query_hints to learn how to query it.",
                explorer.describe_table,
                {"table": _TABLE},
                then="sample_rows",
            ),
            self._tool(
                "sample_rows",
                "See a few rows of one table, secrets masked. Then call get_query_hints.",
                explorer.sample_rows,
                {"table": _TABLE, "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5}},
                then="get_query_hints",
            ),
            self._tool(
                "get_query_hints",
                "Learn how to query one table well: joins, indexed columns, columns with few values. Then call "
                "search_records, or execute_query for joins.",
                explorer.get_query_hints,
                {"table": _TABLE},
                then="search_records",
            ),
        ]

    def _asking(self, asker: Asker) -> list[Tool]:
        caps = self._caps
        limit: dict[str, Json] = {"type": "integer", "minimum": 1, "maximum": caps.rows}
        condition: dict[str, Json] = {
            "type": "object",
            "properties": {
                "column": {"type": "string"},
                "op": {"type": "string", "enum": list(OPERATORS), "default": "="},
                "value": {"description": "What to compare with; a list for in, not_in and between."},
            },
            "required": ["column"],
            "additionalProperties": False,
        }
        search: dict[str, Json] = {
            "table": _TABLE,
            "filters": {"type": "array", "items": condition, "description": "All of them must hold."},
            "columns": {"type": "array", "items": {"type": "string"}, "description": "All columns if left out."},
            "order_by": {"type": "string"},
            "descending": {"type": "boolean", "default": False},
            "limit": {**limit, "default": 50},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
        }
        return [
            self._tool(
                "search_records",
                "Find rows of one table by exact conditions. Use it rather than execute_query for a single table; use "
                "find_..._like when you only have a description in words.",
                asker.search_records,
                search,
                rung=Rung.MID,
            ),
            self._tool(
                "execute_query",
                f"Run one SELECT ({asker.database.dialect} SQL) with full control: joins, sums, windows. Reads only; "
                f"at most {caps.rows} rows and {caps.seconds:g} s. Prefer search_records for a single table.",
                asker.execute_query,
                {"sql": {"type": "string"}, "limit": {**limit, "default": min(100, caps.rows)}},
                rung=Rung.LOW,
            ),
        ]

    def _like(self, explorer: Explorer, table: str, taken: set[ToolName]) -> Tool:
        # The last part where it is free, else the whole: two schemas may hold a table of one name.
        parts = [re.sub(r"\W+", "_", part).strip("_") or "table" for part in (table.rpartition(".")[2], table)]
        wanted = [*parts, *(f"{parts[1]}_{number}" for number in range(2, MOST_LIKE + 3))]
        names = (ToolName(self._namespace, f"find_{part}_like") for part in wanted)
        name = next(name for name in names if name not in taken)
        shown = [column for column in explorer.shapes[table].columns if not is_secret(column.name)]
        texts = tuple(column.name for column in shown if _TEXT.search(column.type))
        columns = tuple(column.name for column in shown)
        composite = RowsLike(name, table, SourceRef(self.name, self.kind), columns, texts)
        return Unbound.tool(composite, f"Find rows of {table} that are like a description, best first.")

    def _tool(
        self,
        name: str,
        description: str,
        answer: Callable[..., Any],
        properties: dict[str, Json],
        *,
        then: str | None = None,
        rung: Rung | None = None,
    ) -> Tool:
        needed = [key for key in ("table", "sql") if key in properties]
        spec = ToolSpec(
            name=ToolName(self._namespace, name),
            description=description,
            input={"type": "object", "properties": properties, "required": needed, "additionalProperties": False},
            effects=Effects.READ_ONLY,
            rung=rung,
            category="data",
            hints=(Hint(Relation.THEN, str(ToolName(self._namespace, then))),) if then else (),
            source=SourceRef(self.name, self.kind),
        )
        return Tool(spec, partial(_run, answer))


async def _run(answer: Callable[..., Any], call: Call) -> Result:
    mode = call.mode or Mode.EXECUTE
    try:
        found = await anyio.to_thread.run_sync(partial(answer, **call.arguments))
    except QueryError as error:
        code = FailureCode.TIMEOUT if error.late else FailureCode.FAILED
        step = "Narrow it: a filter, an index, a smaller limit." if error.late else "Correct it; describe_table helps."
        return Result(failure=Failure(code, str(error), next_step=step), mode=mode)
    if isinstance(found, Failure):
        return Result(failure=found, mode=mode)
    return replace(found, mode=mode) if isinstance(found, Result) else Result(value=found, mode=mode)


def opened(url: str) -> Database:
    """The database of a URL, opened for reading.

    Raises:
        SourceError: it cannot be opened.
    """
    from pegboard.sources.sql.alchemy import AlchemyDatabase
    from pegboard.sources.sql.duck import DuckDatabase

    if url.startswith("duckdb:"):
        return DuckDatabase(Path(unquote(url.removeprefix("duckdb:///"))))
    if "://" not in url:
        path = Path(url).expanduser()
        if path.is_dir() or path.suffix.lower() in (".duckdb", ".ddb"):
            return DuckDatabase(path)
        if path.is_file():
            return AlchemyDatabase(f"sqlite:///{path.resolve()}")
        raise SourceError("There is no such file or folder.", where=url, next_step="Write a URL, a file or a folder.")
    return AlchemyDatabase(url)
