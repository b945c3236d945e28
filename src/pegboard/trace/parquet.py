"""Traces as Parquet: a row a call, arguments and results as JSON texts, so that any other tool can read them too."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pegboard.errors import MissingExtraError, SourceError
from pegboard.trace.importers.stream import Skipped
from pegboard.trace.plain import call_from_json, call_to_json
from pegboard.trace.record import CallRecord, Run

MAGIC = b"PAR1"
ROWS = 10_000
"""Rows of a group: what is held at a time."""

_RUN_TEXTS = ("run", "source_of_run", "task", "agent")
_JSON = ("arguments", "result", "values", "meta")
_TEXTS = ("id", "tool", "failure", "error", "parent", "group", "mode", "source", "principal", "digest")
_INTEGERS = ("turn", "segment", "tokens")
_FLOATS = ("started", "seconds")


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its first bytes; a file that cannot be opened is none."""
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def write_parquet(runs: Iterable[Run], path: Path) -> int:
    """Write runs as a Parquet file; a run without calls is a row without a tool.

    Returns:
        How many rows were written.

    Raises:
        MissingExtraError: the extra `ray`, which brings pyarrow, is not installed.
    """
    arrow, parquet = _modules()
    schema = _schema(arrow)
    total = 0
    with parquet.ParquetWriter(str(path), schema, compression="zstd") as writer:
        batch: list[dict[str, Any]] = []
        for row in (row for run in runs for row in _rows(run)):
            batch.append(row)
            if len(batch) >= ROWS:
                writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
                total, batch = total + len(batch), []
        writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
    return total + len(batch)


def read_parquet(path: Path) -> Iterator[Run | Skipped]:
    """The runs of a Parquet file that `write_parquet` made, or of one with at least the columns `run` and `tool`.

    Rows of a run stand together; a row that cannot be read is left out and told.

    Raises:
        SourceError: the file is damaged, or lacks these columns.
        MissingExtraError: as above.
    """
    _, parquet = _modules()
    try:
        file = parquet.ParquetFile(str(path))
        missing = {"run", "tool"} - set(file.schema_arrow.names)
        if missing:
            raise SourceError(f"The Parquet file has no column {' and '.join(sorted(missing))}.", where=str(path))
        yield from _runs((row for batch in file.iter_batches(ROWS) for row in batch.to_pylist()), path.name)
    except SourceError:
        raise
    except Exception as problem:
        raise SourceError(f"The Parquet file cannot be read: {problem}.", where=str(path)) from problem


def _runs(rows: Iterable[Mapping[str, Any]], source: str) -> Iterator[Run | Skipped]:
    head: Mapping[str, Any] | None = None
    calls: list[CallRecord] = []
    for number, row in enumerate(rows, 1):
        if head is not None and row["run"] != head["run"]:
            yield _run(head, calls, source)
            calls = []
        if head is None or row["run"] != head["run"]:
            head = row
        if row.get("tool") is None:
            continue
        try:
            calls.append(call_from_json(_call(row, len(calls))))
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            yield Skipped(f"{source}:{number}", f"cannot be read as a call: {problem}")
    if head is not None:
        yield _run(head, calls, source)


def _run(row: Mapping[str, Any], calls: list[CallRecord], source: str) -> Run:
    messages = row.get("user_messages")
    meta = row.get("meta_of_run")
    return Run(
        id=str(row["run"]),
        calls=tuple(calls),
        source=row.get("source_of_run") or source,
        task=row.get("task"),
        agent=row.get("agent"),
        success=row.get("success"),
        user_messages=None if messages is None else tuple(messages),
        meta=json.loads(meta) if meta else {},
    )


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    base = {
        "run": run.id,
        "source_of_run": run.source,
        "task": run.task,
        "agent": run.agent,
        "success": run.success,
        "user_messages": None if run.user_messages is None else list(run.user_messages),
        "meta_of_run": json.dumps(dict(run.meta), default=str) if run.meta else None,
    }
    if not run.calls:
        yield base
    for call in run.calls:
        row = call_to_json(call)
        yield {
            **base,
            **row,
            **{name: json.dumps(row[name], default=str) for name in _JSON if row.get(name) is not None},
        }


def _call(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    found = {name: row[name] for name in (*_TEXTS, *_INTEGERS, *_FLOATS, "ok") if row.get(name) is not None}
    found |= {name: json.loads(row[name]) for name in _JSON if isinstance(row.get(name), str)}
    return {"id": str(place), **found}


def _schema(arrow: Any) -> Any:
    texts = [(name, arrow.string()) for name in (*_RUN_TEXTS, "meta_of_run", *_TEXTS, *_JSON)]
    numbers = [(name, arrow.int64()) for name in _INTEGERS] + [(name, arrow.float64()) for name in _FLOATS]
    flags = [(name, arrow.bool_()) for name in ("success", "ok")]
    return arrow.schema([*texts, *numbers, *flags, ("user_messages", arrow.list_(arrow.string()))])


def _modules() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as problem:
        raise MissingExtraError("ray", feature="Parquet") from problem
    return pyarrow, pyarrow.parquet
