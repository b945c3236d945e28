"""Traces as they come: huge, out of order, doubled, with clocks that go back; nothing crashes, good runs stay."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from pegboard.trace import Run
from pegboard.trace.importers import Skipped, read


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def runs_in(path: Path) -> list[Run]:
    return [item for item in read(path) if not isinstance(item, Skipped)]


@pytest.mark.slow
def test_a_large_file_is_read_piece_by_piece(tmp_path: Path) -> None:
    path, text = tmp_path / "large.jsonl", "x" * 2000
    with path.open("w") as file:
        for number in range(6000):
            call = {"tool": "t", "args": {"q": number}, "result_excerpt": text, "ok": True}
            file.write(json.dumps({"run_id": str(number), "calls": [call]}) + "\n")
    size = path.stat().st_size
    tracemalloc.start()
    try:
        count = sum(not isinstance(item, Skipped) for item in read(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (count, size > 12_000_000) == (6000, True)
    assert peak < size / 4


@pytest.mark.parametrize(
    "messages",
    [
        [
            {"role": "tool", "tool_call_id": "c1", "content": "early"},
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}]},
        ],
        [
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "other", "content": "whose?"},
        ],
        [
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}] * 2},
            {"role": "tool", "tool_call_id": "c1", "content": "one answer for two"},
        ],
        [
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{broken"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": None},
        ],
    ],
)
def test_results_before_their_calls_and_doubled_ids_lose_no_call(messages: list[Any], tmp_path: Path) -> None:
    [run] = runs_in(lines(tmp_path / "t.jsonl", messages))
    assert {call.tool for call in run.calls} == {"find"}
    assert len(run.calls) >= 1


def test_clocks_that_go_back_change_no_order_of_calls(tmp_path: Path) -> None:
    calls = [{"id": str(n), "tool": f"t{n}", "arguments": {}, "ok": True, "started": 100.0 - n} for n in range(3)]
    [run] = runs_in(lines(tmp_path / "t.jsonl", {"id": "r", "calls": calls}))
    assert [call.tool for call in run.calls] == ["t0", "t1", "t2"]


def test_spans_whose_clocks_go_back_or_whose_parents_are_missing_are_read(tmp_path: Path) -> None:
    def span(id: str, parent: str, start: int, end: int) -> dict[str, Any]:
        named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"t{id}"}
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in named.items()]
        times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
        return {"traceId": "t", "spanId": id, "parentSpanId": parent, "name": "x", "attributes": attributes, **times}

    base = 1_700_000_000_000_000_000
    spans = [span("a", "gone", base, base - 5), span("b", "a", base - 9, base), span("c", "c", base, base)]
    document = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    found = [call.tool for run in runs_in(lines(tmp_path / "t.jsonl", document)) for call in run.calls]
    assert sorted(found) == ["ta", "tb", "tc"]


def test_a_run_that_stands_twice_with_one_id_keeps_both(tmp_path: Path) -> None:
    call = {"tool": "t", "args": {"q": 1}, "ok": True}
    path = lines(tmp_path / "t.jsonl", {"run_id": "r", "calls": [call]}, {"run_id": "r", "calls": [call, call]})
    assert [len(run.calls) for run in runs_in(path)] == [1, 2]
