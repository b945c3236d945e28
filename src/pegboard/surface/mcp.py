"""The MCP wire format, as plain data, for both protocol families (specs 5.1, 5.2).

The handshake family (up to 2025-11-25) wants objects where the stateless one (2026-07-28) takes any JSON value:
as `outputSchema` and as `structuredContent`. A value that is no object is wrapped there as `{"result": value}`,
its schema with it, so that neither is lost.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, cast

from pegboard.catalog.view import View
from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Mode,
    Progress,
    Report,
    Result,
    Session,
    ToolName,
    ToolSpec,
)
from pegboard.core.call import Ask, Change, Log
from pegboard.core.client import Client
from pegboard.core.mode import mode_parameter
from pegboard.core.spec import DOCUMENTED_OUTPUT, OWN_META
from pegboard.schema.types import Json, JsonObject, Schema, as_object
from pegboard.schema.validate import validator
from pegboard.surface.describing import Described, describe, described_schema
from pegboard.surface.forms import ROW, block, trim
from pegboard.surface.parts import remarks

FAILURE_KEY = "pegboard/failure"
"""Where a result's `_meta` holds the failure as data."""

REPORT_KEY = "pegboard/report"
"""Where a result's `_meta` holds what was mended or cut."""

_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
"""An upstream's stamp, which is not this server's."""

_OF_A_ROUND = frozenset(("resultType", "inputRequests", "requestState"))
"""What makes an answer a question to the person behind the client; that is never a source's to put."""

MODE_KEY = "pegboard/mode"
"""Where a request's `_meta` may name the mode, and a result's does where it is not execute."""

_HINTS_OF: Mapping[Effects, JsonObject] = {
    Effects.READ_ONLY: {"readOnlyHint": True},
    Effects.ADDITIVE: {"readOnlyHint": False, "destructiveHint": False},
    Effects.IDEMPOTENT: {"readOnlyHint": False, "idempotentHint": True},
    Effects.DESTRUCTIVE: {"readOnlyHint": False, "destructiveHint": True},
}


class Family(StrEnum):
    """The two protocol families of MCP."""

    HANDSHAKE = "handshake"
    STATELESS = "stateless"


def tools(view: View, family: Family = Family.STATELESS) -> list[JsonObject]:
    """The rows of a `tools/list` answer."""
    return [tool(spec, view.wire_name(spec.name), family) for spec in view.listed]


def tool(spec: ToolSpec, name: str, family: Family = Family.STATELESS) -> JsonObject:
    """One row of a `tools/list` answer, valid in the family whatever the source sent.

    Parameters:
        spec: the tool.
        name: its wire name.
        family: the reader's protocol family.
    """
    said = _described(spec)
    row: dict[str, Any] = {**_foreign(spec.meta), "name": name}
    if as_object(row.get("execution")).get("taskSupport") == "required":
        del row["execution"]  # every tool of a board is called without a task, whatever its source wants
    optional = {
        "title": spec.title,
        "description": said.text,
        "annotations": spec.annotations or _hints_of(spec),
        "icons": list(spec.icons),
    }
    row = dict(trim(row | {key: value for key, value in optional.items() if value}, ROW, "", []))
    row = {key: value for key, value in row.items() if value or key not in optional}
    row["inputSchema"] = {**described_schema(spec.input, said), "type": "object"}
    output = _output_schema(spec, family)
    if output is not None:
        row["outputSchema"] = output
    return row


def _described(spec: ToolSpec) -> Described:
    """The author's words, and beside them what the board knows: deprecation, version, replacement, hints."""
    more = spec.deprecated is not None or spec.name.version or spec.replaces or spec.hints
    return describe(spec) if more else Described(spec.description)


def _hints_of(spec: ToolSpec) -> JsonObject:
    """The hints of a tool whose source sends none, from its effects; a tool with a preview keeps them."""
    return _HINTS_OF.get(spec.effects, {})


def _foreign(meta: JsonObject) -> dict[str, Any]:
    """What came from outside, without the marks that the board keeps for itself."""
    return {key: value for key, value in meta.items() if not key.startswith(OWN_META)}


def _output_schema(spec: ToolSpec, family: Family) -> Schema | None:
    # A tool with modes answers some of them in another shape, and a declared schema would bind every answer.
    unbound = DOCUMENTED_OUTPUT in spec.meta or mode_parameter(spec) is not None
    schema = None if unbound else spec.output
    if schema is None or family is Family.STATELESS or schema.get("type") == "object":
        return schema
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in definitions and key != "$schema"}
    if '"#"' in json.dumps(inner, default=str):
        return None
    return {"type": "object", "properties": {"result": inner}, "required": ["result"], **definitions}


