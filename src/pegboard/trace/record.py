"""A trace as data: one run of one agent, and its calls in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.schema.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call of one tool, as it happened. Secrets are redacted before a record is made.

    Parameters:
        id: unique in its run.
        tool: the tool's full name as text.
        arguments: the arguments, capped and redacted, or None where policy keeps them out or the source lost them.
        result: the structured result or its text, capped and redacted, or None.
        ok: whether it succeeded; None where the source does not say.
        failure: the failure's code, where it failed.
        error: the failure's message, where it failed.
        parent: the id of the call that made this one.
        group: calls that one message made in parallel share it.
        turn: which model message made it, counted from 0; None for inner calls.
        segment: how many user messages came before it.
        started: Unix time in seconds; None where unknown.
        seconds: how long it took; None where unknown.
        mode: the mode it ran in.
        source: the source that served it.
        principal: who called.
        digest: the definition's digest at the time.
        tokens: estimated size of arguments and result, in tokens (bytes / 4).
        values: scalars of the whole result, for data flow, where the result itself was cut.
        meta: anything more, such as `mended` or foreign attributes.
    """

    id: str
    tool: str
    arguments: Json = None
    result: Json = None
    ok: bool | None = None
    failure: str | None = None
    error: str | None = None
    parent: str | None = None
    group: str | None = None
    turn: int | None = None
    segment: int = 0
    started: float | None = None
    seconds: float | None = None
    mode: str | None = None
    source: str | None = None
    principal: str | None = None
    digest: str | None = None
    tokens: int | None = None
    values: tuple[Json, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One task of one agent.

    Parameters:
        id: the run.
        calls: its calls, in the order in which they started.
        source: the file, system or board it comes from.
        task: what was asked, or an id of it: runs of one task are not independent evidence.
        agent: the agent or model.
        success: whether the task succeeded, where the source says.
        user_messages: the user's own words, one text a message, where policy keeps them; a call's `segment` says how
            many of them came before it. None where they are not known.
        meta: anything more.
    """

    id: str
    calls: tuple[CallRecord, ...] = ()
    source: str | None = None
    task: str | None = None
    agent: str | None = None
    success: bool | None = None
    user_messages: tuple[str, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
