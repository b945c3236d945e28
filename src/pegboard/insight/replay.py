"""Replaying suggestions on runs: what they would have saved.

Greedy from left to right, the longest sequence first, within one stretch between user messages, and never over a
failed call or a loop whose values were not known before it. A composite takes the turn of its first call; a turn is
only saved if every call that was made in it falls away.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from pegboard.errors import PegboardError
from pegboard.insight.finding import Finding, Kind
from pegboard.insight.loops import LoopKind
from pegboard.insight.shape import Shape, Stretch
from pegboard.schema.types import Json


class Cut(NamedTuple):
    """What one finding saved in one place: calls and turns, and the tools of the calls that fell away."""

    finding: str
    calls: int
    turns: int
    dropped: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run with suggestions applied.

    Parameters:
        calls: its calls before and after.
        turns: its turns before and after.
        cuts: what each application saved, in order.
    """

    calls: tuple[int, int]
    turns: tuple[int, int]
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to apply.

    Parameters:
        chains: the finding by the sequence of tools that it replaces.
        batches: the finding by the tool whose lists it takes.
        pairs: the finding by two tools that it calls side by side with the same arguments.
    """

    chains: Mapping[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    batches: Mapping[str, str] = field(default_factory=dict[str, str])
    pairs: Mapping[frozenset[str], str] = field(default_factory=dict[frozenset[str], str])

    @property
    def findings(self) -> tuple[str, ...]:
        """The findings that it applies, each once."""
        return tuple(dict.fromkeys((*self.chains.values(), *self.batches.values(), *self.pairs.values())))

    def lengths(self) -> dict[str, tuple[int, ...]]:
        """By first tool, the lengths of the sequences that begin with it, longest first."""
        found: dict[str, set[int]] = {}
        for chain in self.chains:
            found.setdefault(chain[0], set()).add(len(chain))
        return {tool: tuple(sorted(lengths, reverse=True)) for tool, lengths in found.items()}


def plan_of(findings: Iterable[Finding]) -> Plan:
    """The plan that applies every finding that can be replayed."""
    return plan_from_json([finding.to_json() for finding in findings])


def plan_from_json(findings: Json) -> Plan:
    """The plan of findings as `pegboard insight --json` prints them: the whole answer, or its list of findings.

    Raises:
        PegboardError: it is neither.
    """
    rows: Json = cast("Mapping[str, Json]", findings).get("findings") if isinstance(findings, Mapping) else findings
    if not isinstance(rows, list):
        raise PegboardError(
            "These are no findings: expected the JSON of `pegboard insight --json`, or its list `findings`.",
            next_step="Write it with: pegboard insight FILES --json > findings.json",
        )
    chains: dict[tuple[str, ...], str] = {}
    batches: dict[str, str] = {}
    pairs: dict[frozenset[str], str] = {}
    for row in cast("list[dict[str, Any]]", rows):
        tools, name = tuple[str, ...](row.get("tools", ())), str(row.get("id", ""))
        match row.get("kind"):
            case Kind.BUNDLE.value:
                for chain in (tools, *map(tuple[str, ...], row.get("replaces", ()))):
                    chains.setdefault(chain, name)
            case Kind.BATCH.value if tools:
                batches.setdefault(tools[0], name)
            case Kind.FAN_OUT.value:
                pairs.setdefault(frozenset(tools), name)
            case _:
                pass
    return Plan(chains, batches, pairs)


def replay(shape: Shape, plan: Plan) -> Outcome:
    """Apply a plan to a run.

    Parameters:
        shape: the run's shape.
        plan: what to apply.
    """
    replayer = Replayer(plan)
    return replayer.run(shape)


class Replayer:
    """Applies one plan to many runs.

    Parameters:
        plan: what to apply.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lengths = plan.lengths()

    def run(self, shape: Shape) -> Outcome:
        """Apply the plan to a run of this shape."""
        cuts = self.cuts(shape)
        calls = sum(block.size for stretch in shape for block in stretch)
        turns = sum(block.turns - (not block.fresh) for stretch in shape for block in stretch)
        after = calls - sum(cut.calls for cut in cuts), turns - sum(cut.turns for cut in cuts)
        return Outcome((calls, after[0]), (turns, after[1]), tuple(cuts))

    def cuts(self, shape: Shape) -> list[Cut]:
        """What applying the plan to a run of this shape cuts away, in order."""
        return [cut for stretch in shape for cut in self._cuts(stretch)]

    def _cuts(self, stretch: Stretch) -> Iterator[Cut]:
        place = 0
        while place < len(stretch):
            length, finding = self._match(stretch, place)
            if finding is not None:
                yield _cut(finding, stretch, place, length)
            place += length

    def _match(self, stretch: Stretch, place: int) -> tuple[int, str | None]:
        """How many blocks the best finding replaces from here on, and which finding it is."""
        block = stretch[place]
        if not block.sound:
            return 1, None
        for length in self._lengths.get(block.tool, ()):
            blocks = stretch[place : place + length]
            finding = self._plan.chains.get(tuple([each.tool for each in blocks]))
            if finding is not None and all(each.sound for each in blocks):
                return length + self._together(stretch, place + length, listed=True), finding
        if self._together(stretch, place + 1):
            return 2, self._plan.pairs[frozenset((block.tool, stretch[place + 1].tool))]
        if block.kind is LoopKind.LIST:
            return 1, self._plan.batches.get(block.tool)
        return 1, None

    def _together(self, stretch: Stretch, place: int, *, listed: bool = False) -> bool:
        """Whether a block asks the same as the one before it: once each, or as a list where one of them takes one."""
        if not self._plan.pairs or place >= len(stretch):
            return False
        block, other = stretch[place - 1], stretch[place]
        if frozenset((block.tool, other.tool)) not in self._plan.pairs or not (other.same and other.sound):
            return False
        listed = listed or block.tool in self._plan.batches or other.tool in self._plan.batches
        return block.size == other.size == 1 or listed


def _cut(finding: str, stretch: Stretch, place: int, length: int) -> Cut:
    blocks = stretch[place : place + length]
    turns = blocks[0].turns + sum(block.turns - (not block.fresh) for block in blocks[1:]) - 1
    end = place + length
    if turns and end < len(stretch) and not stretch[end].fresh:
        turns -= 1
    dropped = tuple((block.tool, block.size - (index == 0)) for index, block in enumerate(blocks))
    return Cut(finding, sum(block.size for block in blocks) - 1, turns, dropped)
