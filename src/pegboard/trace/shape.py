"""From a finished call to its record: redacted, cut to size, or left out, as policy says."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from pegboard.core import Call, Failure, Result, ToolSpec
from pegboard.schema.cut import byte_size, cut_text, cut_value, json_text
from pegboard.schema.types import Json, JsonObject
from pegboard.trace.record import CallRecord
from pegboard.trace.redact import Redactor
from pegboard.trace.store import Entry

BOARD_VERSION = "board_version"
"""The key of `CallRecord.meta` for the published version that the board was held to."""

_TOLD = ("approval", "chain_run")
"""What a record keeps of a result's report: who said yes, and which run of a chain it was."""
_MAX_VALUES = 2000
_MAX_VALUE_BYTES = 256
_MAX_ERROR_BYTES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What of a call is recorded.

    Parameters:
        arguments: whether arguments are; else only their size.
        results: whether results are; else only their size.
        max_bytes: more of the arguments, and of the result, is cut, each.
    """

    arguments: bool = True
    results: bool = True
    max_bytes: int = 32_768


class Finished(NamedTuple):
    """A call that is over, as the pipeline saw it.

    Parameters:
        call: the call, under the id that it is recorded by.
        spec: the tool, where it is known.
        result: what it came to; None where it never ended by itself.
        failure: why it failed, where there is no result.
        seq: where it stands among the calls of this process.
        turn: which turn of the run it belongs to.
        started: Unix time, in seconds.
        seconds: how long it took.
        caller_id: the caller's own id for it.
    """

    call: Call
    spec: ToolSpec | None
    result: Result | None
    failure: Failure | None
    seq: int
    turn: int | None
    started: float
    seconds: float
    caller_id: str | None


class Shaper:
    """Makes records; one for each board, used from one thread.

    Parameters:
        redactor: masks secrets.
        policy: what is recorded.
        version: the published version that the board is held to, if any.
    """

    def __init__(
        self, redactor: Redactor, policy: Recording = Recording(), version: Callable[[], str | None] = lambda: None
    ) -> None:
        self._redactor, self._policy, self._version = redactor, policy, version
        self._digests: dict[int, tuple[ToolSpec, str]] = {}

    def entry(self, finished: Finished) -> Entry:
        """The record of a call, and its place."""
        call, result = finished.call, finished.result
        failure = result.failure if result is not None else finished.failure
        arguments, argument_bytes, arguments_cut, _ = self._part(call.arguments, self._policy.arguments)
        shown, result_bytes, result_cut, values = self._part(_shown(result), self._policy.results)
        record = CallRecord(
            id=call.id or "",
            tool=str(call.tool),
            arguments=arguments,
            result=shown,
            ok=failure is None,
            failure=failure.code.value if failure else None,
            error=cut_text(self._redactor.text(failure.message), _MAX_ERROR_BYTES) if failure else None,
            parent=call.parent,
            group=call.group or (None if finished.turn is None else f"turn-{finished.turn}"),
            turn=finished.turn,
            started=finished.started,
            seconds=finished.seconds,
            mode=_mode(finished),
            source=finished.spec.source.name if finished.spec else None,
            principal=call.session.principal,
            digest=self._digest(finished.spec),
            tokens=(argument_bytes + result_bytes) // 4,
            values=values if result_cut else None,
            meta=_meta(finished, argument_bytes, result_bytes, {"arguments": arguments_cut, "result": result_cut})
            | self._stamp(),
        )
        return Entry(call.session.run_id, finished.seq, record, call.session.agent)

    def _part(self, value: Json, wanted: bool) -> tuple[Json, int, bool, tuple[Json, ...] | None]:
        """A value as it is recorded, the size of the whole, whether it was cut, and then its scalars."""
        if value is None:
            return None, 0, False, None
        text = json_text(value)
        size = byte_size(text)
        if not wanted:
            return None, size, False, None
        masked = value if self._redactor.is_clean(text) else self._redactor.value(value)
        if size <= self._policy.max_bytes:
            return masked, size, False, None
        values = tuple(scalars(masked)) if isinstance(masked, (dict, list)) else None
        return cut_value(masked, self._policy.max_bytes)[0], size, True, values

    def _stamp(self) -> dict[str, str]:
        version = self._version()
        return {} if version is None else {BOARD_VERSION: version}

    def _digest(self, spec: ToolSpec | None) -> str | None:
        """The definition's digest, remembered: it costs more than the rest of the record."""
        if spec is None:
            return None
        known = self._digests.get(id(spec))
        if known is None or known[0] is not spec:
            if len(self._digests) >= 20_000:
                self._digests.clear()
            known = self._digests[id(spec)] = (spec, spec.digest)
        return known[1]


def _mode(finished: Finished) -> str | None:
    mode = finished.call.mode if finished.result is None else finished.result.mode
    return mode.value if mode is not None else None


def _meta(finished: Finished, argument_bytes: int, result_bytes: int, cut: Mapping[str, bool]) -> dict[str, Any]:
    meta: dict[str, Any] = {"argument_bytes": argument_bytes, "result_bytes": result_bytes}
    if finished.caller_id is not None:
        meta["call_id"] = finished.caller_id
    parts = [part for part, is_cut in cut.items() if is_cut]
    if parts:
        meta["recorded_cut"] = parts
    report = finished.result.report if finished.result is not None else None
    if report is not None and report.changes:
        meta["changes"] = [{"kind": change.kind, "where": change.where} for change in report.changes]
    if report is not None:
        meta.update({key: report.data[key] for key in _TOLD if key in report.data})
    return meta


def _shown(result: Result | None) -> Json:
    """What is recorded of a result: its value, or its texts, with other blocks named."""
    if result is None or (result.value is None and not result.content):
        return None
    if result.value is not None:
        return result.value
    texts = [_block_text(block) for block in result.content]
    return texts[0] if len(texts) == 1 else texts


def _block_text(block: JsonObject) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    inner = block.get("resource")
    body = cast("JsonObject", inner) if isinstance(inner, Mapping) else block
    size = len(str(body.get("data") or body.get("blob") or body.get("text") or ""))
    named = [str(part) for part in (block.get("type"), body.get("mimeType"), body.get("uri")) if part]
    return f"[{' '.join(named)}, {size} characters]"


def scalars(value: Json) -> Iterator[Json]:
    """The scalars of a value in their order, long texts left out, at most so many as a record may hold."""
    left = _MAX_VALUES
    todo: list[Any] = [value]
    while todo and left:
        node = todo.pop()
        if isinstance(node, Mapping):
            todo += reversed(list(cast("Mapping[str, Any]", node).values()))
        elif isinstance(node, (list, tuple)):
            todo += reversed(cast("list[Any]", node))
        elif node is not None and (not isinstance(node, str) or len(node) <= _MAX_VALUE_BYTES):
            left -= 1
            yield node
