"""MCP JSON-RPC logs: requests and answers, one message a line or inside a log record.

Source: Model Context Protocol 2025-11-25 and 2026-07-28, `tools/call`. The protocol has no turns: calls that overlap
are of one message, and a pause of more than `PAUSE` seconds begins another run.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import (
    arguments_of,
    arr,
    content_text,
    first,
    obj,
    read_json,
    result_of,
    seconds,
    text,
)
from pegboard.trace.importers.format import Format
from pegboard.trace.importers.stream import Record, Skipped
from pegboard.trace.record import CallRecord, Run

PAUSE = 1800.0
_INSIDE = ("message", "msg", "payload", "body", "data", "request", "response", "params")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def matches(value: Json) -> bool:
    """Whether it is a JSON-RPC message, or a log record around one."""
    return bool(_message(value))


def _message(value: Json) -> dict[str, Any]:
    row = obj(value)
    if row.get("jsonrpc") == "2.0":
        return row
    for name in _INSIDE:
        inner = obj(read_json(row.get(name)))
        if inner.get("jsonrpc") == "2.0":
            return inner
    return {}


_Early = tuple[dict[str, Any], float | None]


@dataclass(slots=True)
class _Session:
    id: str
    agent: str | None = None
    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    early: dict[str, _Early] = field(default_factory=dict[str, _Early])
    turn: int = -1
    heard: float | None = None
    parts: int = 0


class LogAssembler:
    """Puts requests and answers together by session.

    Parameters:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._sessions: dict[str, _Session] = {}

    def feed(self, record: Record) -> Iterable[Run | Skipped]:
        """Take one message; gives the run that a long pause has ended."""
        row, message = obj(record.value), _message(record.value)
        time = seconds(first(row, "timestamp", "time", "ts", "@timestamp"))
        key = self._session_of(row, message)
        session = self._sessions.setdefault(key, _Session(key))
        ended = self._pause(session, time)
        if message.get("method") == "tools/call":
            _called(session, message, time)
        elif message.get("method") == "initialize":
            client = obj(obj(message.get("params")).get("clientInfo"))
            session.agent = text(client.get("name")) or session.agent
        elif "method" not in message and ("result" in message or "error" in message):
            _answered(session, message, time)
        return ended

    def finish(self) -> Iterable[Run | Skipped]:
        """Give the sessions that called anything."""
        return [_run(session) for session in self._sessions.values() if session.calls]

    def _session_of(self, row: dict[str, Any], message: dict[str, Any]) -> str:
        named = text(first(row, "session", "session_id", "sessionId", "mcp-session-id", "connection"))
        if named is None and message.get("method") == "tools/call":
            meta = obj(obj(message.get("params")).get("_meta"))
            found = _TRACEPARENT.fullmatch(text(meta.get("traceparent")) or "")
            named = found[1] if found else None
        if named is None and "method" not in message:
            id = str(message.get("id"))
            named = next((key for key, each in self._sessions.items() if id in each.waiting), None)
        return named or self._source

    def _pause(self, session: _Session, time: float | None) -> list[Run]:
        quiet = time is not None and session.heard is not None and time - session.heard > PAUSE
        session.heard = session.heard if time is None else time
        if not quiet or not session.calls or session.waiting:
            return []
        run = _run(session)
        session.calls, session.early, session.turn, session.parts = [], {}, -1, session.parts + 1
        return [run]


def _called(session: _Session, message: dict[str, Any], time: float | None) -> None:
    params = obj(message.get("params"))
    id = str(message.get("id"))
    if not session.waiting:
        session.turn += 1
    ids = {call.id for call in session.calls}
    record = CallRecord(
        id=id if id not in ids else f"{id}#{len(session.calls)}",
        tool=text(params.get("name")) or "",
        arguments=arguments_of(params.get("arguments", {})),
        turn=session.turn,
        started=time,
    )
    session.waiting[id] = len(session.calls)
    session.calls.append(record)
    early = session.early.pop(id, None)
    if early is not None:
        _answered(session, *early)


def _answered(session: _Session, message: dict[str, Any], time: float | None) -> None:
    id = str(message.get("id"))
    place = session.waiting.pop(id, None)
    if place is None:
        if "content" in obj(message.get("result")) or "error" in message:
            session.early[id] = (message, time)
        return
    call, error, result = session.calls[place], obj(message.get("error")), obj(message.get("result"))
    structured = result.get("structuredContent")
    content = result_of(result.get("content")) if arr(result.get("content")) else None
    failed = bool(error) or result.get("isError") is True
    told = text(error.get("message")) or (content_text(result.get("content")) if failed else None)
    session.calls[place] = replace(
        call,
        result=structured if structured is not None else content,
        ok=not failed,
        error=told if failed else None,
        failure=text(error.get("code")),
        seconds=None if call.started is None or time is None else max(0.0, time - call.started),
    )


def _run(session: _Session) -> Run:
    together: dict[int | None, int] = {}
    for call in session.calls:
        together[call.turn] = together.get(call.turn, 0) + 1
    calls = tuple(replace(call, group=str(call.turn)) if together[call.turn] > 1 else call for call in session.calls)
    name = session.id if not session.parts else f"{session.id}#{session.parts + 1}"
    return Run(id=name, calls=calls, agent=session.agent)


FORMAT = Format("mcp-log", "MCP JSON-RPC logs", matches, LogAssembler)
