"""Neutral run records keep everything that they say."""

import json

import pytest

from pegboard.trace import CallRecord, Run
from pegboard.trace.codec import run_from_json, run_to_json
from pegboard.trace.importers import Skipped, read


def test_a_neutral_record_becomes_a_run(tmp_path):
    path = tmp_path / "t.jsonl"
    call = {"tool": "f", "args": {"a": 1}, "ok": True, "parallel_group": 2, "turn": 1, "seg": 3}
    row = {"run_id": "r", "task": "t", "agent": "m", "success": False, "calls": [
        {**call, "result_excerpt": "x" * 300, "result_values": ["v"]},
        {"tool": "g", "args": {}, "ok": None, "args_lost": True},
    ]}  # fmt: skip
    path.write_text(json.dumps(row))
    [run] = read(path)
    first, second = run.calls
    assert (run.id, run.task, run.agent, run.success, run.source) == ("r", "t", "m", False, "t.jsonl")
    assert (first.tool, first.arguments, first.group, first.segment, first.values) == ("f", {"a": 1}, "2", 3, ("v",))
    assert first.meta == {"cut": True}
    assert (second.arguments, second.ok) == (None, None)


@pytest.mark.parametrize("call", ["no object", {"args": {}}, {"tool": 3, "args": {}}])
def test_a_broken_call_sets_its_run_aside(tmp_path, call):
    path = tmp_path / "t.jsonl"
    good = {"tool": "f", "args": {}}
    path.write_text("\n".join(json.dumps({"run_id": "r", "calls": calls}) for calls in ([good, call], [good])))
    bad, run = read(path)
    assert isinstance(bad, Skipped)
    assert "calls[1]" in bad.message
    assert run.calls[0].tool == "f"


def test_a_native_run_comes_back_equal():
    call = CallRecord(id="1", tool="f", arguments={"a": [1]}, result="r", ok=True, values=("x",), meta={"k": 1})
    run = Run(id="r", calls=(call, CallRecord(id="2", tool="g")), task="t", user_messages=("hi",), meta={"z": 2})
    assert run_from_json(json.loads(json.dumps(run_to_json(run)))) == run


def test_fields_that_no_one_knows_are_kept():
    run = run_from_json({"id": "r", "colour": "red", "calls": [{"tool": "f", "size": 3}]})
    assert (run.meta, run.calls[0].meta) == ({"colour": "red"}, {"size": 3})
