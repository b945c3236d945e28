"""OTLP documents as protobuf and back; the extra `otlp` brings the messages."""

import base64
from collections.abc import Callable
from typing import Any

from pegboard.errors import MissingExtraError
from pegboard.schema.types import as_list, as_object

_IDS = ("traceId", "spanId", "parentSpanId")


def encode(document: dict[str, Any]) -> bytes:
    """An OTLP JSON document of spans as protobuf.

    Raises:
        MissingExtraError: the extra `otlp` is not installed.
    """
    messages, json_format = _modules()
    request = messages.ExportTraceServiceRequest()
    json_format.ParseDict(_with_ids(document, _from_hex), request)
    return request.SerializeToString()


def decode(data: bytes) -> dict[str, Any]:
    """A protobuf request of spans as an OTLP JSON document.

    Raises:
        ValueError: it is none.
        MissingExtraError: the extra `otlp` is not installed.
    """
    messages, json_format = _modules()
    request = messages.ExportTraceServiceRequest()
    try:
        request.ParseFromString(data)
    except Exception as problem:
        raise ValueError(f"it is no protobuf of spans: {problem}") from problem
    return _with_ids(json_format.MessageToDict(request), _to_hex)


def _modules() -> tuple[Any, Any]:
    try:
        from google.protobuf import json_format
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
    except ModuleNotFoundError as problem:
        raise MissingExtraError("otlp", feature="OTLP as protobuf") from problem
    return trace_service_pb2, json_format


def _with_ids(document: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The document with its ids in another spelling: protobuf's JSON has base64 where OTLP's has hexadecimal."""
    return {
        **document,
        "resourceSpans": [
            {
                **as_object(group),
                "scopeSpans": [
                    {
                        **as_object(scope),
                        "spans": [_span(as_object(row), change) for row in as_list(scope.get("spans"))],
                    }
                    for scope in map(as_object, as_list(as_object(group).get("scopeSpans")))
                ],
            }
            for group in as_list(document.get("resourceSpans"))
        ],
    }


def _span(row: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    return {**row, **{name: change(row[name]) for name in _IDS if row.get(name)}}


def _from_hex(text: str) -> str:
    return base64.b64encode(bytes.fromhex(text)).decode()


def _to_hex(text: str) -> str:
    return base64.b64decode(text).hex()
