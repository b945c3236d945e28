"""Spans go to a collector over real HTTP, in both encodings; a dead, slow or refusing one costs no call its record."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from pegboard.testing import MemoryTraces
from pegboard.trace import CallRecord, Entry
from pegboard.trace.export import Exporting, HttpSend
from pegboard.trace.importers.registry import assembled, named
from pegboard.trace.importers.stream import Record
from pegboard.trace.protobuf import decode, encode
from pegboard.trace.spans import Spans, span_id, trace_id


def entry(number: int, run: str = "r", **more: Any) -> Entry:
    record = CallRecord(
        id=f"c{number}",
        tool="crm.find",
        arguments={"q": "é"},
        result={"id": 7},
        started=1.7e9 + number,
        seconds=0.5,
        **{"ok": True, **more},
    )
    return Entry(run, number, record, "agent")


@pytest.fixture
def collector() -> Iterator[Any]:
    """A collector on loopback: the requests so far, and the statuses that it will answer with first."""
    taken: list[tuple[Any, bytes]] = []
    statuses: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
            status = statuses.pop(0) if statuses else 200
            if status == 200:
                taken.append((self.headers, body))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", taken, statuses
        server.shutdown()
        thread.join()


def spans_in(document: dict[str, Any]) -> list[dict[str, Any]]:
    return document["resourceSpans"][0]["scopeSpans"][0]["spans"]


@pytest.mark.parametrize("protobuf", [True, False])
def test_each_call_is_one_span_under_its_run_which_is_sent_once(collector: Any, protobuf: bool) -> None:
    url, taken, _ = collector
    store = MemoryTraces()
    exporting = Exporting(store, HttpSend(url, headers={"X-Key": "k"}, protobuf=protobuf), Spans("ops"))
    exporting.append([entry(1)])
    assert exporting.flush(10)
    exporting.append([entry(2, ok=False, failure="timeout", error="late")])
    exporting.close()
    documents = [decode(body) if protobuf else json.loads(body) for _, body in taken]
    rows = [row for document in documents for row in spans_in(document)]
    assert [row["name"] for row in rows] == ["invoke_agent agent", "execute_tool crm.find", "execute_tool crm.find"]
    assert {row["traceId"] for row in rows} == {trace_id("r")}
    assert rows[1]["parentSpanId"] == rows[0]["spanId"] == span_id("r", "")
    assert rows[2]["status"]["message"] == "late"
    assert taken[0][0]["X-Key"] == "k"
    assert "gen_ai.tool.call.arguments" not in json.dumps(rows)
    assert (len(store.entries), store.closed, exporting.sent, exporting.dropped) == (2, True, 2, 0)


def test_the_content_goes_out_only_where_asked_for_and_comes_back_equal() -> None:
    document = Spans("ops", content=True).document([entry(1), entry(2)])
    [run] = assembled([Record(decode(encode(document)), "x")], "x", named("otel"))
    assert run.id == "r"
    assert [(call.id, call.tool, call.arguments, call.result, call.started) for call in run.calls] == [
        ("c1", "crm.find", {"q": "é"}, {"id": 7}, 1.7e9 + 1),
        ("c2", "crm.find", {"q": "é"}, {"id": 7}, 1.7e9 + 2),
    ]


def test_a_collector_that_is_busy_is_asked_again_and_one_that_refuses_is_not(collector: Any) -> None:
    url, taken, statuses = collector
    exporting = Exporting(None, HttpSend(url, protobuf=False), Spans("ops"), pause=0.001)
    statuses += [503, 429]
    exporting.append([entry(1)])
    assert exporting.flush(10)
    assert (len(taken), exporting.sent, exporting.warnings) == (1, 1, ())
    for refusal in (400, 302):
        statuses.append(refusal)
        exporting.append([entry(2)])
        assert exporting.flush(10)
    assert (len(taken), exporting.dropped) == (1, 2)
    assert "refuses with 302" in exporting.warnings[1]
    exporting.close()


def test_a_collector_that_is_not_there_costs_no_record() -> None:
    store = MemoryTraces()
    exporting = Exporting(store, HttpSend("http://127.0.0.1:9/v1/traces", protobuf=False), Spans("ops"), pause=0.001)
    exporting.append([entry(1)])
    exporting.close()
    assert (len(store.entries), exporting.sent) == (1, 0)


def test_what_does_not_fit_into_the_queue_is_counted() -> None:
    gate = threading.Event()
    exporting = Exporting(None, lambda document: gate.wait(10), Spans("ops"), capacity=3)  # pyright: ignore[reportArgumentType]
    exporting.append([entry(number) for number in range(5)])
    gate.set()
    assert exporting.flush(10)
    assert (exporting.sent, exporting.dropped) == (3, 2)
    exporting.close()


def test_what_is_no_protobuf_is_refused() -> None:
    with pytest.raises(ValueError, match="no protobuf"):
        decode(b"\xff\xff\xff not protobuf")
