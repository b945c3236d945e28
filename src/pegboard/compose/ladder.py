"""The ladder: at which altitude each tool stands, and where a capability has a rung missing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pegboard.core import Rung, ToolSpec
from pegboard.schema.types import as_list

_BY_COMPOSITE = {"batch": Rung.MID, "bundle": Rung.HIGH, "chain": Rung.HIGH, "scatter": Rung.HIGH, "agent": Rung.HIGH}
_BY_SOURCE = {"openapi": Rung.LOW, "graphql": Rung.LOW, "sql": Rung.LOW, "builtin": Rung.LOW}
_VERBS = frozenset(
    (
        "get",
        "list",
        "find",
        "search",
        "read",
        "fetch",
        "query",
        "create",
        "add",
        "new",
        "insert",
        "make",
        "update",
        "set",
        "edit",
        "patch",
        "replace",
        "put",
        "delete",
        "remove",
        "drop",
        "purge",
        "send",
        "open",
        "close",
        "start",
        "stop",
        "run",
        "execute",
        "check",
        "describe",
        "show",
        "lookup",
        "batch",
        "upload",
        "download",
        "sample",
        "bulk",
        "like",
        "many",
        "all",
        "for",
        "with",
        "from",
        "to",
        "of",
        "the",
        "a",
        "an",
    )
)


@dataclass(frozen=True, slots=True)
class Capability:
    """What some tools are about, with the tools of each rung.

    Parameters:
        namespace: their namespace.
        subject: the word that their names share, such as `customer`.
        rungs: the tools' names by rung.
        gap: what is missing, or None.
    """

    namespace: str
    subject: str
    rungs: Mapping[Rung, tuple[str, ...]]
    gap: str | None = None


def rung_of(spec: ToolSpec) -> Rung:
    """A tool's altitude: declared, else by what it is made of or where it comes from (traces-and-runtype 8, R6.1).

    Raw API or SQL is low; reshaped, mapped and batch tools, Python and MCP tools are in the middle; bundles, chains,
    scatter-gathers and agents are high.
    """
    if spec.rung is not None:
        return spec.rung
    composite = str(spec.meta.get("pegboard/composite", ""))
    return _BY_COMPOSITE.get(composite) or _BY_SOURCE.get(spec.source.kind, Rung.MID)


def subject_of(spec: ToolSpec) -> str:
    """What a tool is about: the noun of its name in the singular, else its category."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", spec.name.name)
    words = [word for word in re.split(r"[^A-Za-z0-9]+", spaced.lower()) if word]
    words = words[: words.index("by")] if "by" in words[1:] else words
    nouns = [_singular(word) for word in words if word not in _VERBS and not re.fullmatch(r"v?\d+", word)]
    return nouns[-1] if nouns else (spec.category or spec.name.name).lower()


def ladder(specs: Iterable[ToolSpec]) -> list[Capability]:
    """The capabilities of a catalog, with their rungs and gaps, in order of namespace and subject.

    A tool that a higher one calls, or replaces, counts as the lower rung of the higher one's capability, whatever its
    name; so two subjects that one bundle spans are no gaps.
    """
    found = list(specs)
    by_name = {str(spec.name): spec for spec in found}
    used = {name for spec in found for name in _parts(spec)}
    groups: dict[tuple[str, str], list[ToolSpec]] = {}
    for spec in found:
        groups.setdefault((spec.name.namespace, subject_of(spec)), []).append(spec)
    return [_capability(key, groups[key], by_name, used) for key in sorted(groups)]


def gaps(specs: Iterable[ToolSpec]) -> list[Capability]:
    """The capabilities that have a rung missing."""
    return [capability for capability in ladder(specs) if capability.gap is not None]


def _capability(
    key: tuple[str, str], specs: Sequence[ToolSpec], by_name: Mapping[str, ToolSpec], used: set[str]
) -> Capability:
    rungs = {
        rung: tuple(str(spec.name) for spec in specs if rung_of(spec) is rung)
        for rung in Rung
        if any(rung_of(spec) is rung for spec in specs)
    }
    return Capability(*key, rungs, _gap(specs, rungs, by_name, used))


def _gap(
    specs: Sequence[ToolSpec], rungs: Mapping[Rung, tuple[str, ...]], by_name: Mapping[str, ToolSpec], used: set[str]
) -> str | None:
    if set(rungs) == {Rung.LOW} and not any(str(spec.name) in used for spec in specs):
        return "only raw tools; nothing above them does the task"
    if set(rungs) == {Rung.HIGH} and not any(name in by_name for spec in specs for name in _parts(spec)):
        return "only intent-level tools; nothing beneath them for the unusual case"
    return None


def _parts(spec: ToolSpec) -> list[str]:
    return [str(name) for name in (*as_list(spec.meta.get("pegboard/uses")), *spec.replaces)]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
