"""A run as the conversation that it came from: what the user said, what the model called, what came back."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord, Run


@dataclass(frozen=True, slots=True)
class Said:
    """The user said something."""

    words: str


@dataclass(frozen=True, slots=True)
class Called:
    """The model called tools in one message, and got their answers."""

    calls: tuple[CallRecord, ...]


def events(run: Run) -> Iterator[Said | Called]:
    """The events of a run, in order; calls that other calls made are left out, as no conversation shows them."""
    words = run.user_messages or ()
    said = 0
    together: list[CallRecord] = []
    for call in run.calls:
        if call.parent is not None:
            continue
        if together and (call.turn is None or call.turn != together[-1].turn):
            yield Called(tuple(together))
            together = []
        for place in range(said, call.segment):
            yield Said(words[place] if place < len(words) else "")
        said = max(said, call.segment)
        together.append(call)
    if together:
        yield Called(tuple(together))
    for place in range(said, len(words)):
        yield Said(words[place])


def as_text(value: Json) -> str:
    """A result as a tool message holds it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def arguments_text(call: CallRecord) -> str:
    """A call's arguments as JSON text."""
    return json.dumps({} if call.arguments is None else call.arguments, ensure_ascii=False, default=str)


def answered(call: CallRecord) -> bool:
    """Whether anything came back."""
    return call.ok is not None or call.result is not None


def answer_of(call: CallRecord) -> Json:
    """What came back: the result, or what went wrong."""
    return call.error if call.result is None and call.error is not None else call.result
