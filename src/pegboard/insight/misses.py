"""Search misses: queries to a tool search whose answer did not hold the tool that was then called."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self, cast

from pegboard.insight.bottom import BottomK
from pegboard.insight.finding import Finding, Kind, lower_bound, supported
from pegboard.insight.names import words
from pegboard.insight.offer import Offer
from pegboard.insight.scalars import WORD, result_text
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.view import View
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord

SEARCHES = frozenset({"tool_search", "find_tool_by_intent", "search_tools", "find_tools", "tool_search_tool"})
"""The bare names of tools that search for tools."""
_QUERIES = 4096


@dataclass(slots=True)
class MissCount:
    """One query and the tool that it did not find.

    Parameters:
        support: the runs and tasks.
        times: how often.
    """

    support: Support = field(default_factory=Support)
    times: int = 0

    def merge(self, other: Self) -> None:
        """Take in another part's count."""
        self.support.merge(other.support)
        self.times += other.times


@dataclass(slots=True)
class Misses:
    """Searches for tools, and those that missed.

    Parameters:
        searches: how many searches.
        found: after how many the next tool called stood in the answer.
        missed: by query and tool (joined by a line break), the misses.
    """

    searches: int = 0
    found: int = 0
    missed: BottomK[MissCount] = field(default_factory=lambda: BottomK[MissCount](_QUERIES))

    def observe(self, view: View) -> None:
        """Count the searches of one run."""
        calls = view.run.calls
        if not any(map(is_search, {call.tool for call in calls})):
            return
        seen: set[str] = set()
        known: set[str] = set()
        for place, call in enumerate(calls):
            if is_search(call.tool):
                self.searches += 1
                answer = result_text(call.result)
                known.update(words_and_names(answer))
                target = next((later.tool for later in calls[place + 1 :] if not is_search(later.tool)), None)
                if target is None or target in seen:
                    continue
                if bare(target) in known:
                    self.found += 1
                else:
                    self._miss(view, query_of(call), target)
            else:
                seen.add(call.tool)

    def _miss(self, view: View, query: str, target: str) -> None:
        count = self.missed.at(f"{query}\n{target}", MissCount)
        if count is not None:
            count.times += 1
            count.support.add(view.ref)

    def merge(self, other: Self) -> None:
        """Take in the searches of another part of the traces."""
        self.searches += other.searches
        self.found += other.found
        self.missed.merge(other.missed)


@lru_cache(maxsize=4096)
def is_search(tool: str) -> bool:
    """Whether a tool searches for tools."""
    return bare(tool) in SEARCHES


def bare(tool: str) -> str:
    """A tool's bare name, whatever stands before it."""
    return tool.rpartition(".")[2].rpartition("__")[2]


def words_and_names(answer: str) -> set[str]:
    """The names that stand in a search answer, bare too."""
    found = set(WORD.findall(answer))
    return found | {bare(name) for name in found}


def query_of(call: CallRecord) -> str:
    """The words of a search: its first text argument."""
    arguments: Json = call.arguments
    values = cast("dict[str, Json]", arguments).values() if isinstance(arguments, dict) else (arguments,)
    return next((" ".join(value.split())[:200] for value in values if isinstance(value, str)), "")


def search_misses(misses: Misses, offer: Offer, limits: Thresholds) -> Iterator[Finding]:
    """The tools that searches did not find, with the words that would have found them.

    Parameters:
        misses: the searches.
        offer: the tools on offer.
        limits: what counts.
    """
    by_tool: dict[str, list[tuple[str, MissCount]]] = {}
    for key, count in misses.missed.items():
        query, _, tool = key.partition("\n")
        by_tool.setdefault(tool, []).append((query, count))
    for tool, rows in sorted(by_tool.items()):
        support = Support()
        for _, count in rows:
            support.merge(count.support)
        if support.runs >= limits.runs:
            yield _finding(tool, rows, support, misses, offer)


def _finding(tool: str, rows: list[tuple[str, MissCount]], support: Support, misses: Misses, offer: Offer) -> Finding:
    rows = sorted(rows, key=lambda row: (-row[1].times, row[0]))
    times = sum(count.times for _, count in rows)
    spec = offer.find(tool)
    own = set(words(bare(tool))) | ({word.lower() for word in WORD.findall(spec.description)} if spec else set[str]())
    asked: Counter[str] = Counter()
    for query, count in rows:
        asked.update({word.lower(): count.times for word in set(WORD.findall(query)) if len(word) > 2})
    missing = sorted((word for word in asked if word not in own), key=lambda word: (-asked[word], word))[:8]
    return Finding(
        kind=Kind.SEARCH_MISS,
        tools=(tool,),
        reason=(
            f"{times} searches that led to {tool} did not show it, such as {rows[0][0]!r}: add the words "
            f"{', '.join(missing[:4]) or 'of these queries'} to its description or aliases."
        ),
        confidence=lower_bound(times, max(times, misses.searches)),
        details={"queries": [[query, count.times] for query, count in rows[:10]], "words": missing},
        **supported(support),
    )
