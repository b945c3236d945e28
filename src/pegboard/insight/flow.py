"""Where each argument of a run came from: an earlier result, an earlier argument, the user's words, or the model.

A value is followed as text. It comes from a result if it stands there as a whole word or words (the scalars that a
cut record keeps beside its excerpt count as part of the result), and calls of one parallel group never feed one
another, since the model wrote them all before it saw any answer. What stands in several results may come from each.

Where the user's words are not known, the form of a value that stood in an earlier call's arguments tells whether it is
a repetition of that argument (`repeats.py`).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, cast

from pegboard.insight.repeats import Repeats
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

    __hash__ = str.__hash__  # an enum's own hash is a call into Python, and these are hashed a million times


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
    values = [_scalars(call) for call in run.calls]
    found_in = _occurrences(run.calls, _followed(values)) if len(values) > 1 else {}
    words, repeats = _Words(run.user_messages), Repeats(run.calls)
    first: dict[str, tuple[int, str]] = {}
    uses: list[list[Use]] = []
    for place, row in enumerate(values):
        found: list[Use] = []
        for name, path, text in row:
            if _SHORT <= len(text) <= _LONG:
                places = found_in.get(text)
                sources = () if places is None else _seen(run.calls, places, place)
                said = words.known and words.said(text, run.calls[place].segment)
                found.append(_use(place, (name, path, text), sources, said, first.get(text), words.known, repeats))
            else:
                found.append(Use(name, path, text, _SHORT_ONE))
        uses.append(found)
        for name, _, text in row:
            if text not in first:
                first[text] = (place, name)
    return uses


def _followed(values: Sequence[Sequence[tuple[str, str, str]]]) -> dict[str, int]:
    """The texts that may come from a result, in the order in which they are last used, with the place of that."""
    last: dict[str, int] = {}
    for place in range(len(values) - 1, 0, -1):
        for _, _, text in values[place]:
            if text not in last and _SHORT <= len(text) <= _LONG:
                last[text] = place
    return last


# Reading a member from its class costs more than all else that is done with it here.
_RESULT, _ARGUMENT, _USER, _NEW, _SHORT_ONE = Origin


def _use(
    place: int,
    item: tuple[str, str, str],
    sources: tuple[int, ...],
    said: bool,
    earlier: tuple[int, str] | None,
    known: bool,
    repeats: Repeats,
) -> Use:
    name, path, text = item
    before = None if earlier is None else earlier[0]
    if sources:
        origin = _RESULT
    elif said:
        origin = _USER
    elif earlier is not None and (known or repeats.holds(text, name, place, earlier)):
        origin = _ARGUMENT
    else:
        origin = _NEW
    return Use(name, path, text, origin, sources, before, said)


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


def _scalars(call: CallRecord) -> list[tuple[str, str, str]]:
    """The scalars of a call's arguments as (argument, path, text)."""
    arguments: Json = call.arguments
    if not isinstance(arguments, dict):
        return [("", path, inner) for path, inner in scalars(arguments)]
    found: list[tuple[str, str, str]] = []
    for name, value in cast("dict[str, Json]", arguments).items():
        if isinstance(value, str):
            found.append((name, name, value.strip()))
        elif isinstance(value, dict | list):
            found += [(name, general(path), inner) for path, inner in scalars(cast("Json", value), name)]
        else:
            text = scalar_text(value)
            if text is not None:
                found.append((name, name, text))
    return found


def _occurrences(calls: Sequence[CallRecord], followed: Mapping[str, int]) -> dict[str, list[int]]:
    """For each followed text the calls in whose results it stands, the earliest `MOST_SOURCES` of them."""
    search = _direct(followed) if len(followed) <= _FEW else _indexed(followed)
    found: dict[str, list[int]] = {}
    for place in range(max(followed.values(), default=0)):
        call = calls[place]
        texts = _among(call.values, followed) if call.values else set[str]()
        if call.result is not None:
            texts.update(search(result_text(call.result), place))
        for text in texts:
            if followed[text] > place:
                places = found.get(text)
                if places is None:
                    found[text] = [place]
                elif len(places) < MOST_SOURCES:
                    places.append(place)
    return found


def _among(values: Iterable[Json], followed: Mapping[str, int]) -> set[str]:
    texts = [value.strip() if isinstance(value, str) else scalar_text(value) for value in values]
    return {text for text in texts if text is not None and text in followed}


_FEW = 32
"""So many texts are looked for one by one faster than by an index of a result's words."""


def _direct(followed: Mapping[str, int]) -> Callable[[str, int], Iterable[str]]:
    texts = [text for text in followed if WORD.search(text)]

    def search(whole: str, place: int) -> Iterable[str]:
        while texts and followed[texts[-1]] <= place:  # those used first stand last, and fall away first
            texts.pop()
        return [text for text in texts if text in whole and stands_in(text, whole)]

    return search


def _indexed(followed: Iterable[str]) -> Callable[[str, int], Iterable[str]]:
    """Texts by their longest word: a result without the word cannot hold the text."""
    anchors: dict[str, list[str]] = {}
    for text in followed:
        word = max(WORD.findall(text), key=len, default=None)
        if word is not None:
            anchors.setdefault(word, []).append(text)

    def search(whole: str, _place: int) -> Iterable[str]:
        words = anchors.keys() & set(WORD.findall(whole))
        return [text for word in words for text in anchors[word] if text == word or stands_in(text, whole)]

    return search


def _seen(calls: Sequence[CallRecord], places: list[int], place: int) -> tuple[int, ...]:
    """Of the results that hold a value, those that the caller of this call had seen before it."""
    if places[0] >= place:
        return ()
    before = places[: bisect_left(places, place)]
    parent, group = calls[place].parent, calls[place].group
    if group is None:
        return tuple([earlier for earlier in before if calls[earlier].parent == parent])
    return tuple([at for at in before if calls[at].parent == parent and calls[at].group != group])


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
