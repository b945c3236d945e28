"""PB3, first half: what a description says, and what it leaves out."""

import re
from collections.abc import Iterator

from pegboard.check.finding import Finding, Severity
from pegboard.check.lexicon import word_set
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset
from pegboard.check.words import first_verb, is_latin, name_words, telling
from pegboard.core import ToolSpec
from pegboard.index.text import stems
from pegboard.schema.text import size
from pegboard.schema.types import as_list, as_object

LONG = 1024
"""Characters above which older OpenAI deployments refuse a description; others read on, and pay."""

_RETURNS = re.compile(
    r"\b(return|result|respon[sd]|output|give[sn]?\b|yield|produc|report|content|answer|contain|includ|receiv|"
    r"confirm|echo|json|markdown|html|text|list|id\b|ids\b|url|link|path|handle|status|summary|count|number)",
    re.IGNORECASE,
)
_MAKING = word_set(
    """book build capture commit compile convert create deploy draw execute export generate import make open order
    provision publish record register render request run schedule start submit train transform translate trigger
    upload"""
)
"""Verbs after which there is something new, which the caller wants to get hold of."""
_STATUS = re.compile(r"^\s*(?:[-*]\s*)?[1-5]\d\d\s*:.*$", re.MULTILINE)
_HEADING = re.compile(r"^\s*(?:error\s+)?responses?\s*:?\s*$", re.IGNORECASE | re.MULTILINE)


