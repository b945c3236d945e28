"""LangSmith runs: one object a run, in exports and API answers.

Source: langsmith 0.15 schemas (`run_type`, `inputs`, `outputs`, `error`, `dotted_order`).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import arguments_of, arr, content_text, first, obj, result_of, seconds, text, walk
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.nodes import Asked, Node, NodeKind, Trees
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import Run

_KINDS = {"tool": NodeKind.TOOL, "llm": NodeKind.MODEL, "chat_model": NodeKind.MODEL}


def matches(value: Json) -> bool:
    """Whether it is a run, or holds a list of them."""
    return any(True for _ in _rows(value))


def _rows(value: Json) -> Iterator[dict[str, Any]]:
    row = obj(value)
    for each in (row, *map(obj, arr(row.get("runs") or row.get("data")))):
        if isinstance(each.get("run_type"), str) and "id" in each:
            yield each
            yield from (child for inner in arr(each.get("child_runs")) for child in _rows(inner))


class RunAssembler:
    """Puts runs together by trace.

    Parameters:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._trees = Trees()

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one record: a run, with its children where it has them inside."""
        for row in _rows(record.value):
            yield from self._trees.add(_node(row))

    def finish(self) -> Iterable[Run | Skipped]:
        """Give all traces."""
        return self._trees.finish()


def _node(row: dict[str, Any]) -> Node:
    kind = _KINDS.get(str(row["run_type"]), NodeKind.OTHER)
    metadata = obj(obj(row.get("extra")).get("metadata"))
    session = text(first(metadata, "session_id", "thread_id", "conversation_id"))
    error = text(row.get("error"))
    outputs = row.get("outputs")
    base: dict[str, Any] = {
        "trace": text(row.get("trace_id")) or text(row["id"]) or "",
        "session": session,
        "id": text(row["id"]) or "",
        "parent": text(row.get("parent_run_id")),
        "kind": kind,
        "name": text(row.get("name")) or "",
        "start": seconds(row.get("start_time")),
        "end": seconds(row.get("end_time")),
        "order": text(row.get("dotted_order")) or "",
    }
    if kind is NodeKind.TOOL:
        call = obj(obj(outputs).get("output")).get("tool_call_id") or metadata.get("tool_call_id")
        base.update(
            call=text(call),
            arguments=_given(row.get("inputs")),
            result=_answered(outputs),
            ok=error is None if outputs is not None or error is not None else None,
            error=error,
        )
    elif kind is NodeKind.MODEL:
        base.update(
            agent=text(first(metadata, "ls_model_name", "agent")),
            asked=tuple(_asked(outputs)),
            users=_users(row.get("inputs")),
        )
    return Node(**base)


def _given(inputs: Json) -> Json:
    """The arguments; often the text of a Python or JSON object under `input`."""
    row = obj(inputs)
    if set(row) == {"input"}:
        return arguments_of(_from_python(row["input"]))
    return inputs


def _from_python(value: Json) -> Json:
    if isinstance(value, str) and value[:1] == "{" and "'" in value:
        import ast

        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return value


def _answered(outputs: Json) -> Json:
    row = obj(outputs)
    inner: Any = row["output"] if set(row) == {"output"} else outputs
    content = obj(inner).get("content") if "tool_call_id" in obj(inner) else None
    return result_of(content if content is not None else inner)


def _asked(outputs: Json) -> Iterator[Asked]:
    """The calls of a model's answer, wherever its message stands."""
    for row in walk(outputs):
        calls = arr(row.get("tool_calls"))
        if calls:
            for call in map(obj, calls):
                function = obj(call.get("function"))
                name = text(call.get("name")) or text(function.get("name"))
                given = first(call, "args", "arguments") or function.get("arguments")
                if name:
                    yield Asked(id=text(call.get("id")), tool=name, arguments=arguments_of(given))
            return


def _users(inputs: Json) -> tuple[str, ...] | None:
    rows = arr(obj(inputs).get("messages"))
    if rows and isinstance(rows[0], list):
        rows = arr(rows[0])
    found: list[str] = []
    for row in map(obj, rows):
        inner = obj(row.get("kwargs")) or row
        if "HumanMessage" in arr(row.get("id")) or inner.get("role") == "user" or inner.get("type") == "human":
            found.append(content_text(inner.get("content")))
    return tuple(found) if rows else None


FORMAT = Format("langsmith", "LangSmith runs", matches, RunAssembler)
