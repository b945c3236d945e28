"""What a run of code came to."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any, cast

from pegboard.core import Failure
from pegboard.schema.types import Json, JsonObject


class Stop(StrEnum):
    """Why a run has no value."""

    ERROR = "error"
    """The code threw, or cannot be read."""
    TIMEOUT = "timeout"
    """It took longer than `timeout_ms`."""
    MEMORY = "memory"
    """It took more memory than `max_memory_mb`."""
    OUTPUT = "output"
    """It returned or sent more than `max_output`, or something that is not JSON."""
    CALLS = "calls"
    """It went on calling tools long after `max_calls` was used up."""
    CRASHED = "crashed"
    """Its process ended without an answer."""
    UNAVAILABLE = "unavailable"
    """The sandbox cannot be started."""
    WAITING = "waiting"
    """A call waits for a person's yes; the run goes on from there when it is there."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """A call may have taken effect before the process ended that made it; somebody has to look."""
    DIVERGED = "diverged"
    """Run again from its journal, the code made other calls than before."""
    CANCELLED = "cancelled"
    """Somebody ended the run."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What ended a run.

    Parameters:
        stop: its kind.
        message: what is wrong, in words.
        name: the exception's name, where the code threw one.
        line: the line of the code, counted from 1, where it is known.
        next_step: what to do about it, where that depends on the run.
        run: the id of the run, where it is kept and can go on.
        details: more, as data.
    """

    stop: Stop
    message: str
    name: str | None = None
    line: int | None = None
    next_step: str | None = None
    run: str | None = None
    details: JsonObject = field(default_factory=dict[str, Any], repr=False)

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        row: dict[str, Json] = {"code": self.stop.value, "message": self.message, "name": self.name, "line": self.line}
        return row if self.run is None else {**row, "run": self.run, "next_step": self.next_step}


class ToolError(Exception):
    """A failed call, as the code sees it.

    Parameters:
        failure: the tool's failure.
    """

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(str(failure))


@dataclass(frozen=True, slots=True)
class Made:
    """A call that the code has made.

    Parameters:
        tool: the tool's full name, or what the code called it where there is none.
        ok: whether it succeeded.
        ms: how long it took, in milliseconds.
        code: the failure's code.
    """

    tool: str
    ok: bool
    ms: float
    code: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        row: dict[str, Json] = {"tool": self.tool, "ok": self.ok, "ms": round(self.ms, 1)}
        return row if self.code is None else {**row, "code": self.code}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run of code came to.

    Parameters:
        text: the returned value as JSON; None where it was stopped.
        error: what stopped it.
        logs: the end of what it logged.
        calls: the calls that it made, in the order in which they ended.
        usage: `ms`, `calls`, `refused`, `memory_mb` where it is known, `log_dropped`.
        touched: whether a call was begun of a tool that does more than read.
    """

    text: str | None = None
    error: Fault | None = None
    logs: str = ""
    calls: tuple[Made, ...] = ()
    usage: JsonObject = field(default_factory=dict[str, Any])
    touched: bool = False

    @property
    def ok(self) -> bool:
        """Whether it returned."""
        return self.error is None

    @property
    def value(self) -> Json:
        """The returned value."""
        return None if self.text is None else read_json(self.text)

    def to_json(self) -> dict[str, Json]:
        """As plain data, the same keys whether it was stopped or not."""
        return {
            "ok": self.ok,
            "value": self.value,
            "error": self.error.to_json() if self.error else None,
            "logs": self.logs,
            "calls": [made.to_json() for made in self.calls],
            "usage": dict(self.usage),
        }


def _finite(text: str) -> float | None:
    """A number, or what JSON has in the place of one that is too large for any."""
    value = float(text)
    return value if isfinite(value) else None


def _nothing(_: str) -> None:
    """NaN and Infinity are no JSON."""


_SURROGATE = re.compile(r"\\u[dD][89abAB]")
_LONE = re.compile("[\ud800-\udfff]")


def read_json(text: str) -> Json:
    """JSON that code has written; halves of characters become U+FFFD.

    Raises:
        ValueError: it is no JSON, or nested too deeply to be read.
    """
    try:
        value = json.loads(text, parse_float=_finite, parse_constant=_nothing)
    except RecursionError as problem:
        raise ValueError("It is nested too deeply.") from problem
    return _scrubbed(value) if _SURROGATE.search(text) else value


def _scrubbed(value: Json) -> Json:
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Json]", value)
        return {_LONE.sub("\ufffd", key): _scrubbed(inner) for key, inner in pairs.items()}
    if isinstance(value, list):
        return [_scrubbed(inner) for inner in cast("list[Json]", value)]
    return value
