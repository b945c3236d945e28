"""Runs from conversations: user messages, model messages with calls, and results that name their call."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import looks_failed
from pegboard.trace.record import CallRecord, Run


@dataclass(slots=True)
class _Answer:
    value: Json
    ok: bool | None
    error: str | None
    time: float | None


@dataclass(slots=True)
class Conversation:
    """Takes the events of one conversation in order and makes a run of them.

    Results find their call by its id, never by their place; they may come before it, late, or never.

    Parameters:
        id: the run's id.
        source: where it comes from.
    """

    id: str
    source: str | None = None
    agent: str | None = None
    task: str | None = None
    meta: dict[str, Any] = field(default_factory=dict[str, Any])
    _said: list[str] = field(default_factory=list[str])
    _calls: list[CallRecord] = field(default_factory=list[CallRecord])
    _by_id: dict[str, int] = field(default_factory=dict[str, int])
    _early: dict[str, _Answer] = field(default_factory=dict[str, _Answer])
    _uses: Counter[str] = field(default_factory=Counter[str])
    _turn: int = -1
    _ended: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing was called."""
        return not self._calls

    def user(self, words: str) -> None:
        """The user said something."""
        self._said.append(words)
        self._ended = True

    def message(self) -> None:
        """The model begins a message."""
        self._turn += 1
        self._ended = False

    def expect_message(self) -> None:
        """The model's present message is over: the next call begins another."""
        self._ended = True

    def begin_message(self) -> None:
        """Begin a message if the last one is over; for formats that give calls one by one."""
        if self._ended:
            self.message()

    def call(self, id: str | None, tool: str, arguments: Json, **more: Any) -> None:
        """The model calls a tool in its present message; `more` are other fields of `CallRecord`."""
        self._turn = max(self._turn, 0)
        own = id if id is not None else f"call-{len(self._calls)}"
        self._uses[own] += 1
        record = CallRecord(
            id=own if self._uses[own] == 1 else f"{own}#{self._uses[own]}",
            tool=tool,
            arguments=arguments,
            turn=self._turn,
            segment=len(self._said),
            **more,
        )
        self._by_id[own] = len(self._calls)
        early = self._early.pop(own, None)
        self._calls.append(record if early is None else _answered(record, early))

    def result(
        self,
        id: str | None,
        value: Json,
        *,
        ok: bool | None = None,
        error: str | None = None,
        time: float | None = None,
    ) -> None:
        """A call was answered; without `ok` the answer itself tells whether it failed."""
        if id is None:
            return
        answer = _Answer(value, not looks_failed(value) if ok is None else ok, error, time)
        place = self._by_id.get(id)
        if place is None:
            self._early[id] = answer
        else:
            self._calls[place] = _answered(self._calls[place], answer)

    def run(self) -> Run:
        """The run of all events so far."""
        together = Counter((call.turn, call.parent) for call in self._calls)
        calls = tuple(
            replace(call, group=str(call.turn)) if together[call.turn, call.parent] > 1 and call.group is None else call
            for call in self._calls
        )
        lost = {"unmatched_results": len(self._early)} if self._early else {}
        return Run(
            id=self.id,
            calls=calls,
            source=self.source,
            agent=self.agent,
            task=self.task,
            user_messages=tuple(self._said),
            meta={**self.meta, **lost},
        )


def _answered(record: CallRecord, answer: _Answer) -> CallRecord:
    took = None
    if record.started is not None and answer.time is not None:
        took = max(0.0, answer.time - record.started)
    return replace(
        record,
        result=answer.value,
        ok=answer.ok,
        error=answer.error if answer.error is not None or answer.ok is not False else _said(answer.value),
        seconds=record.seconds if record.seconds is not None else took,
    )


def _said(value: Json) -> str | None:
    return value if isinstance(value, str) else None
