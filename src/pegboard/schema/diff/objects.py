"""Properties: which were added, removed or renamed, and which must be there."""

from collections.abc import Iterator
from typing import Any, Protocol

from pegboard.schema.diff.difference import Side, Turn, Weight
from pegboard.schema.types import Json, as_list, as_object, canonical, pointer
from pegboard.schema.walk import Node


class Findings(Protocol):
    """Where differences are listed."""

    @property
    def side(self) -> Side:
        """Which way the values travel."""
        ...

    def say(self, weight: Weight, at: str, message: str, before: Json = None, after: Json = None) -> None:
        """List one difference."""
        ...

    def turn(self, turn: Turn, at: str, message: str, before: Json = None, after: Json = None) -> None:
        """List one that makes the set of values narrower, wider or other."""
        ...


def compare_objects(work: Findings, old: Node, new: Node, at: str) -> Iterator[tuple[Node, Node, str]]:
    """Compare the properties of two nodes, and hand out the pairs that both have."""
    before, after = as_object(old.get("properties")), as_object(new.get("properties"))
    for name in dict.fromkeys((*before, *after)):
        place = at + pointer("properties", name)
        if name not in after:
            _removed(work, name, before, after, place)
        elif name not in before:
            _added(work, name, old, new, place)
        else:
            _required(work, name, old, new, at)
            yield as_object(before[name]), as_object(after[name]), place
    yield from _others(work, old, new, at)


def _removed(work: Findings, name: str, before: dict[str, Any], after: dict[str, Any], place: str) -> None:
    same = [other for other in after if other not in before and canonical(after[other]) == canonical(before[name])]
    renamed = f"; {same[0]} looks like its new name" if same else ""
    said = (
        "callers that send it are no longer heard" if work.side is Side.INPUT else "callers that read it find nothing"
    )
    work.say(Weight.BREAKING, place, f"{name} was removed{renamed}: {said}", before[name], None)


def _added(work: Findings, name: str, old: Node, new: Node, place: str) -> None:
    schema = as_object(new.get("properties"))[name]
    needed = name in as_list(new.get("required"))
    if work.side is Side.INPUT:
        weight = Weight.BREAKING if needed else Weight.COMPATIBLE
        said = "is new and required: calls without it are refused" if needed else "is new and may be left out"
    else:
        closed = old.get("additionalProperties") is False
        weight = Weight.BREAKING if closed else Weight.COMPATIBLE
        said = "is new, and the old schema admits no other properties" if closed else "is new in the answer"
    work.say(weight, place, f"{name} {said}", None, schema)


def _required(work: Findings, name: str, old: Node, new: Node, at: str) -> None:
    before, after = name in as_list(old.get("required")), name in as_list(new.get("required"))
    if before is not after:
        turn = Turn.NARROWER if after else Turn.WIDER
        work.turn(turn, at + pointer("required"), f"{name} {'must be there' if after else 'may be missing'} now")


def _others(work: Findings, old: Node, new: Node, at: str) -> Iterator[tuple[Node, Node, str]]:
    """`additionalProperties`: absent and true are the same."""
    before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
    place = at + pointer("additionalProperties")
    if isinstance(before, dict) and isinstance(after, dict):
        yield before, after, place
    elif _open(before) is not _open(after) or (before is False) is not (after is False):
        narrower = after is False or (_open(before) and not _open(after))
        said = "other properties are no longer taken freely" if narrower else "other properties are taken more freely"
        work.turn(Turn.NARROWER if narrower else Turn.WIDER, place, said, before, after)


def _open(value: Json) -> bool:
    return value is True or value == {}
