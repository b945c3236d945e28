"""The one verb: everything that runs is `async (Call) -> Result`."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, cast

from pegboard.core.client import Client
from pegboard.core.name import ToolName
from pegboard.core.session import Session
from pegboard.schema.types import Json, JsonObject


class Mode(StrEnum):
    """How a tool is to run; the safest that it has is the default where its effects hurt."""

    EXPLORE = "explore"
    PREVIEW = "preview"
    DRY_RUN = "dry_run"
    EXECUTE = "execute"
    SCHEMA = "schema"


class FailureCode(StrEnum):
    """The closed set of ways in which a call can fail."""

    UNKNOWN_TOOL = "unknown_tool"
    """No tool has this name, or several share it; the nearest names are told. Nothing ran."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The arguments do not fit the tool's schema; each faulty path is told. Nothing ran."""
    BLOCKED = "blocked"
    """A policy forbids this call. Nothing ran, and asking again changes nothing."""
    APPROVAL_NEEDED = "approval_needed"
    """A person has to agree first. Nothing ran."""
    PREREQUISITE = "prerequisite"
    """Something else has to be called first; the next step says what. Nothing ran."""
    DECLINED = "declined"
    """A person said no, now or for always. Nothing ran."""
    BUDGET = "budget"
    """The session has used up what it may spend on calls. Nothing ran."""
    RETIRED = "retired"
    """The tool's sunset has passed; its successor is told. Nothing ran."""
    UNAVAILABLE = "unavailable"
    """The tool's source cannot be reached now. Nothing ran; it may work later."""
    TIMEOUT = "timeout"
    """The tool took longer than `call_timeout`. It does no harm to call it again."""
    CANCELLED = "cancelled"
    """The caller withdrew the call."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """The source was lost in mid-call, and the tool may have had its effect: look before calling again."""
    TOO_LARGE = "too_large"
    """The arguments or the result are larger than a limit."""
    ASSET_UNKNOWN = "asset_unknown"
    """An asset handle stands for nothing of the caller's: made up, miswritten, or another owner's. Nothing ran."""
    ASSET_EXPIRED = "asset_expired"
    """The asset behind a handle was kept for its time and is gone. Nothing ran; the tool that made it can run again."""
    UPSTREAM = "upstream"
    """The source answered in a way that cannot be used."""
    FAILED = "failed"
    """The tool ran and reports an error of its own."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed, and what to do next.

    Parameters:
        code: one of the closed set.
        message: what is wrong, for the model to read.
        where: a JSON pointer into the arguments, a step, a source: where it is wrong.
        next_step: what to do about it.
        retryable: whether the same call may succeed later.
        details: more, as data (the tool's definition, each faulty path ...).
    """

    code: FailureCode
    message: str
    where: str | None = None
    next_step: str | None = None
    retryable: bool = False
    details: JsonObject = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        place = f" at {self.where}" if self.where else ""
        remedy = f" Next: {self.next_step}" if self.next_step else ""
        return f"{self.code}{place}: {self.message}{remedy}"

    def to_json(self) -> dict[str, Json]:
        """As plain data, for wires and stores."""
        return {
            "code": self.code.value,
            "message": self.message,
            "where": self.where,
            "next_step": self.next_step,
            "retryable": self.retryable,
            "details": dict(self.details),
        }


class Status(StrEnum):
    """How one item, step or source of a composite ended."""

    OK = "ok"
    FAILED = "failed"
    """The tool ran and reports an error of its own."""
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    """The caller withdrew the call."""


@dataclass(frozen=True, slots=True)
class ItemReport:
    """How one item of a batch ended."""

    index: int
    input: Json
    status: Status
    value: Json = None
    failure: Failure | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class StepReport:
    """How one step of a bundle or chain ended."""

    id: str
    tool: str
    status: Status
    value: Json = None
    failure: Failure | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How one source of a scatter-gather ended."""

    name: str
    status: Status
    count: int | None = None
    failure: Failure | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was mended, cut or moved on the way, so that nothing is lost silently.

    Parameters:
        kind: `mended`, `cut`, `moved`, `dropped` ...
        where: a JSON pointer into arguments or result.
        message: what was done, and where the rest is.
    """

    kind: str
    where: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What happened inside a call: the parts of a composite, and what was mended or cut on the way."""

    items: tuple[ItemReport, ...] = ()
    steps: tuple[StepReport, ...] = ()
    sources: Mapping[str, SourceReport] = field(default_factory=dict[str, SourceReport])
    changes: tuple[Change, ...] = ()
    run_id: str | None = None
    notes: tuple[str, ...] = ()
    data: JsonObject = field(default_factory=dict[str, Any])

    @property
    def counts(self) -> dict[str, int]:
        """How many parts ended in each status, in the order of `Status`; only statuses that occur."""
        statuses = [part.status for part in (*self.items, *self.steps, *self.sources.values())]
        return {status.value: statuses.count(status) for status in Status if status in statuses}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a call came to: a value, or a failure, never both meaningfully.

    Parameters:
        value: the structured result (any JSON value); None where there is only content or a failure.
        failure: set if and only if the call failed.
        content: MCP content blocks as plain data (text, image, audio, resource_link, resource).
        report: what happened inside.
        assets: handles of large or binary parts.
        mode: the mode in which it ran.
        meta: `_meta` and fields that no one here knows, kept as they came.
    """

    value: Json = None
    failure: Failure | None = None
    content: tuple[JsonObject, ...] = ()
    report: Report | None = None
    assets: tuple[str, ...] = ()
    mode: Mode = Mode.EXECUTE
    meta: JsonObject = field(default_factory=dict[str, Any])

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.failure is None

    @classmethod
    def failed(cls, code: FailureCode, message: str, **more: Any) -> "Result":
        """A failed result; `more` are the other fields of `Failure`."""
        return cls(failure=Failure(code, message, **more))


class Progress(Protocol):
    """Receives progress while a call runs (MCP `notifications/progress`)."""

    async def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...


LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of log messages (RFC 5424), from the most talkative."""


def wanted_level(log: "Log") -> str:
    """The lowest level that a listener has asked for by its attribute `wanted`; `info` where it says nothing."""
    level = getattr(log, "wanted", None)
    return level if level in LOG_LEVELS else "info"


class Log(Protocol):
    """Receives log messages while a call runs (MCP `notifications/message`)."""

    async def __call__(self, level: str, data: Json, logger: str | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person at the caller's end answered.

    Parameters:
        action: `accept`, `decline`, or `cancel` (dismissed without a choice).
        content: the form as it was filled in, flat values by name.
    """

    action: str
    content: JsonObject = field(default_factory=dict[str, Any])


class Ask(Protocol):
    """Puts a question to the person at the caller's end (MCP `elicitation/create`, form mode)."""

    async def __call__(self, message: str, schema: JsonObject, meta: JsonObject) -> Reply | None:
        """The reply, or None where the caller cannot ask anybody.

        Parameters:
            message: what the person reads.
            schema: the form: an object schema with flat properties.
            meta: `_meta` of the question.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of one tool. Cancelling the task that awaits the handler cancels the call.

    Parameters:
        tool: the target, by its full name.
        arguments: the arguments, as the caller sent them (a middleware may hand on mended ones).
        mode: how to run; None leaves it to the tool's default.
        session: who calls.
        id: the caller's own id for the call, where it has one.
        parent: the id of the call that makes this one (a bundle, a batch, a script).
        group: calls that one message made in parallel share it.
        progress: where progress goes, or None.
        log: where log messages go, or None.
        ask: puts a question to the person at the caller's end, or None where nobody is there.
        client: what the caller's program does for servers (elicitation, sampling, roots), or None.
        meta: `_meta` of the request, handed on.
    """

    tool: ToolName
    arguments: JsonObject
    mode: Mode | None = None
    session: Session = Session()
    id: str | None = None
    parent: str | None = None
    group: str | None = None
    progress: Progress | None = None
    log: Log | None = None
    ask: Ask | None = None
    client: Client | None = None
    meta: JsonObject = field(default_factory=dict[str, Any])


Handler: TypeAlias = Callable[[Call], Awaitable[Result]]
"""Everything that runs."""

Middleware: TypeAlias = Callable[[Handler], Handler]
"""Wraps a handler; a feature is one of these, never a flag in a loop."""


def pipeline(handler: Handler, *middleware: Middleware) -> Handler:
    """Wrap a handler so that the first middleware is outermost."""
    for wrap in reversed(middleware):
        handler = wrap(handler)
    return handler


_MAX_MESSAGE = 2000


def describe(error: BaseException) -> str:
    """An exception in one clean sentence: its kind and message, never a traceback."""
    inner = cast("tuple[BaseException, ...]", getattr(error, "exceptions", ()))
    if isinstance(error, BaseExceptionGroup) and len(inner) == 1:
        return describe(inner[0])
    text = str(cast("BaseException", error)).strip()
    text = text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"
    kind = type(cast("BaseException", error)).__name__
    return f"{kind}: {text}" if text else kind
