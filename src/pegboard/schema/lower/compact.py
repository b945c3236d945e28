"""Compaction by value: a schema that exceeds its room is made smaller, as little as it takes.

Descriptions are shortened before anything goes, but not below half of their text while a less valuable part can go
instead. Then parts go, the deep and optional first (`prune.steps`), as few as it takes; what still has room comes back.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from pegboard.schema.lower.node import Node, every
from pegboard.schema.lower.prune import SUMMARY, Step, depths, steps, take
from pegboard.schema.lower.refs import into_definitions, prune
from pegboard.schema.lower.work import Work
from pegboard.schema.text import shorten, size
from pegboard.schema.types import Json, as_list, as_object, pointer

SHARES = (0.52, 0.6, 0.7, 0.8, 0.4, 0.3, 0.2, 0.1, 0.0)
"""The shares of the description text that are tried to be kept: more than half, and less where that is too much.

Variants that are joined share their texts, so that it can take a larger share of what is left to keep half of all.
"""

HALF = 0.5

RUNS = 400
"""Lowerings that one search may take; fewer for a very large schema."""

SHORTEST = 12
"""Characters of a description below which it says nothing."""

SINGLE = 40
"""Descriptions and parts that are looked at one by one."""

_WEIGHTS = (1.0, 1.0, 0.8, 0.6, 0.5)
"""How much of the common cap a description gets, by the depth of its node."""

Emit = Callable[[Callable[[Work], None]], dict[str, Any] | None]
"""Lowers the author's schema after a preparation of its tree, and gives the wire form."""


def bytes_of(value: Json) -> int:
    """The size of a JSON value as compact UTF-8; of an absent one nothing."""
    if value is None:
        return 0
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"))


