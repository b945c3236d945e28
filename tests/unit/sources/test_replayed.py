"""A recorded source with traces answers as the upstream once did."""

import json

import anyio
import pytest

from pegboard.core import Call, FailureCode, ToolName
from pegboard.errors import SourceError
from pegboard.sources.recorded import RecordedSource
from pegboard.sources.replayed import Answers
from pegboard.trace import CallRecord, Run


def call(tool, **arguments):
    return Call(tool=ToolName.parse(tool), arguments=arguments)


def answers(*records):
    return Answers.of([Run(id="r", calls=tuple(records))])


def record(result, ok=True, tool="shop.find", values=None, **arguments):
    return CallRecord(id="1", tool=tool, arguments=arguments, result=result, ok=ok, values=values)


def ask(known, tool, **arguments):
    return anyio.run(known, call(tool, **arguments))


def test_the_commonest_answer_counts_and_a_success_before_failures():
    known = answers(record("a", q=1), record("b", q=1), record("b", q=1), record("no", ok=False, q=2), record("c", q=2))
    assert ask(known, "retail.find", q=1).value == "b"
    assert ask(known, "find", q=2).value == "c"


def test_json_texts_are_read_and_a_cut_result_brings_its_values():
    known = answers(record('{"id": 7}', q=1), record('{"id": 7, "orders": ["#W1', q=2, values=("#W1", "#W2")))
    assert ask(known, "find", q=1).value == {"id": 7}
    assert ask(known, "find", q=2).value == {"text": '{"id": 7, "orders": ["#W1', "values": ["#W2"]}


def test_a_recorded_failure_fails_and_an_unknown_call_says_what_is_known():
    known = answers(record("no such thing", ok=False, q=1))
    failure = ask(known, "find", q=1).failure
    assert failure is not None and failure.message == "no such thing"
    missing = ask(known, "find", q=9).failure
    assert missing is not None
    assert (missing.code, '{"q":1}' in (missing.next_step or "")) == (FailureCode.UNAVAILABLE, True)


def test_a_recorded_source_answers_from_trace_files(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "find"}]))
    run = {"run_id": "1", "calls": [{"tool": "find", "args": {"q": "x"}, "result_excerpt": "yes", "ok": True}]}
    (tmp_path / "traces.jsonl").write_text(json.dumps(run))
    source = RecordedSource("shop", tmp_path / "tools.json", answers=[tmp_path / "traces.jsonl"])
    [tool] = anyio.run(source.listing).tools
    assert anyio.run(tool.handler, call("shop.find", q="x")).value == "yes"
    gone = RecordedSource("shop", tmp_path / "tools.json", answers=[tmp_path / "none.jsonl"])
    with pytest.raises(SourceError, match="not there"):
        anyio.run(gone.listing)


def test_what_no_recorded_call_that_succeeded_sent_is_not_demanded(tmp_path):
    schema = {"type": "object", "properties": {"q": {}, "desk": {}, "big": {}}, "required": ["q", "desk", "big"]}
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "find", "inputSchema": schema}]))
    calls = [
        {"tool": "find", "args": {"q": "x"}, "result_excerpt": "yes", "ok": True},
        {"tool": "find", "args": {"q": "y", "big": True}, "result_excerpt": "yes", "ok": True},
        {"tool": "find", "args": {"desk": "d"}, "result_excerpt": "no", "ok": False},
    ]
    (tmp_path / "traces.jsonl").write_text(json.dumps({"run_id": "1", "calls": calls}))
    source = RecordedSource("shop", tmp_path / "tools.json", answers=[tmp_path / "traces.jsonl"])
    listing = anyio.run(source.listing)
    assert listing.tools[0].spec.input["required"] == ["q", "big"]
    assert [note.message for note in listing.notes] == [
        "It demands desk, which none of 2 recorded calls sent that succeeded: not demanded."
    ]
    silent = RecordedSource("shop", tmp_path / "tools.json")
    assert anyio.run(silent.listing).tools[0].spec.input["required"] == ["q", "desk", "big"]