def call(
    params: JsonObject,
    name: ToolName,
    *,
    session: Session,
    id: str | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
    ask: Ask | None = None,
    client: Client | None = None,
) -> Call:
    """The call that a `tools/call` request asks for.

    Parameters:
        params: the request's `params`, checked for shape.
        name: the tool that `params["name"]` means on this board.
        session: who calls.
        id: the request's id.
        progress: where progress goes, if the caller wants any.
        log: where log messages go.
        ask: puts a question to the person at the caller's end, if it can.
        client: what the caller's program does for servers, if anything.
    """
    meta: JsonObject = params.get("_meta") or {}
    mode = meta.get(MODE_KEY)
    return Call(
        tool=name,
        arguments=params.get("arguments") or {},
        mode=Mode(mode) if mode in set(Mode) else None,
        session=session,
        id=id,
        progress=progress,
        log=log,
        ask=ask,
        client=client,
        meta=_foreign(meta),
    )


def output(result: Result, spec: ToolSpec | None = None, family: Family = Family.STATELESS) -> JsonObject:
    """The `tools/call` answer that carries a result.

    Parameters:
        result: what the call came to.
        spec: the tool, for results that its family must wrap.
        family: the reader's protocol family.
    """
    result = _conforming(result, spec)
    lost: list[str] = []
    content = [_block(found, f"/content/{index}", lost) for index, found in enumerate(result.content)]
    meta_of_source = {key: value for key, value in result.meta.items() if key not in _OF_A_ROUND}
    answer: dict[str, Any] = {**trim(meta_of_source, {"_meta": ROW["_meta"]}, "", lost), "content": content}
    if result.failure is not None:
        answer["isError"] = True
        if not answer["content"]:
            answer["content"] = [text_block(str(result.failure))]
    if result.value is not None:
        _add_value(answer, result.value, spec, family)
    if lost:
        result = replace(result, report=_told(result.report, lost))
    sent: JsonObject = answer.pop("_meta", None) or {}
    meta = {key: value for key, value in sent.items() if key != _SERVER_INFO} | _meta(result)
    if meta:
        answer["_meta"] = meta
        answer["content"] = [*answer["content"], *map(text_block, remarks(result.report))]
    return answer


def _conforming(result: Result, spec: ToolSpec | None) -> Result:
    """A cut or moved value that its output schema does not admit becomes a failure: clients refuse it as a whole."""
    report = result.report
    if spec is None or spec.output is None or report is None or result.failure is not None:
        return result
    cuts = [one for one in report.changes if one.kind in ("cut", "moved") and not one.where.startswith("/content")]
    if not cuts or validator(spec.output).is_valid(result.value):
        return result
    failure = Failure(FailureCode.TOO_LARGE, f"The answer is too large to be given whole. {cuts[0].message}")
    return replace(result, value=None, failure=failure)


def _add_value(answer: dict[str, Any], value: Json, spec: ToolSpec | None, family: Family) -> None:
    if not answer["content"]:
        answer["content"] = [text_block(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))]
    if isinstance(value, dict) or (family is Family.STATELESS and (not isinstance(value, str) or _declares(spec))):
        answer["structuredContent"] = cast("Json", value)
    elif family is Family.HANDSHAKE and _declares(spec):
        answer["structuredContent"] = {"result": value}


def _declares(spec: ToolSpec | None) -> bool:
    return spec is not None and spec.output is not None


def _meta(result: Result) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    if result.failure is not None:
        meta[FAILURE_KEY] = _failure(result.failure)
    if result.report is not None and (report := _report(result.report)):
        meta[REPORT_KEY] = report
    if result.mode is not Mode.EXECUTE:
        meta[MODE_KEY] = result.mode.value
    return meta


def _report(report: Report) -> JsonObject:
    """What happened inside, without the values, which the result itself holds."""
    parts: dict[str, Any] = {
        "changes": [{"kind": c.kind, "where": c.where, "message": c.message} for c in report.changes],
        "notes": list(report.notes),
        "counts": report.counts,
        "items": [{"index": item.index, "status": item.status.value} for item in report.items],
        "steps": [{"id": step.id, "tool": step.tool, "status": step.status.value} for step in report.steps],
        "sources": {
            name: {"status": source.status.value, "count": source.count, "seconds": source.seconds}
            for name, source in report.sources.items()
        },
        "run_id": report.run_id,
        **report.data,
    }
    return {key: value for key, value in parts.items() if value not in (None, [], {})}


def _failure(failure: Failure) -> JsonObject:
    return {key: value for key, value in failure.to_json().items() if value not in (None, {}, False)}


def text_block(text: str) -> JsonObject:
    """A text content block."""
    return {"type": "text", "text": text}


def _block(found: JsonObject, at: str, lost: list[str]) -> JsonObject:
    """The block as it came; one that no client would take becomes text, so that the others still arrive."""
    taken = block(found, at, lost)
    return text_block(json.dumps(found, ensure_ascii=False, default=str)) if taken is None else taken


def _told(report: Report | None, lost: list[str]) -> Report:
    """The report, with the fields that were left out of an answer."""
    dropped = tuple(Change("dropped", at, "No client takes its value; it was left out.") for at in lost)
    report = report or Report()
    return replace(report, changes=report.changes + dropped)
