"""The shape of a run: its stretches between user messages, with loops collapsed into one block each.

Shapes repeat where runs differ, and they hold all that mining sequences and replaying suggestions needs, so the
evidence for both is a bag of shapes. Calls made inside other calls form stretches of their own.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

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
    stretch: list[list[int]] = []
    parent, segment, tool = "", -1, None
    for place, call in enumerate(calls):
        if call.segment != segment or call.parent != parent:
            parent, segment = call.parent, call.segment
            known = open_in.get((parent, segment))
            if known is None:
                known = open_in[parent, segment] = []
                found.append(known)
            stretch, tool = known, calls[known[-1][-1]].tool if known else None
        if call.tool == tool:
            stretch[-1].append(place)
        else:
            stretch.append([place])
            tool = call.tool
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
            _make(Span, (tuple(places), ONE if len(places) == 1 else classify(run.calls, uses, places)))
            for places in stretch
        ]
        spans.append(row)
        shape.append(tuple(_blocks(run, uses, turns, row)))
    return tuple(shape), spans


def turn_numbers(calls: Sequence[CallRecord]) -> list[int]:
    """Which model message made each call: as recorded, else one a call, parallel calls together."""
    found: list[int] = []
    if None not in (turns := [call.turn for call in calls]):
        return cast("list[int]", turns)
    groups: dict[str, int] = {}
    for place, call in enumerate(calls):
        turn = call.turn
        if turn is None:
            turn = groups.setdefault(call.group, -place) if call.group is not None else -place
        found.append(turn)
    return found


def _blocks(run: Run, uses: Sequence[Sequence[Use]], turns: Sequence[int], row: Sequence[Span]) -> list[Block]:
    calls, known = run.calls, run.user_messages is not None
    found: list[Block] = []
    turn: int | None = None
    before = row[0].places
    for index, (places, loop) in enumerate(row):
        first, size = places[0], len(places)
        call = calls[first]
        givers, ready, made = _glance(uses, places, before[0] if index else 0, known)
        failed = call.ok is False if size == 1 else any([calls[place].ok is False for place in places])
        block = (
            call.tool,
            size,
            loop.kind,
            failed,
            turn is None or turn != turns[first],
            1 if size == 1 else len({turns[place] for place in places}),
            _fed(givers, row, index) if givers else (),
            index > 0 and _same(calls, before, places),
            index > 0 and ready,
            made,
        )
        found.append(_make(Block, block))
        turn, before = turns[places[-1]], places
    return found


# Reading a member from its class, and making a named tuple by its name, cost more than all else that is done here.
_NEW, _SHORT = Origin.NEW, Origin.SHORT
_make = cast("Callable[[type[Any], tuple[Any, ...]], Any]", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]


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
        for _, _, text, origin, sources, argument, said in uses[place]:
            if sources:
                giver = sources[0]
                if not said and (argument is None or argument > giver):
                    givers.add(giver)
                if giver < start:
                    given = True
                    continue
            elif known and origin is _NEW and not made:
                made = not composed(text)
            if not (said or origin is _SHORT or argument is not None and argument < start):
                beside = False
    return givers, given and beside, made


def _fed(givers: set[int], row: Sequence[Span], index: int) -> tuple[int, ...]:
    """How far back the blocks stand that gave a value to this block."""
    earliest = max(0, index - REACH)
    return tuple([index - back for back in range(earliest, index) if not givers.isdisjoint(row[back].places)])


def _same(calls: Sequence[CallRecord], before: Sequence[int], places: Sequence[int]) -> bool:
    arguments = calls[places[0]].arguments
    if not arguments or len(before) > _COMPARED or len(places) > _COMPARED:
        return False
    if len(places) == 1 == len(before):
        return arguments == calls[before[0]].arguments
    asked = [calls[earlier].arguments for earlier in before]
    return all([calls[place].arguments and calls[place].arguments in asked for place in places])


_COMPARED = 32