class Empty(Rule):
    """A tool without a description."""

    code, name, severity, fixable = "PB301", "no-description", Severity.ERROR, True
    explanation = Explanation(
        why="A model cannot tell whether the tool fits, and search finds it by its name only. Pegboard fills in title, "
        "schema text or name, and marks it; that is a makeshift.",
        bad='description = ""',
        good='description = "List the pipelines of the warehouse, by status. Returns name, status and last run."',
        remedy='Write one. For a foreign tool write it into the config: `[override."ns.tool"]`, `description`.',
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where there is none."""
        if not spec.description.strip():
            title = (spec.title or "").strip()
            made = title or " ".join(name_words(spec.name.name)).capitalize()
            yield self.finding(spec, "It has no description.", pointer="/description",
                               fix={"description": f"{made.rstrip('.')}."})  # fmt: skip


class TooLong(Rule):
    """A description above the cap of the platform that it is for."""

    code, name, severity = "PB302", "description-too-long", Severity.WARNING
    explanation = Explanation(
        why="What stands above the cap is cut, and every request pays for what stands below. Caps are the policy of "
        "platforms: 1,000 bytes for agent plugins, 1,024 characters on older OpenAI deployments, 500 characters on "
        "Runtype; choose one with `--cap`.",
        bad="a page of manual",
        good="what it does, when to use it, what it returns: three sentences; the rest at the parameters",
        remedy="Move what is about one parameter to it, hints into `hints`, examples into `examples`. Pegboard cuts at "
        "a sentence and moves hints and notes to parameters and errors by itself.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding above the chosen cap; without one, a mild one above 1,024 characters."""
        limit, unit = among.cap or (LONG, "characters")
        length = size(spec.description, unit)
        if length > limit:
            mild = None if among.cap else Severity.INFO
            said = f"The description has {length:,} {unit}; the cap is {limit:,}."
            yield self.finding(
                spec, said, pointer="/description", severity=mild, details={"size": length, "unit": unit}
            )


class NoVerb(Rule):
    """A description that does not say what the tool does: there is no verb in it."""

    code, name, severity = "PB303", "description-without-verb", Severity.WARNING
    explanation = Explanation(
        why='Requests are made of verbs ("cancel my order"); a noun alone does not say whether the tool shows, makes '
        "or deletes the thing.",
        bad="Pipelines of the warehouse.",
        good="List the pipelines of the warehouse.",
        remedy="Begin the description with what the tool does.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a description in Latin letters that holds no verb that tools are described with."""
        if spec.description.strip() and _english(spec.description) and first_verb(spec.description) is None:
            yield self.finding(spec, "The description does not say what the tool does: it has no verb.",
                               pointer="/description")  # fmt: skip


class RepeatsName(Rule):
    """A description that says no more than the name."""

    code, name, severity = "PB304", "description-repeats-name", Severity.INFO
    explanation = Explanation(
        why="The name is read anyway. What it works on, when to use it and what comes back stay unsaid.",
        bad="handle_dialog: Handle a dialog.",
        good="handle_dialog: Accept or dismiss the dialog that the page has opened (alert, confirm, prompt).",
        remedy="Say what the name cannot: on what, when, and what comes back.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where each telling word stands in the name or title, or is the name's verb again."""
        said = telling(spec.description)
        known = set(stems(name_words(f"{spec.name.namespace} {spec.name.name} {spec.title or ''}")))
        if said and is_latin(spec.description) and all(word in known or word in _COPULAS for word in said):
            yield self.finding(spec, "The description says no more than the name.", pointer="/description")


class NoReturn(Rule):
    """A tool that makes something and does not say what comes back: no output schema, no word in the description."""

    code, name, severity = "PB305", "return-not-said", Severity.INFO
    explanation = Explanation(
        why="An agent plans with what a tool returns: whether it gets the new id, or has to ask for it.",
        bad="create_issue: Create an issue.",
        good="create_issue: Create an issue. Returns its number and address.",
        remedy="Add a sentence, or an output schema.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a tool that makes something; of a reading tool the verb says what comes back."""
        verb = among.said[str(spec.name)].verb
        if (
            spec.output is None
            and verb in _MAKING
            and _english(spec.description)
            and not _RETURNS.search(spec.description)
        ):
            yield self.finding(spec, "It does not say what comes back.", pointer="/description")


class SilentParameters(Rule):
    """Parameters without a description."""

    code, name, severity = "PB306", "parameters-not-described", Severity.INFO
    explanation = Explanation(
        why="A model fills in what it understands; search reads the parameters' descriptions, too.",
        bad='{"q": {"type": "string"}}',
        good='{"q": {"type": "string", "description": "Words to look for in title and body."}}',
        remedy="Describe each: what it is, in which form, what happens without it.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a tool of which at least half of the parameters say nothing, itself excepted."""
        silent = [name for name, node in spec.properties.items() if not _speaks(as_object(node))]
        if spec.freeform is None and len(silent) * 2 >= max(2, len(spec.properties)):
            names = ", ".join(silent[:6]) + (" ..." if len(silent) > 6 else "")
            said = f"{_counted(len(silent), len(spec.properties))} no description: {names}."
            yield self.finding(spec, said, pointer="/inputSchema/properties", details={"parameters": silent})


class ProtocolNoise(Rule):
    """A description that lists HTTP status codes or other text that a generator left in it."""

    code, name, severity, fixable = "PB307", "protocol-in-description", Severity.WARNING, True
    explanation = Explanation(
        why='It costs tokens in each request, and search finds the tool for "bad request".',
        bad="Retrieve a user\\nError Responses:\\n400: Bad request",
        good="Retrieve a user.",
        remedy="Drop it at the generator; the failure itself says what went wrong. `--fix` writes the rest of the text "
        "into the config.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a text with lines of status codes."""
        lines = _STATUS.findall(spec.description)
        if lines:
            rest = re.sub(r"\n{2,}", "\n", _HEADING.sub("", _STATUS.sub("", spec.description))).strip()
            said = f"The description lists status codes ({lines[0].strip()[:40]}): no model chooses a tool by them."
            yield self.finding(spec, said, pointer="/description", fix={"description": rest} if rest else None)


def _counted(silent: int, of: int) -> str:
    return "Its only parameter has" if of == 1 else f"{silent} of {of} parameters {'has' if silent == 1 else 'have'}"


_COPULAS = frozenset(stems(("allow", "enabl", "enable", "let", "perform", "help", "provid", "provide", "current")))
_PROSE = word_set("a an the of to for in on with and or by from is are this that your it as at")


def _english(text: str) -> bool:
    """Whether a text is English as far as its little words tell: what the list of verbs can judge."""
    found = re.findall(r"[a-z]+", text.casefold())
    little = sum(word in _PROSE for word in found)
    return is_latin(text) and text.isascii() and (little > 0 or len(found) < 6)


def _speaks(node: dict[str, object]) -> bool:
    """Whether a parameter says what it is: by a description or its values."""
    return bool(node.get("description") or as_list(node.get("enum")) or "const" in node)


DESCRIPTIONS = (Empty, TooLong, NoVerb, RepeatsName, NoReturn, SilentParameters, ProtocolNoise)
