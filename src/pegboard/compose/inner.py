"""Calls that a composed tool makes: each re-enters the board's pipeline as a child; none escapes as an exception."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast
from uuid import uuid4

from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Handler,
    Mode,
    Result,
    Status,
    ToolSpec,
    offers,
)
from pegboard.schema.types import Json, JsonObject

DEEPEST = 16
"""How deep composed tools may call one another."""

IDEMPOTENCY_KEY = "idempotency_key"
"""The key in a child's `_meta`: the same whenever the same part of the same run is called again."""

_PATH = "pegboard/path"
_NO_META: JsonObject = {}
_HANDED_ON = ("traceparent", "tracestate", "baggage")


@dataclass(frozen=True, slots=True)
class Inner:
    """Makes the child calls of one outer call.

    Parameters:
        run: the board's pipeline.
        outer: the call of the composed tool, with an id; make it with `Inner.of`.
    """

    run: Handler
    outer: Call

    @classmethod
    def of(cls, run: Handler, outer: Call) -> "Inner":
        """The children's maker for an outer call; one without an id gets one, so that children have a parent."""
        return cls(run, outer if outer.id else replace(outer, id=uuid4().hex[:12]))

    @property
    def path(self) -> tuple[str, ...]:
        """The composed tools that are running around this call, outermost first."""
        found = self.outer.meta.get(_PATH, ())
        return (*cast("tuple[str, ...]", tuple(found)), str(self.outer.tool))

    async def told(self, done: int, total: int) -> None:
        """Tell the outer caller how many parts have ended."""
        if self.outer.progress is not None:
            await self.outer.progress(done, total, f"{done} of {total}")

    async def call(
        self, tool: ToolSpec, arguments: JsonObject, *, key: str, mode: Mode | None = None, meta: JsonObject = _NO_META
    ) -> Result:
        """Call a tool as a child.

        Parameters:
            tool: the tool to call.
            arguments: its arguments.
            key: names the child among its siblings (an index, a step, a source).
            mode: the outer mode to run it under; None: the outer call's.
            meta: what its `_meta` carries besides.
        """
        path = self.path
        if str(tool.name) in path or len(path) > DEEPEST:
            return Result.failed(
                FailureCode.FAILED,
                f"{tool.name} is already running around itself: {' > '.join((*path, str(tool.name)))}.",
                where=key,
                next_step="Take the call of the outer tool out of the inner one.",
            )
        child = Call(
            tool=tool.name,
            arguments=arguments,
            mode=child_mode(tool, mode or self.outer.mode or Mode.EXECUTE),
            session=self.outer.session.whole,
            id=f"{self.outer.id}/{key}",
            parent=self.outer.id,
            group=self.outer.id,
            log=self.outer.log,
            ask=self.outer.ask,
            client=self.outer.client,
            meta={
                **{name: self.outer.meta[name] for name in _HANDED_ON if name in self.outer.meta},
                **meta,
                _PATH: path,
            },
        )
        try:
            return await self.run(child)
        except Exception as error:  # one part of a composite must not cost the others
            return Result.failed(
                FailureCode.FAILED,
                f"{tool.name} broke: {type(error).__name__}: {error}",
                next_step="Report it to the tool's author; the other parts are not affected.",
            )


def child_mode(tool: ToolSpec, mode: Mode) -> Mode:
    """The mode in which a part runs so that the whole runs in `mode`.

    In a preview, parts that only read do read, so that later parts have something to work on; parts without a
    preview of their own are checked (dry run) and do nothing.
    """
    if mode is not Mode.PREVIEW:
        return mode
    if offers(tool, Mode.PREVIEW):
        return Mode.PREVIEW
    return Mode.EXECUTE if tool.effects is Effects.READ_ONLY else Mode.DRY_RUN


def payload(result: Result) -> Json:
    """What a result says, as data: its value, else its text blocks, read as JSON where they are JSON."""
    if result.value is not None or not result.content:
        return result.value
    texts = [str(block.get("text", "")) for block in result.content if block.get("type") == "text"]
    values = [_read(text) for text in texts]
    return values[0] if len(values) == 1 else values or None


def _read(text: str) -> Json:
    if text[:1] in ("{", "[", '"') or text in ("null", "true", "false"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def status_of(result: Result) -> Status:
    """How a part ended."""
    if result.failure is None:
        return Status.OK
    match result.failure.code:
        case FailureCode.TIMEOUT:
            return Status.TIMED_OUT
        case FailureCode.CANCELLED:
            return Status.CANCELLED
        case _:
            return Status.FAILED


def retry_after(failure: Failure) -> float | None:
    """How many seconds an upstream asked to wait before the next attempt, where it said so."""
    value = failure.details.get("retry_after")
    return float(value) if isinstance(value, int | float) and value >= 0 else None


def combined_effects(specs: Mapping[str, ToolSpec]) -> Effects:
    """What a tool made of these does to the world: the worst of them, where not knowing is worse than adding."""
    order = (Effects.READ_ONLY, Effects.IDEMPOTENT, Effects.ADDITIVE, Effects.UNKNOWN, Effects.DESTRUCTIVE)
    return max((spec.effects for spec in specs.values()), key=order.index, default=Effects.READ_ONLY)


def clock() -> float:
    """Seconds, for durations."""
    return time.perf_counter()
