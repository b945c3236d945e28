"""PB1: names that providers take, that no other tool has, and that say something."""

import re
from collections import Counter
from collections.abc import Iterator

from pegboard.check.finding import Finding, Severity
from pegboard.check.lexicon import word_set
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset
from pegboard.check.words import is_verb, name_words
from pegboard.core import ToolSpec

LONGEST = 64
"""Characters that every provider takes in a tool's name (OpenAI, Anthropic, Bedrock)."""

_PORTABLE = re.compile(r"[A-Za-z0-9_-]+")
_EMPTY = frozenset(
    {"api", "tool", "tools", "mcp", "function", "func", "fn", "cmd", "endpoint", "method", "util", "utils"}
)
_VAGUE = word_set(
    """action data do exec execute function generic handle handler helper input invoke item main manage misc object
    operation output perform process request resource run something stuff task thing tool util work"""
)
_DERIVED = frozenset({"openapi", "graphql"})
"""Kinds of sources whose documents were not written with tools in mind: the board names their tools."""
_META = frozenset({"tool_search", "tool_describe", "tool_call", "list_available_tools", "find_tool_by_intent"})
_STYLES = {
    "snake_case": re.compile(r"[a-z0-9]+(_[a-z0-9]+)+"),
    "kebab-case": re.compile(r"[a-z0-9]+(-[a-z0-9]+)+"),
    "camelCase": re.compile(r"[a-z0-9]+([A-Z][a-z0-9]*)+"),
    "PascalCase": re.compile(r"([A-Z][a-z0-9]+){2,}"),
}


class NotPortable(Rule):
    """A name that a provider refuses: longer than 64 characters, or with others than letters, digits, `_` and `-`."""

    code, name, severity = "PB101", "name-not-portable", Severity.WARNING
    explanation = Explanation(
        why="OpenAI, Anthropic and Bedrock refuse such a name, and with it the whole request. Pegboard gives the tool "
        "another wire name; agents, logs and documents then speak of it under two names.",
        bad="files.read/v2 (beta)",
        good="read_file",
        remedy="Rename your tool. For a foreign one nothing is to be done: its wire name is legal and stays the same.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each reason."""
        bare = spec.name.name
        mild = Severity.INFO if spec.source.kind in _DERIVED else None
        odd = "".join(dict.fromkeys(_PORTABLE.sub("", bare)))
        if odd:
            yield self.finding(
                spec, f"The name holds {odd!r}; providers take letters, digits, _ and - only.", severity=mild
            )
        if len(bare) > LONGEST:
            yield self.finding(spec, f"The name has {len(bare)} characters; providers take {LONGEST}.", severity=mild)


class LooksLikeAnother(Rule):
    """Two names that differ in case or separators only."""

    code, name, severity = "PB102", "names-look-alike", Severity.WARNING
    explanation = Explanation(
        why="A model that writes `get-user` for `get_user` calls another tool than it meant, and nobody notices.",
        bad="get_user, getUser",
        good="get_user, get_own_profile",
        remedy="Rename one of yours; take one of two foreign ones out with `deny`, or give its source a `prefix`.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each namesake of an earlier tool in the same namespace."""
        for specs in among.namespaces.values():
            first: dict[str, ToolSpec] = {}
            for spec in specs:
                other = first.setdefault("".join(name_words(spec.name.name)), spec)
                if other is not spec and other.name.name != spec.name.name:
                    said = f"The name differs from {other.name.name} in case or separators only."
                    yield self.finding(spec, said, others=(str(other.name),))


class SaysNothing(Rule):
    """A name of nothing but words that any tool could have, such as `run` or `process_data`."""

    code, name, severity = "PB103", "name-says-nothing", Severity.WARNING
    explanation = Explanation(
        why="The name is what a model remembers of a tool and what search weighs most; one that fits every tool finds "
        "none.",
        bad="process_data",
        good="import_orders",
        remedy="Name the tool after what it does and to what: a verb and a noun.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where no word tells anything."""
        words = [word for word in name_words(spec.name.name) if not word.isdecimal()]
        if words and all(word.rstrip("0123456789") in _VAGUE | _EMPTY for word in words):
            yield self.finding(spec, f"The name {spec.name.name} could be any tool's: name what it does, and to what.")


class MixedStyles(Rule):
    """A name that is written in another style than most others of its namespace."""

    code, name, severity = "PB104", "mixed-name-styles", Severity.INFO
    explanation = Explanation(
        why="Models infer the spelling of names from their neighbours; the odd one out is misspelled.",
        bad="list_issues, get_issue, createIssue",
        good="list_issues, get_issue, create_issue",
        remedy="Rename your tool; a foreign one keeps its name.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each tool that is off the style of at least three quarters of its namespace."""
        for specs in among.namespaces.values():
            styles = {spec.name: style_of(spec.name.name) for spec in specs}
            known = Counter(style for style in styles.values() if style)
            usual, count = known.most_common(1)[0] if known else ("", 0)
            if count < 3 or count * 4 < sum(known.values()) * 3:
                continue
            for spec in specs:
                style = styles[spec.name]
                if style and style != usual:
                    yield self.finding(spec, f"The name is in {style}, most others of its namespace in {usual}.")


class EmptyWords(Rule):
    """A word in the name that says nothing, such as `API` or `tool`."""

    code, name, severity = "PB105", "empty-word-in-name", Severity.INFO
    explanation = Explanation(
        why="Names are short; a word that stands before every tool pushes what tells them apart to the end, and costs "
        "tokens in every call.",
        bad="API-get-user",
        good="get-user",
        remedy="Leave the word out. The namespace says already whose tool it is.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a name that begins or ends with such a word."""
        words = name_words(spec.name.name)
        if spec.name.name in _META or len(words) < 2:
            return
        odd = next((word for word in (words[0], words[-1]) if word in _EMPTY), None)
        if odd and len(set(words) - _EMPTY) > 0 and not _is_subject(spec, odd):
            yield self.finding(spec, f"The word {odd!r} in the name says nothing that its namespace does not say.")


class NamedLikeMeta(Rule):
    """A tool that has the name of one of the board's own meta-tools."""

    code, name, severity = "PB106", "named-like-a-meta-tool", Severity.WARNING
    explanation = Explanation(
        why="Agents look for tools with `tool_search` and its kin; another tool of that name is "
        "called in its place, or "
        "hides it.",
        bad="tool_search (of a server)",
        good="search_tools_catalog",
        remedy="Rename your tool, or give the source a `prefix`, so that its wire name differs.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a foreign tool of such a name."""
        if among.board and spec.name.name in _META and spec.source.kind != "builtin":
            yield self.finding(spec, f"{spec.name.name} is the name of a tool that the board itself has.")


def style_of(name: str) -> str | None:
    """How the words of a name are joined; None for a name of one word or of several styles."""
    return next((style for style, pattern in _STYLES.items() if pattern.fullmatch(name)), None)


def _is_subject(spec: ToolSpec, word: str) -> bool:
    """Whether the word is what the tool is about (`list_tools`, `call_api`): a verb stands right before it."""
    words = name_words(spec.name.name)
    return words[-1] == word and is_verb(words[-2])


NAMES = (NotPortable, LooksLikeAnother, SaysNothing, MixedStyles, EmptyWords, NamedLikeMeta)
