"""How findable each tool is: its rank for requests that it ought to be found by, and which tool stands before it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from pegboard.check.paraphrase import Request, held, requests
from pegboard.core import ToolSpec
from pegboard.index import Found, Hit, Index
from pegboard.schema.types import Json

DEPTH = 20
"""So far down a rank is looked for."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A tool that stands before the one that was looked for.

    Parameters:
        tool: its full name.
        words: the words of the request that it has and the other has not, or has in weightier places.
    """

    tool: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one request.

    Parameters:
        request: the request.
        rank: the tool's place, from 1; None where it was not among the first twenty.
        shadow: the tool at the top, where that is another.
    """

    request: Request
    rank: int | None
    shadow: Shadow | None = None


@dataclass(frozen=True, slots=True)
class Probed:
    """How findable one tool is.

    Parameters:
        tool: its full name.
        outcomes: its requests, in the order in which they were made.
    """

    tool: str
    outcomes: tuple[Outcome, ...]

    def found(self, within: int) -> float:
        """The share of its requests that find it among the first so many; 1 where there are none to ask."""
        return fmean(_within(outcome, within) for outcome in self.outcomes) if self.outcomes else 1.0

    @property
    def reciprocal(self) -> float:
        """The mean reciprocal rank of its requests, from 0 to 1 (Voorhees, TREC-8, 1999)."""
        return fmean(1 / one.rank if one.rank else 0.0 for one in self.outcomes) if self.outcomes else 1.0

    @property
    def shadows(self) -> tuple[Shadow, ...]:
        """Who stands before it, most often first, each with all the words that did it."""
        told: dict[str, list[str]] = {}
        times: dict[str, int] = {}
        for shadow in (outcome.shadow for outcome in self.outcomes if outcome.shadow):
            told.setdefault(shadow.tool, []).extend(shadow.words)
            times[shadow.tool] = times.get(shadow.tool, 0) + 1
        order = sorted(told, key=lambda tool: (-times[tool], tool))
        return tuple(Shadow(tool, tuple(dict.fromkeys(told[tool]))) for tool in order)

    def to_json(self, within: int) -> dict[str, Json]:
        """As plain data."""
        return {
            "tool": self.tool,
            "found": round(self.found(within), 3),
            "mean_reciprocal_rank": round(self.reciprocal, 3),
            "shadows": [{"tool": one.tool, "words": list(one.words)} for one in self.shadows],
            "requests": [_row(outcome) for outcome in self.outcomes],
        }


def probe(
    specs: Sequence[ToolSpec], index: Index, *, step: Callable[[int], object] | None = None
) -> tuple[Probed, ...]:
    """Ask a catalog for each of its tools, in words that it ought to be found by.

    No model is asked; the same catalog and engine give the same answers.

    Parameters:
        specs: the tools.
        index: the engine; the tools are put into it.
        step: hears the number of tools that are done.

    Returns:
        One entry for each tool, the least findable first.
    """
    index.update(put=specs)
    holders = held(specs)
    found: list[Probed] = []
    for number, spec in enumerate(specs, 1):
        found.append(Probed(str(spec.name), tuple(_asked(spec, requests(spec, holders), index))))
        if step is not None:
            step(number)
    return tuple(sorted(found, key=lambda one: (one.reciprocal, one.tool)))


def _asked(spec: ToolSpec, wanted: Iterable[Request], index: Index) -> Iterator[Outcome]:
    for request in wanted:
        answer = index.search(request.text, limit=DEPTH)
        rank = next((place for place, hit in enumerate(answer.hits, 1) if hit.name == spec.name), None)
        yield Outcome(request, rank, None if rank == 1 else _shadow(spec, answer))


def _shadow(spec: ToolSpec, answer: Found) -> Shadow | None:
    if not answer.hits:
        return None
    first = answer.hits[0]
    own = next((hit for hit in answer.hits if hit.name == spec.name), None)
    return Shadow(str(first.name), _advantage(first, own))


def _advantage(first: Hit, own: Hit | None) -> tuple[str, ...]:
    """The words that the winner has and the other has not; else those that it has in its name, or at all."""
    won = dict.fromkeys(word for words in first.matched.values() for word in words)
    lost = {word for words in own.matched.values() for word in words} if own is not None else set[str]()
    more = tuple(word for word in won if word not in lost)
    return more or first.matched.get("name", ()) or tuple(won)


def _within(outcome: Outcome, within: int) -> bool:
    return outcome.rank is not None and outcome.rank <= within


def _row(outcome: Outcome) -> dict[str, Json]:
    shadow = outcome.shadow
    return {
        "text": outcome.request.text,
        "origin": outcome.request.origin.value,
        "rank": outcome.rank,
        "shadowed_by": shadow.tool if shadow else None,
        "words": list(shadow.words) if shadow else [],
    }
