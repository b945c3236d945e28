"""Tools that stand in for one another: candidates for one tool with a parameter, or for asking both at once."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, cast

from pegboard.insight.finding import Finding, Kind, lower_bound, percent, supported
from pegboard.insight.names import opposite, same_verb, variants
from pegboard.insight.offer import Offer
from pegboard.insight.sequences import Steps
from pegboard.insight.support import Support
from pegboard.insight.thresholds import Thresholds
from pegboard.insight.traffic import Traffic
from pegboard.insight.wiring import Flows
from pegboard.schema.types import canonical


def fan_outs(steps: Steps, offer: Offer, limits: Thresholds) -> Iterator[Finding]:
    """Tools that agents call one after the other with the same arguments: one call could ask both.

    Parameters:
        steps: which tools follow which.
        offer: the tools on offer.
        limits: what counts.
    """
    for (first, second), pair in sorted(steps.pairs.items()):
        enough = pair.support.runs >= limits.runs and pair.support.tasks >= limits.tasks
        back = steps.pairs.get((second, first))
        if not enough or pair.same < limits.same * pair.times or back is not None and back.times > pair.times:
            continue
        share = steps.share(first, second)
        if share < limits.share or not (offer.reads(first) and offer.reads(second)) or opposite(first, second):
            continue
        yield Finding(
            kind=Kind.FAN_OUT,
            tools=(first, second),
            reason=(
                f"{second} follows {first} with the same arguments in {pair.same} of {pair.times} cases, in "
                f"{pair.support.runs} runs of {pair.support.tasks} tasks: ask both in one call and merge the answers."
            ),
            confidence=lower_bound(pair.same, pair.times),
            details={"same": pair.same, "times": pair.times, "p": round(share, 3)},
            **supported(pair.support),
        )


def merges(steps: Steps, traffic: Traffic, flows: Flows, offer: Offer, limits: Thresholds) -> Iterator[Finding]:
    """Siblings with the same arguments: one tool with one parameter more says the same.

    Parameters:
        steps: which tools follow which.
        traffic: all calls.
        flows: the arguments that were sent, for tools whose definitions are not known.
        offer: the tools on offer.
        limits: what counts.
    """
    signatures = _signatures(traffic, flows, offer, limits)
    by_signature: dict[str, list[str]] = {}
    for tool, signature in sorted(signatures.items()):
        by_signature.setdefault(signature, []).append(tool)
    for signature, tools in sorted(by_signature.items()):
        for one, other in combinations(tools, 2):
            if variants(one, other) and same_verb(one, other) and offer.reads(one) == offer.reads(other):
                yield _merge(one, other, signature, steps, traffic, offer)


def _signatures(traffic: Traffic, flows: Flows, offer: Offer, limits: Thresholds) -> dict[str, str]:
    """What each tool takes, as text; tools without arguments have none."""
    if offer.specs:
        declared = {str(spec.name): _declared(spec.properties) for spec in offer.specs}
        return {tool: signature for tool, signature in declared.items() if signature}
    return {
        tool: canonical(sorted(names))
        for tool, names in flows.names().items()
        if traffic.tools[tool].support.runs >= limits.runs
    }


def _declared(properties: Mapping[str, Any]) -> str:
    typed = {name: _type(schema) for name, schema in properties.items()}
    return canonical(typed) if typed else ""


def _type(schema: Any) -> Any:
    return cast("Mapping[str, Any]", schema).get("type", "any") if isinstance(schema, Mapping) else "any"


def _merge(one: str, other: str, signature: str, steps: Steps, traffic: Traffic, offer: Offer) -> Finding:
    support = Support()
    for tool in (one, other):
        spec = offer.find(tool)
        found = traffic.tools.get(tool) or (traffic.tools.get(spec.name.name) if spec else None)
        if found is not None:
            support.merge(found.support)
    beside = sum(pair.same for key in ((one, other), (other, one)) if (pair := steps.pairs.get(key)) is not None)
    seen = f" Agents call them side by side with the same arguments {beside} times." if beside else ""
    calls = sum(found.calls for tool in (one, other) if (found := traffic.tools.get(tool)) is not None)
    return Finding(
        kind=Kind.MERGE,
        tools=(one, other),
        reason=(
            f"{one} and {other} are siblings and take exactly the same arguments: one tool with a parameter for the "
            f"difference is easier to choose.{seen}"
        ),
        runs=support.runs,
        tasks=support.tasks,
        examples=tuple(support.example_runs),
        confidence=0.5 + 0.5 * lower_bound(2 * beside, calls) if calls else 0.5,
        details={"arguments": signature, "side_by_side": beside, "share": percent(2 * beside, calls)},
    )
