"""PB3 and PB5 of pairs: tools that cannot be told apart, and tools that are one."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from pegboard.check.finding import Finding, Severity
from pegboard.check.lexicon import DESTROYING
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset
from pegboard.check.words import Said, alike, is_verb, lemma, name_words, nouns_of, telling, verb_of
from pegboard.core import ToolSpec
from pegboard.index.text import stems
from pegboard.schema.types import as_object, canonical

SAME = 0.8
"""From this likeness on, what two descriptions say beyond the names is the same."""
ENOUGH = 8
"""So many telling words beyond its name a description needs before its likeness to another means something."""

Pair = tuple[ToolSpec, ToolSpec]


class TooAlike(Rule):
    """Two tools whose descriptions are too alike to choose by."""

    code, name, severity = "PB311", "descriptions-too-alike", Severity.WARNING
    explanation = Explanation(
        why="Model and search both go by descriptions. Where two say the same, the choice is a guess.",
        bad="boxplot: Show statistical summaries by category. / violin: Show statistical summaries by category.",
        good="boxplot: Show median and quartiles by category. / violin: Show the shape of each "
        "category's distribution, "
        "where quartiles hide it.",
        remedy="Say in each what the other is not: when to use it rather than the other.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each tool that has such a twin before it."""
        told: set[str] = set()
        for one, two in _pairs(among):
            a, b = among.said[str(one.name)], among.said[str(two.name)]
            if str(two.name) in told:
                continue
            if _indistinct(one, two, a, b) and near_duplicate(one, two) is None:
                told.add(str(two.name))
                shared = _listed(a, b)
                said = f"Its description says the same as that of {one.name.name}: nothing tells when to use which."
                yield self.finding(two, said, pointer="/description", others=(str(one.name),), details=shared)


