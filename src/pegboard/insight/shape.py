"""The shape of a run: its stretches between user messages, with loops collapsed into one block each.

Shapes repeat where runs differ, and they hold all that mining sequences and replaying suggestions needs, so the
evidence for both is a bag of shapes. Calls made inside other calls form stretches of their own.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.insight.flow import Origin, Use
from pegboard.insight.loops import ONE, Loop, LoopKind, classify, composed
from pegboard.trace.record import CallRecord, Run

REACH = 5
"""How many blocks back a value is followed when it feeds another block."""


class Block(NamedTuple):
    """Calls of one tool in a row.

    Parameters:
        tool: the tool.
        size: how many calls.
        kind: what kind of loop they are.
        failed: whether one of them failed.
        fresh: whether its first call was made by another model message than the call before it.
        turns: how many model messages made its calls.
        fed: how many blocks back (up to `REACH`, within the stretch) the blocks stand that first gave a value to it.
        same: whether each call has the same arguments as one of the block before.
        ready: whether all its values were known before the block before it, and one of them from a result.
        made: whether the model made up a value on the way: no text of its own, but something to pick. Known only
            where the user's words are.
    """

    tool: str
    size: int
    kind: LoopKind
    failed: bool
    fresh: bool
    turns: int
    fed: tuple[int, ...]
    same: bool
    ready: bool = False
    made: bool = False

    @property
    def sound(self) -> bool:
        """Whether a composite could stand for it: nothing failed, and no value was made up on the way."""
        return not self.failed and self.kind in (LoopKind.ONE, LoopKind.LIST)


Stretch = tuple[Block, ...]
Shape = tuple[Stretch, ...]


class Span(NamedTuple):
    """A block's place in its run: its calls, and the loop they are."""

    places: tuple[int, ...]
    loop: Loop


def stretches(calls: Sequence[CallRecord]) -> list[list[list[int]]]:
    """The places of a run's calls by stretch and block: sibling calls between two user messages, by tool."""
    found: list[list[list[int]]] = []
    open_in: dict[tuple[str | None, int], list[list[int]]] = {}
    stretch: list[list[int]] | None = None
    last: tuple[str | None, int] | None = None
    for place, call in enumerate(calls):
        key = (call.parent, call.segment)
        if key != last:
            last, stretch = key, open_in.get(key)
        if stretch is None:
            stretch = open_in[key] = []
            found.append(stretch)
        if stretch and calls[stretch[-1][-1]].tool == call.tool:
            stretch[-1].append(place)
        else:
            stretch.append([place])
    return found


def shape_of(run: Run, uses: Sequence[Sequence[Use]]) -> tuple[Shape, list[list[Span]]]:
    """A run's shape, and where each block of it stands.

    Parameters:
        run: the run.
        uses: the provenance of its arguments.
    """
    turns = turn_numbers(run.calls)
    spans: list[list[Span]] = []
    shape: list[Stretch] = []
    for stretch in stretches(run.calls):
        row = [
            Span(tuple(places), ONE if len(places) == 1 else classify(run.calls, uses, places)) for places in stretch
        ]
        spans.append(row)
        shape.append(tuple(_blocks(run, uses, turns, row)))
    return tuple(shape), spans


def turn_numbers(calls: Sequence[CallRecord]) -> list[int]:
    """Which model message made each call: as recorded, else one a call, parallel calls together."""
    found: list[int] = []
    groups: dict[str, int] = {}
    for place, call in enumerate(calls):
        turn = call.turn
        if turn is None:
            turn = groups.setdefault(call.group, -place) if call.group is not None else -place
        found.append(turn)
    return found


def _blocks(run: Run, uses: Sequence[Sequence[Use]], turns: Sequence[int], row: Sequence[Span]) -> Iterator[Block]:
    calls, known = run.calls, run.user_messages is not None
    before: int | None = None
    for index, (places, loop) in enumerate(row):
        first, last = places[0], places[-1]
        one = len(places) == 1
        givers, ready, made = _glance(uses, places, row[index - 1].places[0] if index else 0, known)
        yield Block(
            calls[first].tool,
            len(places),
            loop.kind,
            calls[first].ok is False if one else any([calls[place].ok is False for place in places]),
            before is None or before != turns[first],
            1 if one else len({turns[place] for place in places}),
            _fed(givers, row, index) if givers else (),
            index > 0 and _same(calls, row[index - 1].places, places),
            index > 0 and ready,
            made,
        )
        before = turns[last]


_NEW, _SHORT = Origin.NEW, Origin.SHORT


def _glance(
    uses: Sequence[Sequence[Use]], places: Sequence[int], start: int, known: bool
) -> tuple[set[int], bool, bool]:
    """What a block takes, in one look at its values.

    Returns:
        the calls in whose results a value of it first appeared; whether it could have run beside the block that began
        at `start`; whether the model made up a value, told only where the user's words are `known`.
    """
    givers: set[int] = set()
    given, beside, made = False, True, False
    for place in places:
        for use in uses[place]:
            if use.sources and news(use):
                givers.add(use.sources[0])
            if use.sources and use.sources[0] < start:
                given = True
            elif not (use.said or use.origin is _SHORT or use.argument is not None and use.argument < start):
                beside = False
            if known and use.origin is _NEW and not made:
                made = not composed(use.text)
    return givers, given and beside, made


def _fed(givers: set[int], row: Sequence[Span], index: int) -> tuple[int, ...]:
    """How far back the blocks stand that gave a value to this block."""
    earliest = max(0, index - REACH)
    return tuple([index - back for back in range(earliest, index) if not givers.isdisjoint(row[back].places)])


def news(use: Use) -> bool:
    """Whether a value was first seen in a result: neither the user nor an earlier argument had it before."""
    return bool(use.sources) and not use.said and (use.argument is None or use.argument > use.sources[0])


def _same(calls: Sequence[CallRecord], before: Sequence[int], places: Sequence[int]) -> bool:
    if len(before) > _COMPARED or len(places) > _COMPARED or not calls[places[0]].arguments:
        return False
    asked = [calls[earlier].arguments for earlier in before]
    return all([calls[place].arguments and calls[place].arguments in asked for place in places])


_COMPARED = 32
