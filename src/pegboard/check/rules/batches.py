"""PB5 of single items: a caller who has a list, and a tool that takes one at a time."""

import re
from collections.abc import Iterator, Mapping

from pegboard.check.finding import Finding, Severity
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset, is_composite
from pegboard.check.words import lemma, name_words, nouns_of
from pegboard.core import ToolSpec
from pegboard.index.text import stems
from pegboard.schema.types import as_list, as_object

_LOOP = re.compile(
    r"\b(?:call|use|invoke|run|repeat)\s+(?:this|it)(?:\s+(?:tool|function))?\s+(?:once\s+)?(?:for\s+each|for\s+every|"
    r"per\s+\w+|repeatedly|multiple\s+times|several\s+times|in\s+a\s+loop|again\s+for)\b"
    r"|\bonly\s+one\s+\w+\s+per\s+call\b",
    re.IGNORECASE,
)
_MANY = frozenset({"list", "search", "find", "query"})
_ONE = frozenset({"get", "read", "fetch", "retrieve", "delete", "remove", "update", "archive"})
_ID = re.compile(r"(?:^|_)(?:id|ids|uid|uuid|key|number|name|path|url|email|slug|sha)$")


class NoBatch(Rule):
    """A tool that is called item by item over a list, and has no form for many."""

    code, name, severity = "PB508", "no-batch-form", Severity.INFO
    explanation = Explanation(
        why="A loop over fifty items costs fifty calls and turns, and a budget of ten calls ends it after ten.",
        bad="get_user(user_id), and list_users that returns fifty of them",
        good="get_users(user_ids), at most 50, with a status for each",
        remedy='`batch(get_user, over="user_id")` in Python, or `[batch."crm.get_users"]` in the config, also for '
        "foreign tools. `pegboard insight` counts the loops in your traces.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where the tool itself says that it is called in a loop, or where its list stands beside it."""
        if is_composite(spec) or _takes_many(spec):
            return
        loop = _LOOP.search(spec.description)
        if loop and not _has_batch(spec, among):
            yield self.finding(spec, f"It wants to be called item by item ({loop[0]!r}): offer a batch form.")
            return
        lister = _lister(spec, among)
        if lister is not None and not _has_batch(spec, among):
            said = f"Who has a list from {lister.name.name} calls it once for each item: offer a batch form."
            mild = Severity.WARNING if among.is_own(spec) else None
            yield self.finding(spec, said, others=(str(lister.name),), severity=mild)


def _lister(spec: ToolSpec, among: Toolset) -> ToolSpec | None:
    """The tool that lists what this one takes by its id: `list_users` of `get_user(user_id)`."""
    words = name_words(spec.name.name)
    if not any(lemma(word) in _ONE for word in words) or len(_item_parameters(spec)) != 1:
        return None
    noun = _noun(words)
    for other in among.namespaces[spec.name.namespace]:
        theirs = name_words(other.name.name)
        lists = any(lemma(word) in _MANY for word in theirs) and any(word.endswith("s") for word in theirs)
        if other is not spec and noun and lists and _noun(theirs) == noun and not _takes_same(spec, other):
            return other
    return None


def _item_parameters(spec: ToolSpec) -> list[str]:
    """The required parameters that name an item; a tool of one such and nothing else that differs is looped over."""
    required = [str(name) for name in as_list(spec.input.get("required"))]
    return required if len(required) == 1 and _ID.search("_".join(name_words(required[0]))) else []


def _takes_same(spec: ToolSpec, other: ToolSpec) -> bool:
    """Whether the lister wants the very parameter that names the item: then it lists what is inside one."""
    return any(name in as_list(other.input.get("required")) for name in _item_parameters(spec))


def _noun(words: list[str]) -> frozenset[str]:
    small = ("all", "by", "with", "for", "in", "of", "the", "a", "an", "multiple", "many", "batch", "api")
    return frozenset(stems(word for word in nouns_of(words) if word not in small))


def _takes_many(spec: ToolSpec) -> bool:
    return spec.batch is not None or any(_is_list(node) for node in spec.properties.values())


def _is_list(node: object) -> bool:
    kinds = as_object(node).get("type") if isinstance(node, Mapping) else None
    return kinds == "array" or "array" in as_list(kinds)


def _has_batch(spec: ToolSpec, among: Toolset) -> bool:
    """Whether another tool of the set does the same for many."""
    noun = _noun(name_words(spec.name.name))
    return any(
        other is not spec and _takes_many(other) and noun & _noun(name_words(other.name.name))
        and bool(_verbs(other) & _verbs(spec) & _ONE)
        for other in among.specs
    )  # fmt: skip


def _verbs(spec: ToolSpec) -> set[str]:
    return {lemma(word) for word in name_words(spec.name.name)}


BATCHES = (NoBatch,)
