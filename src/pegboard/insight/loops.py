"""Loops: one tool called again and again, and what kind of loop it is.

Only a loop over values that were known before it is a list in disguise. The other kinds look the same from afar: a
retry after a failure, a search that the model refines, a chain in which each result feeds the next call, and an agent
that is stuck and repeats itself.
"""

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, cast

from pegboard.insight.flow import Use
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord

INPUT = "input"
"""The source of values that no earlier call knew: the user's words, or a list that the model had in mind."""


class LoopKind(StrEnum):
    """What a run of calls of one tool is."""

    ONE = "one"
    LIST = "list"
    RETRY = "retry"
    REFINE = "refine"
    CHAINED = "chained"
    REPEAT = "repeat"
    LOST = "lost"

    __hash__ = str.__hash__  # an enum's own hash is a call into Python, and these are hashed a million times


class Loop(NamedTuple):
    """A loop of one run.

    Parameters:
        kind: what kind of loop.
        over: the names of the arguments that vary, sorted.
        sources: the tools whose results held the values, and `INPUT`; with how many calls each.
    """

    kind: LoopKind
    over: tuple[str, ...] = ()
    sources: tuple[tuple[str, int], ...] = ()


ONE = Loop(LoopKind.ONE)


def classify(calls: Sequence[CallRecord], uses: Sequence[Sequence[Use]], places: Sequence[int]) -> Loop:
    """What kind of loop some calls of a run are; all are of one tool.

    Parameters:
        calls: the run's calls.
        uses: the provenance of their arguments.
        places: where the loop's calls stand among them, ascending.
    """
    if len(places) == 1:
        return ONE
    rows = [calls[place].arguments for place in places]
    if any(row is None for row in rows):
        return Loop(LoopKind.LOST)
    over = _varying(rows)
    if not over:
        return Loop(LoopKind.REPEAT)
    if any(calls[place].ok is False for place in places[:-1]):
        return Loop(LoopKind.RETRY, over)
    return _by_values(calls, uses, places, over)


def _varying(rows: Sequence[Json]) -> tuple[str, ...]:
    if not all(isinstance(row, dict) for row in rows):
        return () if all(row == rows[0] for row in rows) else ("",)
    named = cast("Sequence[dict[str, Json]]", rows)
    names = sorted({name for row in named for name in row})
    return tuple(name for name in names if any(row.get(name) != named[0].get(name) for row in named))


def _by_values(
    calls: Sequence[CallRecord], uses: Sequence[Sequence[Use]], places: Sequence[int], over: tuple[str, ...]
) -> Loop:
    start, group = places[0], calls[places[0]].group
    kind = LoopKind.LIST
    sources: Counter[str] = Counter()
    unknown: dict[str, list[str]] = {}
    for place in places:
        together = group is not None and calls[place].group == group
        for use in uses[place]:
            if use.name not in over:
                continue
            if composed(use.text):
                kind = LoopKind.REFINE
            elif use.sources and use.sources[0] >= start and not use.said:
                return Loop(LoopKind.CHAINED, over)
            elif use.sources and use.sources[0] < start:
                sources[calls[use.sources[0]].tool] += 1
            else:
                sources[INPUT] += 1
                if not (together or use.said or use.argument is not None and use.argument < start):
                    unknown.setdefault(use.path, []).append(use.text)
    if any(_stepped(texts) for texts in unknown.values()):
        kind = LoopKind.REFINE
    return Loop(kind, over, tuple(sorted(sources.items())))


_PROSE = re.compile(r"\s\S+\s\S+\s\S+\s\S")
_FORMULA = re.compile(r"\s.*[=+*/<>(){};|]|[=+*/<>(){};|].*\s|\n")
_SEQUENCE = re.compile(r"[-+]?\d+(\.\d+)?|\d{4}-\d\d(-\d\d)?([T ][\d:.Z+-]*)?|\d\d?[/:.]\d\d?([/:.]\d+)?")


def composed(text: str) -> bool:
    """Whether a text was written for this call (prose, a formula, a query) rather than picked from somewhere."""
    return len(text) > 60 or bool(_PROSE.search(text)) or bool(_FORMULA.search(text))


def _stepped(texts: Sequence[str]) -> bool:
    """Whether values of unknown origin are numbers or dates: the model steps through them as it goes."""
    return all(_SEQUENCE.fullmatch(text) for text in texts)
