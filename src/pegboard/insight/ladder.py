"""Ladder gaps: capabilities that stand on one rung only."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pegboard.core import Rung, ToolSpec
from pegboard.insight.finding import Finding, Kind
from pegboard.insight.names import words
from pegboard.insight.offer import Offer
from pegboard.insight.support import Support
from pegboard.insight.traffic import Traffic

_RAW = frozenset(
    {"sql", "query", "statement", "code", "script", "command", "cmd", "expression", "graphql", "jql", "cql"}
)
_RAW_WORDS = frozenset({"execute", "exec", "run", "eval", "raw", "sql", "shell", "bash", "http", "graphql"})


def rung_of(spec: ToolSpec) -> Rung:
    """A tool's altitude: as declared; high for composites; low if its arguments are in a language of their own."""
    if spec.rung is not None:
        return spec.rung
    if Offer.composite(spec) in ("bundle", "chain"):
        return Rung.HIGH
    return Rung.LOW if _raw(spec) else Rung.MID


def _raw(spec: ToolSpec) -> bool:
    if spec.freeform is not None:
        return True
    properties = spec.properties
    named = {name.lower() for name, schema in properties.items() if _free_text(schema)}
    if {"method", "url"} <= {name.lower() for name in properties} or {"method", "path"} <= set(properties):
        return True
    return bool(named & _RAW) and bool(set(words(spec.name.name)) & _RAW_WORDS)


def _free_text(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    found = cast("Mapping[str, Any]", schema)
    return found.get("type", "string") == "string" and "enum" not in found


def ladder_gaps(traffic: Traffic, offer: Offer, runs: int) -> Iterator[Finding]:
    """Groups of tools that offer a capability raw only, or at intent level only.

    Parameters:
        traffic: all calls.
        offer: the tools on offer.
        runs: how many runs there were.
    """
    for group, specs in sorted(_groups(offer).items()):
        rungs = {rung: [spec for spec in specs if rung_of(spec) is rung] for rung in Rung}
        if rungs[Rung.LOW] and not rungs[Rung.MID] and not rungs[Rung.HIGH]:
            for spec in rungs[Rung.LOW]:
                yield _gap(spec, group, traffic, runs, "only_low")
        elif rungs[Rung.HIGH] and not rungs[Rung.MID] and not rungs[Rung.LOW]:
            for spec in rungs[Rung.HIGH]:
                if not any(offer.find(tool) for tool in Offer.uses(spec)):
                    yield _gap(spec, group, traffic, runs, "only_high")


def _groups(offer: Offer) -> dict[str, list[ToolSpec]]:
    """The tools by what they are about: their category, group or namespace."""
    groups: dict[str, list[ToolSpec]] = {}
    for spec in offer.specs:
        named = spec.category or spec.meta.get("group") or spec.name.namespace
        groups.setdefault(str(named), []).append(spec)
    return groups


def _gap(spec: ToolSpec, group: str, traffic: Traffic, runs: int, gap: str) -> Finding:
    found = traffic.tools.get(str(spec.name)) or traffic.tools.get(spec.name.name)
    support = found.support if found else Support()
    about = f"of {group!r} " if group else ""
    seen = f"called in {support.runs} of {runs} runs" if runs else "no traces were read"
    text = {
        "only_low": (
            f"{spec.name} is the only access {about}and takes {_language(spec)} ({seen}): add a structured tool (mid) "
            "and one for the commonest intent (high), both of which call it."
        ),
        "only_high": (
            f"{spec.name} does the whole task {about}and nothing beneath it is on offer ({seen}): keep the tools that "
            "it calls available for the cases that it does not cover."
        ),
    }[gap]
    return Finding(
        kind=Kind.LADDER_GAP,
        tools=(str(spec.name),),
        reason=text,
        runs=support.runs,
        tasks=support.tasks,
        examples=tuple(support.example_runs),
        confidence=0.8 if spec.rung is not None else 0.5,
        details={"gap": gap, "group": group},
    )


def _language(spec: ToolSpec) -> str:
    raw = [name for name in spec.properties if name.lower() in _RAW]
    return f"free text in {', '.join(raw)}" if raw else "a raw request"
