"""Spans that others send become runs of the board: both encodings, once each, without secrets; nonsense is refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pegboard.board import Board
from pegboard.board.gateway import Gateway
from pegboard.board.ingest import MAX_BYTES, Ingest, posts
from pegboard.config import load
from pegboard.errors import ConfigError
from pegboard.testing import MemoryTraces
from pegboard.trace import CallRecord, Entry, Redactor
from pegboard.trace.protobuf import encode
from pegboard.trace.spans import Spans
from pegboard.wire.server.gateway import GatewayServer
from pegboard.wire.server.http import MAX_BODY, app

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json"}
PROTOBUF = {"content-type": "application/x-protobuf"}


def document(secret: str = "x") -> dict[str, Any]:
    record = CallRecord(
        id="c1", tool="crm.find", arguments={"q": secret}, result={"id": 7}, ok=True, started=10.0, seconds=1.0
    )
    return Spans("theirs", content=True).document([Entry("run-1", 0, record, "their agent")])


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("kind", ["json", "protobuf"])
async def test_spans_become_runs_once_whatever_the_encoding(kind: str, zipped: bool) -> None:
    store = MemoryTraces()
    body = json.dumps(document()).encode() if kind == "json" else encode(document())
    headers = {**(JSON if kind == "json" else PROTOBUF), **({"content-encoding": "gzip"} if zipped else {})}
    ingest = Ingest(store, Redactor())
    for _ in range(2):  # a sender that heard no answer sends again
        status, answer, media = await ingest(gzip.compress(body) if zipped else body, headers)
        assert (status, media) == (200, headers["content-type"])
        assert answer == (b"{}" if kind == "json" else b"")
    run = store.run("run-1")
    assert run is not None
    assert [(call.tool, call.arguments, call.result) for call in run.calls] == [("crm.find", {"q": "x"}, {"id": 7})]
    assert (run.agent, store.entries[0].record.source) == ("their agent", "theirs")


async def test_secrets_are_masked_before_they_are_kept() -> None:
    store, redactor = MemoryTraces(), Redactor()
    redactor.register("correct-horse-battery")
    await Ingest(store, redactor)(json.dumps(document("correct-horse-battery")).encode(), JSON)
    assert "correct-horse-battery" not in repr(store.entries)


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b"[]", JSON, 400),
        (b'{"resourceLogs": []}', JSON, 400),
        (b"[" * 100_000, JSON, 400),
        (b"\xff\xff\xff", PROTOBUF, 400),
        (b"not gzip", {**JSON, "content-encoding": "gzip"}, 400),
        (b"{}", {**JSON, "content-encoding": "br"}, 400),
        (gzip.compress(b"\0" * (MAX_BYTES + 1)), {**JSON, "content-encoding": "gzip"}, 400),
        (b"<xml/>", {"content-type": "text/xml"}, 415),
        (b'{"resourceSpans": []}', JSON, 200),
        (b'{"resourceSpans": [{"scopeSpans": 7}, null, {"scopeSpans": [{"spans": [null, 5, {}]}]}]}', JSON, 200),
    ],
)
async def test_what_is_no_request_of_spans_is_refused_and_harms_nothing(
    body: bytes, headers: dict[str, str], status: int
) -> None:
    store = MemoryTraces()
    answered, _, _ = await Ingest(store, Redactor())(body, headers)
    assert (answered, store.entries) == (status, [])


async def test_it_is_there_only_where_the_config_says_so(tmp_path: Path) -> None:
    (tmp_path / "pegboard.toml").write_text("[otlp]\nreceive = true\n")
    assert list(posts(load(tmp_path), Redactor())) == ["/v1/traces"]
    (tmp_path / "pegboard.toml").write_text("")
    assert posts(load(tmp_path), Redactor()) == {}
    (tmp_path / "pegboard.toml").write_text('[board]\nstore = ":memory:"\n[otlp]\nreceive = true\n')
    with pytest.raises(ConfigError, match="keeps no traces"):
        posts(load(tmp_path), Redactor())


async def test_it_stands_behind_the_gateways_own_guard() -> None:
    store = MemoryTraces()
    async with Board.of() as board:
        served = app(GatewayServer(Gateway(board)), token="t", posts={"/v1/traces": Ingest(store, Redactor())})
        client = TestClient(served, base_url="http://127.0.0.1")
        body = json.dumps(document())
        assert client.post("/v1/traces", content=body, headers=JSON).status_code == 401
        key = {"authorization": "Bearer t"}
        foreign = {**JSON, **key, "origin": "https://evil.example"}
        assert client.post("/v1/traces", content=body, headers=foreign).status_code == 403
        assert client.get("/v1/traces", headers=key).status_code == 405
        assert client.post("/v1/traces", content=b"x" * (MAX_BODY + 1), headers={**JSON, **key}).status_code == 413
        assert client.post("/v1/traces", content=body, headers={**JSON, **key}).json() == {}
    assert len(store.entries) == 1
