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
from typing import Any, NamedTuple, cast

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
    calls = run.calls
    values = [_scalars(call.arguments) for call in calls]
    found_in = _occurrences(calls, _followed(values)) if len(calls) > 1 else {}
    words, repeats = _Words(run.user_messages), Repeats(calls)
    first: dict[str, tuple[int, str]] = {}
    return [
        _uses(place, row, found_in, words, repeats, calls, first) if row else [] for place, row in enumerate(values)
    ]


def _followed(values: Sequence[Sequence[tuple[str, str, str]]]) -> dict[str, int]:
    """The texts that may come from a result, with the place of the call that has them last."""
    return {text: place for place, row in enumerate(values) for _, _, text in row if _SHORT <= len(text) <= _LONG}


# Reading a member from its class, and making a named tuple by its name, cost more than all else that is done here.
_RESULT, _ARGUMENT, _USER, _NEW, _SHORT_ONE = Origin
_make = cast("Callable[[type[Use], tuple[Any, ...]], Use]", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]


def _uses(
    place: int,
    row: Sequence[tuple[str, str, str]],
    found_in: Mapping[str, list[int]],
    words: "_Words",
    repeats: Repeats,
    calls: Sequence[CallRecord],
    first: dict[str, tuple[int, str]],
) -> list[Use]:
    """The scalars of one call with their origins; its own are then added to the `first` calls that had each text."""
    known, found = words.known, list[Use]()
    for name, path, text in row:
        if not _SHORT <= len(text) <= _LONG:
            found.append(_make(Use, (name, path, text, _SHORT_ONE, (), None, False)))
            continue
        places, earlier = found_in.get(text), first.get(text)
        sources = _seen(calls, places, place) if places is not None and places[0] < place else ()
        said = known and words.said(text, calls[place].segment)
        if sources:
            origin = _RESULT
        elif said:
            origin = _USER
        elif earlier is not None and (known or repeats.holds(text, name, place, earlier)):
            origin = _ARGUMENT
        else:
            origin = _NEW
        before = None if earlier is None else earlier[0]
        found.append(_make(Use, (name, path, text, origin, sources, before, said)))
    for name, _, text in row:
        if text not in first:
            first[text] = (place, name)
    return found


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


def _scalars(arguments: Json) -> list[tuple[str, str, str]]:
    """The scalars of a call's arguments as (argument, path, text)."""
    if not isinstance(arguments, dict):
        return [("", path, inner) for path, inner in scalars(arguments)]
    found: list[tuple[str, str, str]] = []
    for name, value in cast("dict[str, Any]", arguments).items():
        if isinstance(value, str):
            found.append((name, name, value.strip()))
        elif isinstance(value, (dict, list)):
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
    texts = sorted(filter(WORD.search, followed), key=followed.__getitem__, reverse=True)

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
    parent, group = calls[place].parent, calls[place].group
    if len(places) == 1:
        giver = calls[places[0]]
        return (places[0],) if giver.parent == parent and (group is None or giver.group != group) else ()
    before = places[: bisect_left(places, place)]
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