@dataclass
class Compaction:
    """One search for the smallest change that fits.

    Parameters:
        root: the planted tree of the author's schema; it is not changed.
        emit: lowers it after a preparation.
        room: bytes that the wire form may take.
    """

    root: Node
    emit: Emit
    room: int
    _sizes: dict[tuple[tuple[Step, ...], int], int] = field(default_factory=dict[tuple[tuple[Step, ...], int], int])

    def __post_init__(self) -> None:
        self.depths = depths(self.root)
        self.texts = {
            node.at: node["description"]
            for node in every(self.root)
            if node.at in self.depths and "description" in node
        }
        self.whole = sum(map(len, self.texts.values()))
        self.longest = max((size(text, "bytes") for text in self.texts.values()), default=0)
        self.runs = max(60, min(RUNS, RUNS * 2000 // max(len(every(self.root)), 1)))

    def preparation(self) -> Callable[[Work], None]:
        """What makes the schema fit, or comes nearest to it."""
        best: tuple[float, tuple[Step, ...], int] | None = None
        for order, share in product((steps(self.root, join=True), steps(self.root, join=False)), SHARES):
            chosen = tuple(order[: self._fewest(order, share)])
            if not self._fits(chosen, self._cap_of(chosen, share)):
                continue
            chosen = self._brought_back(chosen, share)
            cap = self._widest(chosen, self._cap_of(chosen, share))
            told = self._told(chosen, cap)
            if told >= HALF * self.whole:
                return self._filled(chosen, cap)
            if best is None or told > best[0]:
                best = (told, chosen, cap)
        if best is None:
            return self._preparation(tuple(steps(self.root, join=True)), 0, 0)
        return self._filled(best[1], best[2])

    def _filled(self, chosen: tuple[Step, ...], cap: int) -> Callable[[Work], None]:
        """Use what room is left for single descriptions, and for the words that stand for what went."""
        more: dict[str, int] = {}
        for at in sorted(self.texts, key=lambda at: (self.depths[at], at))[:SINGLE]:
            limit = self._limit(at, cap)
            if size(self.texts[at], "bytes") > limit:
                fitting = self._largest(
                    limit, size(self.texts[at], "bytes"), lambda n, at=at: self._run(chosen, cap, {**more, at: n})
                )
                more[at] = fitting
        summary = (
            self._largest(SUMMARY, 2 * self.room, lambda n: self._run(chosen, cap, more, n)) if chosen else SUMMARY
        )
        return self._preparation(chosen, cap, summary, more)

    def _run(self, chosen: tuple[Step, ...], cap: int, more: dict[str, int], summary: int = SUMMARY) -> bool:
        self.runs -= 1
        return self.runs > 0 and bytes_of(self.emit(self._preparation(chosen, cap, summary, more))) <= self.room

    def _largest(self, low: int, high: int, fits: Callable[[int], bool]) -> int:
        """The largest number from `low`, which fits, to `high` that fits."""
        if fits(high):
            return high
        while low < high - 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _preparation(
        self, chosen: tuple[Step, ...], cap: int, summary: int = SUMMARY, more: Mapping[str, int] = {}
    ) -> Callable[[Work], None]:
        def prepare(work: Work) -> None:
            into_definitions(work)
            for node in every(work.root):
                if node.at in self.texts and "description" in node:
                    _shorten(node, more.get(node.at, self._limit(node.at, cap)), work)
            take(work, chosen, summary)
            prune(work)

        return prepare

    def _limit(self, at: str, cap: int) -> int:
        return int(cap * _WEIGHTS[min(self.depths.get(at, 9), len(_WEIGHTS) - 1)])

    def _size(self, chosen: tuple[Step, ...], cap: int) -> int:
        key = (chosen, cap)
        if key not in self._sizes:
            if len(self._sizes) >= self.runs:
                return self.room + 1
            self._sizes[key] = bytes_of(self.emit(self._preparation(chosen, cap)))
        return self._sizes[key]

    def _fits(self, chosen: tuple[Step, ...], cap: int) -> bool:
        return self._size(chosen, cap) <= self.room

    def _left(self, chosen: tuple[Step, ...]) -> dict[str, str]:
        """The descriptions of what the steps leave."""
        gone = tuple(step.at + "/" for step in chosen if step.kind == "stub")
        keys = {f"{step.at}{pointer('properties', step.key)}" for step in chosen if step.kind == "leaf"}
        return {at: text for at, text in self.texts.items() if not at.startswith(gone) and at not in keys}

    def _told(self, chosen: tuple[Step, ...], cap: int) -> int:
        """Characters of description text in what is sent."""
        return _words_in(self.emit(self._preparation(chosen, cap)))

    def _cap_of(self, chosen: tuple[Step, ...], share: float) -> int:
        """The smallest cap that keeps a share of the description text."""
        goal = share * sum(size(text, "bytes") for text in self.texts.values())
        left = self._left(chosen)
        low, high = 0, 2 * self.longest
        while low < high:
            middle = (low + high) // 2
            kept = sum(size(shorten(text, self._limit(at, middle)), "bytes") for at, text in left.items())
            low, high = (low, middle) if kept >= goal else (middle + 1, high)
        return low

    def _widest(self, chosen: tuple[Step, ...], floor: int) -> int:
        """The largest cap, not below a floor that fits, with which the schema fits."""
        return self._largest(floor, max(2 * self.longest, floor), lambda cap: self._fits(chosen, cap))

    def _fewest(self, order: list[Step], share: float) -> int:
        """How many steps it takes with a share of the text kept; all where none are enough."""
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            chosen = tuple(order[:middle])
            low, high = (low, middle) if self._fits(chosen, self._cap_of(chosen, share)) else (middle + 1, high)
        return low

    def _brought_back(self, chosen: tuple[Step, ...], share: float) -> tuple[Step, ...]:
        """The steps without those that were not needed, the most valuable parts tried first."""
        for step in reversed(chosen[-SINGLE:]):
            fewer = tuple(other for other in chosen if other is not step)
            if self._fits(fewer, self._cap_of(fewer, share)):
                chosen = fewer
        return chosen


def _shorten(node: Node, limit: int, work: Work) -> None:
    text = node["description"]
    short = shorten(text, limit)
    if short == text:
        return
    if len(short.strip(" …")) >= SHORTEST:
        node["description"] = short
        work.change(node, f"the description is shortened from {size(text, 'bytes')} to {size(short, 'bytes')} bytes")
    else:
        del node["description"]
        work.lose(node, "description", text)


def _words_in(schema: Json) -> int:
    if isinstance(schema, list):
        return sum(map(_words_in, as_list(schema)))
    node = as_object(schema)
    own = node.get("description")
    return (len(own) if isinstance(own, str) else 0) + sum(_words_in(child) for child in node.values())
