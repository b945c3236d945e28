"""Bundle candidates: sequences that recur across runs and tasks without a branch between their steps.

A step follows another by habit if it does so nearly whenever anything follows, and hands a value on; where no value
flows, only an order that is never broken counts, as a precondition would make it. Same arguments side by side make
alternatives, not steps. Of the sequences that hold together the one that saves most is the bundle; its parts are its
optional head and tail, and sequences that differ from it in their first step alone are other entries to it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pegboard.insight.finding import Finding, Kind, lower_bound, percent, supported
from pegboard.insight.names import variants
from pegboard.insight.offer import Offer
from pegboard.insight.sequences import Pair, Sequences, Steps, count_chains, orders
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.wiring import Flows, Wire

Chain = tuple[str, ...]


class Bond(StrEnum):
    """Why one step belongs to the next: a value flows, the order is fixed, or both were ready to run at once."""

    FLOW = "flow"
    ORDER = "order"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Link:
    """Two steps that hold together.

    Parameters:
        bond: what holds them.
        share: P, of all outcomes.
        going_on: Pc, of those that go on.
        sure: the lower bound of Pc.
    """

    bond: Bond
    share: float
    going_on: float
    sure: float


def links(sequences: Sequences, steps: Steps, offer: Offer, limits: Thresholds) -> dict[tuple[str, str], Link]:
    """The pairs of tools that hold together.

    Parameters:
        sequences: the bag of shapes.
        steps: what is counted in it.
        offer: the tools on offer.
        limits: what counts.
    """
    plain = {key: pair for key, pair in steps.pairs.items() if _plain(steps, key, pair, limits)}
    found = {key: _link(steps, key, Bond.FLOW) for key, pair in plain.items() if _flows(steps, key, pair, limits)}
    often = [key for key, pair in plain.items() if key not in found and _often(pair, limits)]
    sure = [key for key in often if steps.share_going_on(*key) >= limits.going_on]
    for key, order in orders(sequences, sure).items():
        if order.preceded >= limits.preceded and order.reversed <= limits.reversed:
            found[key] = _link(steps, key, Bond.ORDER)
    for key in often:
        going_on, ready = steps.share_going_on(*key) >= limits.going_on_wired, plain[key].ready / plain[key].times
        if key not in found and going_on and ready >= limits.ready and all(map(offer.reads, key)):
            found[key] = _link(steps, key, Bond.READY)
    return dict(sorted(found.items()))


def _link(steps: Steps, key: tuple[str, str], bond: Bond) -> Link:
    first, second = key
    sure = lower_bound(steps.pairs[key].times, steps.times[first] - steps.last[first])
    return Link(bond, steps.share(first, second), steps.share_going_on(first, second), sure)


def _plain(steps: Steps, key: tuple[str, str], pair: Pair, limits: Thresholds) -> bool:
    """Whether the second follows often enough, as a step of its own, and succeeds."""
    return (
        steps.share(*key) >= limits.share
        and pair.same < limits.same * pair.times
        and pair.failed < limits.failed * pair.times
        and pair.made <= limits.made * pair.times
    )


def _flows(steps: Steps, key: tuple[str, str], pair: Pair, limits: Thresholds) -> bool:
    if pair.support.runs < limits.runs or pair.support.tasks < limits.tasks:
        return False
    going_on, fed = steps.share_going_on(*key), pair.fed / pair.times
    sure = going_on >= limits.going_on and fed >= limits.fed
    return sure or going_on >= limits.going_on_wired and fed >= limits.wired


def _often(pair: Pair, limits: Thresholds) -> bool:
    return min(pair.support.runs, pair.support.tasks) >= limits.ordered


@dataclass(slots=True)
class Family:
    """A bundle and what belongs to it.

    Parameters:
        main: its steps.
        chains: every sequence that it stands for: itself, parts of it, and itself with another head or tail.
        variant_of: the bundle to which it is another entry, if it is one.
    """

    main: Chain
    chains: list[Chain]
    variant_of: Chain | None = None


def families(chains: Mapping[Chain, Support]) -> list[Family]:
    """Sort sequences into bundles: each link belongs to the one that saves most, and each sequence to one bundle.

    Parameters:
        chains: every sequence that holds together, with its support.
    """
    picked: list[Family] = []
    covered: set[tuple[str, str]] = set()
    for chain in sorted(chains, key=lambda chain: (-chains[chain].runs * (len(chain) - 1), chain)):
        if covered.isdisjoint(_links_of(chain)):
            picked.append(Family(chain, []))
            covered.update(_links_of(chain))
    for family in picked:
        family.variant_of = next((other.main for other in picked if _other_entry(family.main, other.main)), None)
        whole = (family.main[0], *family.variant_of[1:]) if family.variant_of else family.main
        family.main = whole if whole in chains else family.main
    for family in list(picked):
        picked = _entered(family, picked, chains)
    for chain in sorted(chains):
        _home(chain, picked).chains.append(chain)
    return picked


_ENTERED = 0.8
"""From this share of its runs on, the sibling steps before a bundle are its ways in."""


def _entered(family: Family, picked: list[Family], chains: Mapping[Chain, Support]) -> list[Family]:
    """The bundles, with sibling first steps joined to one that is hardly ever run without any of them."""
    before = [each for each in picked if len(each.main) == 2 and each.main[1] == family.main[0]]
    whole = [chain for each in before if (chain := (each.main[0], *family.main)) in chains]
    if len(whole) < 2 or len(whole) < len(before) or not all(variants(whole[0][0], chain[0]) for chain in whole[1:]):
        return picked
    if sum(chains[chain].runs for chain in whole) < _ENTERED * chains[family.main].runs:
        return picked
    first, *others = sorted(whole, key=lambda chain: (-chains[chain].runs, chain))
    rest = [each for each in picked if each is not family and each not in before]
    return [Family(first, []), *(Family(chain, [], first) for chain in others), *rest]


def _links_of(chain: Chain) -> set[tuple[str, str]]:
    return set(zip(chain, chain[1:], strict=False))


def _other_entry(chain: Chain, main: Chain) -> bool:
    """Whether a sequence is the beginning of another one but for its first step, and that step a sibling of its."""
    return (
        chain != main and chain[1:] == main[1 : len(chain)] and variants(chain[0], main[0]) and len(chain) <= len(main)
    )


def _home(chain: Chain, picked: list[Family]) -> Family:
    """The bundle with which a sequence shares most links; of several the one that has its first link."""
    own = _links_of(chain)
    first = chain[:2]

    def fit(family: Family) -> tuple[int, bool]:
        return len(own & _links_of(family.main)), first in _links_of(family.main) and family.main[0] == chain[0]

    return max(picked, key=fit)


def bundles(sequences: Sequences, steps: Steps, flows: Flows, offer: Offer, limits: Thresholds) -> Iterator[Finding]:
    """The sequences worth a tool of their own, those that save most first.

    Parameters:
        sequences: the bag of shapes.
        steps: what is counted in it.
        flows: how values flow between tools.
        offer: the tools on offer.
        limits: what counts.
    """
    held = links(sequences, steps, offer, limits)
    chains = {
        chain: support
        for chain, support in count_chains(sequences, held).items()
        if support.runs >= limits.runs and support.tasks >= limits.tasks
    }
    total = sum(support.runs for support in sequences.bag.values())
    found = families(chains) if chains else []
    for family in found:
        yield _finding(family, found, Mined(steps, held, chains, flows, limits, total))


@dataclass(frozen=True, slots=True)
class Mined:
    """What a bundle is described from."""

    steps: Steps
    held: Mapping[tuple[str, str], Link]
    chains: Mapping[Chain, Support]
    flows: Flows
    limits: Thresholds
    runs: int


def _finding(family: Family, found: list[Family], mined: Mined) -> Finding:
    main, support = family.main, mined.chains[family.main]
    bonds = [mined.held[link] for link in zip(main, main[1:], strict=False)]
    share, going_on = min(bond.share for bond in bonds), min(bond.going_on for bond in bonds)
    entries = [main[0], *(other.main[0] for other in found if other.variant_of == main)]
    details: dict[str, Any] = {
        "wiring": list(wiring(main, mined.flows, mined.limits)),
        "inputs": list(inputs(main, mined.flows, mined.limits)),
        "steps": _steps(main, entries, mined),
        "p": round(share, 3),
        "pc": round(going_on, 3),
        "bond": [bond.bond.value for bond in bonds],
        "replaces": [list(chain) for chain in sorted(family.chains, key=lambda chain: (-len(chain), chain))],
    }
    if family.variant_of:
        details["variant_of"] = Finding(kind=Kind.BUNDLE, tools=family.variant_of, reason="").id
    return Finding(
        kind=Kind.BUNDLE,
        tools=main,
        reason=_reason(main, support, bonds, mined),
        confidence=min(bond.sure for bond in bonds),
        details=details,
        **supported(support),
    )


def _reason(main: Chain, support: Support, bonds: list[Link], mined: Mined) -> str:
    held = " and ".join(_HELD[bond] for bond in Bond if any(link.bond is bond for link in bonds))
    return (
        f"{' > '.join(main)} runs in this order, loops collapsed and with no user message between, in {support.runs} "
        f"of {mined.runs} runs ({percent(support.runs, mined.runs)}) and {support.tasks} tasks. Of all times that a "
        f"step occurs, the next follows in at least {min(bond.share for bond in bonds):.0%}; of those that go on, in "
        f"at least {min(bond.going_on for bond in bonds):.0%}; {held}."
    )


_HELD = {
    Bond.FLOW: "a value flows from step to step",
    Bond.ORDER: "the order is never broken",
    Bond.READY: "all values of the later step were known before the earlier one",
}


def _steps(main: Chain, entries: list[str], mined: Mined) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place, tool in enumerate(main):
        times = mined.steps.times[tool]
        row: dict[str, Any] = {"tool": tool, "list": mined.steps.looped[tool] >= mined.limits.listed * times}
        if place == 0 and len(entries) > 1:
            row["alternatives"] = entries[1:]
        rows.append(row)
    return rows


def wiring(main: Chain, flows: Flows, limits: Thresholds) -> Iterator[dict[str, Any]]:
    """Which argument of which step is filled from which earlier step, and how often it was.

    Parameters:
        main: the steps.
        flows: how values flow between tools.
        limits: what counts.
    """
    for place, taker in enumerate(main):
        for path in flows.paths(taker):
            source = _source(main[:place], taker, path, flows, limits)
            if source is not None:
                yield {"step": place, "tool": taker, "argument": path, **source}


def inputs(main: Chain, flows: Flows, limits: Thresholds) -> Iterator[dict[str, Any]]:
    """Which arguments no earlier step fills: what the composite takes as input.

    Parameters:
        main: the steps.
        flows: how values flow between tools.
        limits: what counts.
    """
    for place, taker in enumerate(main):
        for path in flows.paths(taker):
            if _source(main[:place], taker, path, flows, limits) is None:
                origins = flows.arguments[taker][path].origins
                yield {"step": place, "tool": taker, "argument": path, "origins": origins}


def _source(before: Chain, taker: str, path: str, flows: Flows, limits: Thresholds) -> dict[str, Any] | None:
    """The earlier step whose result, or failing that whose argument, had most of the values."""
    best: tuple[float, int] | None = None
    for place, giver in enumerate(before):
        share = flows.given[giver, taker, path] / max(1, flows.together[giver, taker])
        if share >= limits.fed and (best is None or share > best[0]):
            best = (share, place)
    if best is not None:
        wire = (before[best[1]], taker, path)
        origin = {"step": best[1], "tool": wire[0], "result": _place(flows, wire), "pattern": _pattern(flows, wire)}
        return {"from": origin, "share": round(best[0], 3)}
    return _shared(before, taker, path, flows, limits)


def _shared(before: Chain, taker: str, path: str, flows: Flows, limits: Thresholds) -> dict[str, Any] | None:
    for place, giver in enumerate(before):
        together = flows.together[giver, taker]
        for argument in flows.paths(giver):
            share = flows.shared[(giver, taker, path), argument] / max(1, together)
            if share >= limits.fed:
                return {"from": {"step": place, "tool": giver, "argument": argument}, "share": round(share, 3)}
    return None


def _place(flows: Flows, wire: Wire) -> str | None:
    places = flows.places.get(wire)
    return min(places, key=lambda place: (-places[place], place)) if places else None


def _pattern(flows: Flows, wire: Wire) -> str | None:
    _, taker, path = wire
    return flows.arguments[taker][path].pattern.expression
