"""Spans that others send to the gateway over OTLP/HTTP become runs in the board's traces."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import anyio.to_thread

from pegboard.board.passage import traces_of
from pegboard.config import Config
from pegboard.errors import ConfigError, PegboardError
from pegboard.schema.cut import cut_value
from pegboard.schema.types import Json
from pegboard.trace.importers.registry import assembled, named
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import CallRecord, Run
from pegboard.trace.redact import Redactor
from pegboard.trace.store import Entry, TraceStore

PATH = "/v1/traces"
MAX_BYTES = 64 * 1024 * 1024
"""Bytes of a request after decompression."""
_MAX_VALUE = 32_768
_PROTOBUF, _JSON = "application/x-protobuf", "application/json"


class Ingest:
    """Takes OTLP requests: protobuf or JSON, plain or gzip.

    Parameters:
        store: where the runs go.
        redactor: masks secrets that the board knows, and what looks like one.
    """

    def __init__(self, store: TraceStore, redactor: Redactor) -> None:
        self._store, self._redactor = store, redactor

    async def __call__(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes, str]:
        """Take one request; gives status, body and media type of the answer."""
        kind = headers.get("content-type", _JSON).partition(";")[0].strip().lower()
        if kind not in (_JSON, _PROTOBUF):
            return _refusal(415, "Send application/json or application/x-protobuf.")
        try:
            rejected, why = await anyio.to_thread.run_sync(self._take, body, kind, headers)
        except PegboardError as problem:
            return _refusal(501, str(problem))
        except (ValueError, zlib.error) as problem:
            return _refusal(400, f"The request cannot be read: {problem}.")
        if kind == _PROTOBUF:
            return 200, b"", _PROTOBUF
        partial = {"rejectedSpans": str(rejected), "errorMessage": why}
        return 200, json.dumps({"partialSuccess": partial} if rejected else {}).encode(), _JSON

    def _take(self, body: bytes, kind: str, headers: Mapping[str, str]) -> tuple[int, str]:
        plain = _unpacked(body, headers.get("content-encoding", ""))
        document = _read(plain, kind)
        runs: list[Run] = []
        skipped: list[Skipped] = []
        for item in assembled([Record(document, "request")], "otlp", named("otel")):
            if isinstance(item, Skipped):
                skipped.append(item)
            else:
                runs.append(item)
        entries = [entry for run in runs for entry in self._entries(run)]
        if entries:
            self._store.append(entries)
        return len(skipped), "; ".join(item.message for item in skipped[:3])

    def _entries(self, run: Run) -> list[Entry]:
        """The calls of a run that are new: a sender that heard no answer sends them again."""
        before = self._store.run(run.id)
        known = {call.id for call in before.calls} if before is not None else set[str]()
        return [
            Entry(run.id, place, self._shaped(call, run), run.agent)
            for place, call in enumerate(run.calls)
            if call.id not in known
        ]

    def _shaped(self, call: CallRecord, run: Run) -> CallRecord:
        return replace(
            call,
            arguments=self._value(call.arguments),
            result=self._value(call.result),
            error=None if call.error is None else self._redactor.text(call.error)[:2000],
            source=call.source or run.source,
        )

    def _value(self, value: Json) -> Json:
        return None if value is None else cut_value(self._redactor.value(value), _MAX_VALUE)[0]


def _unpacked(body: bytes, encoding: str) -> bytes:
    if encoding.strip().lower() in ("", "identity"):
        return body
    if encoding.strip().lower() != "gzip":
        raise ValueError(f"content encoding {encoding!r} is not known")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    plain = unpacker.decompress(body, MAX_BYTES)
    if unpacker.unconsumed_tail:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    return plain


def _read(plain: bytes, kind: str) -> Json:
    if kind == _PROTOBUF:
        from pegboard.trace.protobuf import decode

        return decode(plain)
    try:
        document: Json = json.loads(plain)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(document, dict) or "resourceSpans" not in document:
        raise ValueError("it holds no resourceSpans")
    return cast("Json", document)


def _refusal(status: int, message: str) -> tuple[int, bytes, str]:
    return status, json.dumps({"code": 3, "message": message}).encode(), _JSON


def posts(config: Config | None, redactor: Redactor) -> dict[str, Ingest]:
    """What the gateway answers beside MCP: spans, where the config says so and the board keeps traces.

    Raises:
        ConfigError: the board keeps no traces.
    """
    if config is None or not config.tables["otlp"]["receive"]:
        return dict[str, Ingest]()
    store = traces_of(config)
    if store is None:
        raise ConfigError(
            "Spans shall be received, and this board keeps no traces.",
            where="otlp.receive",
            next_step="Give the board a folder as its store.",
        )
    return {PATH: Ingest(store, redactor)}
