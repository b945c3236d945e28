"""What a wait-until step waits for."""

import json
from typing import Any

from pegboard.config.runtype.finding import Findings, Weight
from pegboard.config.runtype.javascript import NotPlain, Part, condition, read_path, write_path
from pegboard.config.runtype.request import RequestReader
from pegboard.config.runtype.template import At
from pegboard.schema.types import Json, JsonObject, as_object


def read_poll(
    poll: JsonObject, table: dict[str, Json], reader: RequestReader, findings: Findings, at: At
) -> dict[str, Json]:
    """Put what is polled into the table of a wait; the arguments that its request reads.

    Parameters:
        poll: `{http, success, intervalMs, maxAttempts}`.
        table: the key `wait` of a source.
        reader: reads the request.
        findings: hears what is to be said.
        at: where it stands.
    """
    for key in poll:
        if key not in ("http", "success", "intervalMs", "maxAttempts"):
            findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect here.")
    found = reader.request(poll.get("http"), (*at, "http"))
    if found.auth is not None:
        findings.refuse("AUTH_UNSUPPORTED", (*at, "http"), "A wait sends no credentials.", "Wait for a public address.")
    table["request"] = found.table
    for key, ours in (("intervalMs", "interval_ms"), ("maxAttempts", "max_attempts")):
        if poll.get(key) is not None:
            table[ours] = whole_number(poll[key], findings, (*at, key))
    success: Any = poll.get("success")
    if success is not None:
        try:
            table["until"] = condition(str(success), _answered) if isinstance(success, str) else _matching(success)
        except NotPlain:
            findings.refuse(
                "POLL_CONDITION",
                (*at, "success"),
                f"{success!r} is more than a comparison.",
                "Compare `status` and paths of `body`.",
            )
    return found.args


def whole_number(given: Json, findings: Findings, at: At) -> int:
    """A number of milliseconds or attempts; what is none is refused."""
    if isinstance(given, bool) or not isinstance(given, int | float) or given < 0 or given != int(given):
        findings.refuse("WRONG_TYPE", at, f"{given!r} is no whole number.", "Write milliseconds, as 1000.")
        return 0
    return int(given)


def longest_seconds(table: JsonObject) -> int:
    """Seconds that a wait may take as a whole, with some to spare."""
    each = int(table.get("interval_ms", 1000)) + 30_000
    asked = each * int(table.get("max_attempts", 30)) if "request" in table else 0
    return min(90_000, (int(table.get("delay_ms", 0)) + asked) // 1000 + 30)


def _answered(variable: str, parts: tuple[Part, ...]) -> str:
    """A path of a poll's condition: `status`, or of the body, whether that is named or not."""
    if variable in ("response", "result") and parts and isinstance(parts[0], str):
        variable, parts = parts[0], parts[1:]
    if variable in ("status", "statusCode") and not parts:
        return "status"
    path = write_path("body", parts if variable in ("body", "data") else (variable, *parts))
    return f"default({path}, null)"


def _matching(success: Any) -> str:
    """`{path: value}`: each path of the body has this value."""
    parts: list[str] = []
    for key, value in as_object(success).items():
        path = read_path(str(key))
        if path is None or isinstance(value, dict | list):
            raise NotPlain(str(success))
        parts.append(f"{_answered(*path)} == {json.dumps(value, ensure_ascii=False)}")
    if not parts:
        raise NotPlain(str(success))
    return " and ".join(parts)