class NearDuplicate(Rule):
    """Two tools that differ in nothing but one optional parameter."""

    code, name, severity = "PB501", "near-duplicate", Severity.WARNING
    explanation = Explanation(
        why="Each costs its definition in every request, and the model has to choose between two right answers.",
        bad="list_pods(), list_pods_in_namespace(namespace)",
        good="list_pods(namespace?)",
        remedy="Make them one tool with the parameter left optional. Of two foreign ones take one out with `deny`.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each tool that is another one with a parameter more or less."""
        told: set[str] = set()
        for one, two in _pairs(among):
            parameter = None if str(two.name) in told else near_duplicate(one, two)
            if parameter is not None:
                told.add(str(two.name))
                more = f"the parameter {parameter}" if parameter else "their names"
                said = f"It differs from {one.name.name} in {more} only: one tool would do."
                yield self.finding(two, said, others=(str(one.name),), details={"parameter": parameter})


class NoWhen(Rule):
    """A tool that resembles another and does not say when to use it."""

    code, name, severity = "PB312", "when-to-use-not-said", Severity.INFO
    explanation = Explanation(
        why="Where two tools do nearly the same, a model needs the reason for choosing, not only what each does.",
        bad="search_issues: Search issues. / list_issues: List issues.",
        good="search_issues: Search issues by words. To list all of a repository, use list_issues.",
        remedy="Add a sentence to each: when it fits, and which one fits otherwise (or a hint: `instead`).",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each tool of one object whose verb means nearly what another's does."""
        for one, two in _pairs(among):
            if (
                not _rivals(among.said[str(one.name)], among.said[str(two.name)])
                or near_duplicate(one, two) is not None
            ):
                continue
            for spec, other in ((one, two), (two, one)):
                if not _guides(spec, other):
                    said = f"{other.name.name} does nearly the same; it does not say when to use which."
                    yield self.finding(spec, said, pointer="/description", others=(str(other.name),))


def near_duplicate(one: ToolSpec, two: ToolSpec) -> str | None:
    """The one parameter in which two tools of one purpose differ, "" for none at all; None where they are two tools."""
    left, right = _inputs(one), _inputs(two)
    more = [name for name in {**left, **right} if left.get(name) != right.get(name)]
    if len(more) > 1 or one.effects is not two.effects or any(name in left and name in right for name in more):
        return None
    short, long = sorted((name_words(one.name.name), name_words(two.name.name)), key=len)
    extra = list((Counter(long) - Counter(short)).elements())
    if Counter(short) - Counter(long) or any(is_verb(word) for word in extra) or one.output != two.output:
        return None
    if lemma(verb_of(short) or "") in DESTROYING:
        return None  # what is gone by one call and not by the other is no matter of an option
    if not more:
        return "" if left and _contained(one, two) else None
    spoken = set(stems(name_words(more[0]))) & set(stems(extra))
    joined = left.keys() & right.keys() and _JOINTS & set(extra)
    return more[0] if spoken or joined else None


_JOINTS = {"with", "in", "by", "for", "from", "of"}


def _contained(one: ToolSpec, two: ToolSpec) -> bool:
    """Whether nearly all that the shorter description says stands in the longer, and neither is on its way out."""
    short, long = sorted((frozenset(telling(spec.description)) for spec in (one, two)), key=len)
    leaving = any("deprecat" in spec.description.casefold() or spec.deprecated is not None for spec in (one, two))
    return len(short) > 3 and not leaving and len(short & long) >= 0.7 * len(short) and alike(short, long) >= 0.5


def _inputs(spec: ToolSpec) -> dict[str, str]:
    """What each parameter demands, words left out."""
    return {name: canonical(_demands(node)) for name, node in spec.properties.items()}


def _demands(node: Any) -> Any:
    words = ("description", "title", "examples", "default", "$comment")
    return {key: value for key, value in as_object(node).items() if key not in words}


EACH = 150
"""Up to so many tools of a namespace each is compared with each; of more, those that share a rare word."""
RARE = 12
"""A word of so many tools at most is rare."""


def _pairs(among: Toolset) -> Iterator[Pair]:
    """The pairs to compare; versions of one tool, and tools on their way out, are meant to be alike."""
    for specs in among.namespaces.values():
        staying = [spec for spec in specs if spec.deprecated is None]
        found = combinations(staying, 2) if len(staying) <= EACH else _sharing(staying, among)
        yield from ((one, two) for one, two in found if _unversioned(one) != _unversioned(two))


def _unversioned(spec: ToolSpec) -> str:
    return _VERSION.sub("", spec.name.name)


_VERSION = re.compile(r"[_-]?v\d+$", re.IGNORECASE)


def _sharing(specs: Iterable[ToolSpec], among: Toolset) -> Iterator[Pair]:
    """The pairs of a large namespace that share a rare word, each once, in order."""
    holders: dict[str, list[int]] = {}
    listed = list(specs)
    for place, spec in enumerate(listed):
        said = among.said[str(spec.name)]
        for word in {*said.name, *said.text}:
            holders.setdefault(word, []).append(place)
    rare = (places for places in holders.values() if len(places) <= RARE)
    found = {pair for places in rare for pair in combinations(places, 2)}
    return ((listed[one], listed[two]) for one, two in sorted(found))


def _indistinct(one: ToolSpec, two: ToolSpec, a: Said, b: Said) -> bool:
    """Whether two descriptions say the same beyond the names, of one verb; equal texts always do."""
    if one.description.strip() and one.description.strip() == two.description.strip():
        return True
    if a.verb != b.verb:
        return False
    enough = min(len(a.beyond), len(b.beyond)) >= ENOUGH
    return (len(a.text) > 1 and a.text == b.text) or (enough and alike(a.beyond, b.beyond) >= SAME)


def _listed(a: Said, b: Said) -> dict[str, Any]:
    return {"shared_words": sorted(a.text & b.text), "own_words": [sorted(b.text - a.text), sorted(a.text - b.text)]}


_KIN: tuple[frozenset[str], ...] = (
    frozenset({"search", "find", "list", "query", "lookup", "locate", "browse"}),
    frozenset({"get", "read", "fetch", "retrieve", "show", "view", "describe", "inspect"}),
    frozenset({"create", "add", "make", "new", "insert"}),
    frozenset({"update", "edit", "modify", "change", "patch", "set"}),
    frozenset({"delete", "remove", "drop", "destroy", "erase"}),
    frozenset({"run", "execute", "invoke"}),
)
"""Verbs that mean nearly the same of one object."""


def _rivals(a: Said, b: Said) -> bool:
    """Whether two names are of one object, with different verbs of one family."""
    objects = [frozenset(stems(nouns_of(said.name))) for said in (a, b)]
    verbs = [lemma(verb_of(said.name) or "") for said in (a, b)]
    return (
        bool(objects[0])
        and objects[0] == objects[1]
        and verbs[0] != verbs[1]
        and any(verbs[0] in kin and verbs[1] in kin for kin in _KIN)
    )


def _guides(spec: ToolSpec, other: ToolSpec) -> bool:
    """Whether a tool says when to use it, or points to the other."""
    text = spec.description.casefold()
    hinted = any(hint.tool in (str(other.name), other.name.name) for hint in spec.hints)
    cues = (
        "use this",
        "use it",
        "when ",
        "if you",
        "instead",
        "rather than",
        "prefer",
        "best for",
        "useful",
        "for finding",
    )
    return hinted or other.name.name.casefold() in text or any(cue in text for cue in cues)


LIKENESS = (TooAlike, NearDuplicate, NoWhen)
