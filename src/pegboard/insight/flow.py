"""Where each argument of a run came from: an earlier result, an earlier argument, the user's words, or the model.

A value is followed as text. It comes from a result if it stands there as a whole word or words (the scalars that a
cut record keeps beside its excerpt count as part of the result), and calls of one parallel group never feed one
another, since the model wrote them all before it saw any answer. What stands in several results may come from each.

Where the user's words are not known, a value that stood in an earlier call's arguments is taken for a repetition of
that argument only if it comes back under the same name, in the same stretch between two user messages and without a
capital (names and codes are mostly the user's). Measured on runs whose users' words are known, this is right in two of
three cases; the plain rule is right in two of five.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, cast

from pegboard.insight.scalars import LONG as _LONG
from pegboard.insight.scalars import SHORT as _SHORT
from pegboard.insight.scalars import WORD, general, result_text, scalar_text, scalars, stands_in
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord, Run

MOST_SOURCES = 256
"""At most so many results are named as the source of one value: the earliest."""


class Origin(StrEnum):
    """Where an argument's value came from."""

    RESULT = "out"
    ARGUMENT = "arg"
    USER = "user"
    NEW = "new"
    SHORT = "short"


class Use(NamedTuple):
    """One scalar of one call's arguments, and where it came from.

    Parameters:
        name: the argument that holds it; empty where the arguments are no object.
        path: its place in the arguments, such as `flights[].date`.
        text: the value as text.
        origin: the best explanation: a result before the user's words before an earlier argument.
        sources: the places of the calls in whose results it stands, ascending.
        argument: the place of the first earlier call that had it as an argument.
        said: whether the user had said it; False also where the user's words are not known.
    """

    name: str
    path: str
    text: str
    origin: Origin
    sources: tuple[int, ...] = ()
    argument: int | None = None
    said: bool = False

    @property
    def label(self) -> str:
        """In the notation of answer keys: `out:0|out:2|user`, `arg:1`, `user`, `new`, `short`."""
        if self.origin is Origin.ARGUMENT:
            return f"arg:{self.argument}"
        if self.sources:
            return "|".join([*(f"out:{place}" for place in self.sources), *(("user",) if self.said else ())])
        return self.origin.value


def provenance(run: Run) -> list[list[Use]]:
    """The scalars of each call's arguments with their origins, call by call.

    Source: data-flow provenance by value equality, the usual approximation where only logs are at hand.
    """
    values = [list(_scalars(call)) for call in run.calls]
    followed = {text: place for place, row in enumerate(values) for _, _, text in row if _SHORT <= len(text) <= _LONG}
    found_in = _occurrences(run.calls, followed)
    words = _Words(run.user_messages)
    first: dict[str, tuple[int, str]] = {}
    uses: list[list[Use]] = []
    for place, row in enumerate(values):
        uses.append([_use(run.calls, place, item, found_in, first, words) for item in row])
        for name, _, text in row:
            first.setdefault(text, (place, name))
    return uses


def _use(
    calls: Sequence[CallRecord],
    place: int,
    item: tuple[str, str, str],
    found_in: Mapping[str, list[int]],
    first: Mapping[str, tuple[int, str]],
    words: "_Words",
) -> Use:
    name, path, text = item
    if not _SHORT <= len(text) <= _LONG:
        return Use(name, path, text, Origin.SHORT)
    sources = _seen(calls, found_in.get(text), place)
    said = words.said(text, calls[place].segment)
    before, under = first.get(text, (None, ""))
    if sources:
        origin = Origin.RESULT
    elif said:
        origin = Origin.USER
    elif before is not None and (words.known or under == name and _repeated(calls[before], calls[place], text)):
        origin = Origin.ARGUMENT
    else:
        origin = Origin.NEW
    return Use(name, path, text, origin, sources, before, said)


def _repeated(before: CallRecord, call: CallRecord, text: str) -> bool:
    return before.segment == call.segment and text == text.lower()


def answer(run: Run) -> dict[str, Json]:
    """A run's provenance as an answer key has it: per call and argument the distinct labels, in order."""
    rows: list[dict[str, list[str]]] = []
    for call, uses in zip(run.calls, provenance(run), strict=True):
        row = {name: list[str]() for name in _names(call)}
        for use in uses:
            labels = row.setdefault(use.name, [])
            if use.label not in labels:
                labels.append(use.label)
        rows.append(row)
    return {"run_id": run.id, "arg_src": rows}


def _names(call: CallRecord) -> list[str]:
    arguments: Json = call.arguments
    return list(cast("dict[str, Json]", arguments)) if isinstance(arguments, dict) else []


def _scalars(call: CallRecord) -> Iterator[tuple[str, str, str]]:
    arguments: Json = call.arguments
    if isinstance(arguments, dict):
        for name, value in cast("dict[str, Json]", arguments).items():
            text = scalar_text(value)
            if text is not None:
                yield name, name, text
            elif isinstance(value, dict | list):
                for path, inner in scalars(cast("Json", value), name):
                    yield name, general(path), inner
    else:
        for path, inner in scalars(arguments):
            yield "", path, inner


def _occurrences(calls: Sequence[CallRecord], followed: Mapping[str, int]) -> dict[str, list[int]]:
    """For each followed text the calls in whose results it stands, the earliest `MOST_SOURCES` of them."""
    anchors = _anchors(followed)
    last = max(followed.values(), default=0)
    found: dict[str, list[int]] = {}
    for place, call in enumerate(calls[:last]):
        for text in _followed_in(call, followed, anchors):
            if followed[text] > place:
                places = found.setdefault(text, [])
                if len(places) < MOST_SOURCES:
                    places.append(place)
    return found


def _anchors(followed: Iterable[str]) -> dict[str, list[str]]:
    """Texts by their longest word: a result without the word cannot hold the text."""
    anchors: dict[str, list[str]] = {}
    for text in followed:
        word = max(WORD.findall(text), key=len, default=None)
        if word is not None:
            anchors.setdefault(word, []).append(text)
    return anchors


def _followed_in(call: CallRecord, followed: Mapping[str, int], anchors: Mapping[str, list[str]]) -> set[str]:
    found: set[str] = set()
    if call.values:
        found.update(text for text in map(scalar_text, call.values) if text is not None and text in followed)
    if call.result is not None:
        whole = result_text(call.result)
        for word in anchors.keys() & set(WORD.findall(whole)):
            found.update(text for text in anchors[word] if text == word or stands_in(text, whole))
    return found


def _seen(calls: Sequence[CallRecord], places: list[int] | None, place: int) -> tuple[int, ...]:
    """Of the results that hold a value, those that the caller of this call had seen before it."""
    if not places:
        return ()
    before = places[: bisect_left(places, place)]
    call = calls[place]
    return tuple(
        [
            earlier
            for earlier in before
            if calls[earlier].parent == call.parent and (call.group is None or calls[earlier].group != call.group)
        ]
    )


class _Words:
    """What the user had said by each segment; one search a text and message."""

    def __init__(self, messages: tuple[str, ...] | None) -> None:
        self.known = messages is not None
        self._messages = messages or ()
        self._first: dict[str, int] = {}

    def said(self, text: str, segment: int) -> bool:
        """Whether one of the first `segment` messages holds the text."""
        if not self._messages:
            return False
        if text not in self._first:
            holding = (place for place, message in enumerate(self._messages) if stands_in(text, message))
            self._first[text] = next(holding, len(self._messages))
        return self._first[text] < segment
