"""Composites without proof: a bundle, batch or chain whose sequence no trace shows, or that no run picks."""

from collections.abc import Iterator

from pegboard.core import ToolSpec
from pegboard.insight.batches import Loops
from pegboard.insight.finding import Finding, Kind
from pegboard.insight.loops import LoopKind
from pegboard.insight.offer import Offer
from pegboard.insight.sequences import Sequences
from pegboard.insight.shape import Stretch
from pegboard.insight.traffic import Traffic


def unproven(sequences: Sequences, loops: Loops, traffic: Traffic, offer: Offer, runs: int) -> Iterator[Finding]:
    """Composites on offer that the traces do not bear out.

    Parameters:
        sequences: the shapes of all runs.
        loops: all loops.
        traffic: all calls.
        offer: the tools on offer.
        runs: how many runs there were.
    """
    for spec in offer.specs:
        kind, uses = Offer.composite(spec), _names(offer, spec)
        if kind not in ("bundle", "batch", "chain") or not uses:
            continue
        shown = _loops_of(loops, uses) if kind == "batch" else _runs_with(sequences, uses)
        picked = offer.called(spec, traffic.tools)
        if picked or shown and not runs:
            continue
        what = (
            f"the loop over {uses[0][0]}" if kind == "batch" else f"the sequence {' > '.join(name[0] for name in uses)}"
        )
        told = f"{what} occurs in {shown} of them" if shown else f"{what} occurs in none of them"
        yield Finding(
            kind=Kind.UNPROVEN,
            tools=(str(spec.name),),
            reason=(
                f"No run of {runs} picked the {kind} {spec.name}, and {told}: "
                + ("its name or description does not reach the agent." if shown else "nothing shows that it is needed.")
            ),
            runs=shown,
            confidence=1 - 0.98**runs,
            details={"composite": kind, "uses": [name[0] for name in uses], "shown": shown},
        )


def _names(offer: Offer, spec: ToolSpec) -> list[tuple[str, ...]]:
    """Each tool that a composite uses, under the names by which traces may show it."""
    found: list[tuple[str, ...]] = []
    for tool in Offer.uses(spec):
        known = offer.find(tool)
        found.append((tool, *((str(known.name), known.name.name) if known else ())))
    return found


def _loops_of(loops: Loops, uses: list[tuple[str, ...]]) -> int:
    found = (loops.of(name).get(LoopKind.LIST) for name in dict.fromkeys(uses[0]))
    return max((count.support.runs for count in found if count is not None), default=0)


def _runs_with(sequences: Sequences, uses: list[tuple[str, ...]]) -> int:
    return sum(
        support.runs for shape, support in sequences.bag.items() if any(_in_order(stretch, uses) for stretch in shape)
    )


def _in_order(stretch: Stretch, uses: list[tuple[str, ...]]) -> bool:
    wanted = iter(uses)
    names = next(wanted)
    for block in stretch:
        if block.tool in names:
            following = next(wanted, None)
            if following is None:
                return True
            names = following
    return False
