"""PB4, first half: what a call may do to the world, and whether that is said and can be seen before."""

import re
from collections.abc import Iterator

from pegboard.check.finding import Finding, Severity
from pegboard.check.lexicon import DESTROYING, READING, WRITING
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset, is_composite
from pegboard.check.words import lemma, name_words, verb_of
from pegboard.core import Effects, Mode, ToolSpec
from pegboard.index.names import key
from pegboard.schema.types import as_list, as_object

GONE = frozenset(
    {"delete", "destroy", "erase", "expunge", "purge", "remove", "terminate", "truncate", "uninstall", "wipe"}
)
"""Verbs that mean nothing else than that something is gone afterwards; `drop` and `reset` have milder readings."""

_PREVIEWS = frozenset({"dryrun", "preview", "simulate", "whatif", "validateonly", "plan", "checkonly", "previewonly"})
_WRITES_NOT = frozenset({"check", "evaluate", "export", "open", "poll", "select", "simulate", "test", "track", "trace"})
"""Verbs among the reading ones that a tool may honestly not be read-only by."""


class NoPreview(Rule):
    """A destructive tool that cannot show beforehand what it would do."""

    code, name, severity = "PB401", "destructive-without-preview", Severity.ERROR
    explanation = Explanation(
        why="An agent that deletes by a wrong list finds out afterwards. With a preview the same call, with the same "
        "result, changes nothing until its mode is `execute`.",
        bad="@tool(effects=Effects.DESTRUCTIVE)\nasync def delete_files(paths: list[str]) -> Changes: ...",
        good="@delete_files.preview\nasync def _(paths: list[str]) -> Changes: ...",
        remedy="Add a preview with the same parameters and result (`pegboard new tool NAME --preview` shows how). A "
        "foreign tool runs behind an approval, which is why this is only told there; its author can add a `dryRun` "
        "parameter.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a tool of ours; for a foreign one only where its verb says that something is gone after."""
        if not _destroys(spec) or previews(spec):
            return
        if among.is_own(spec):
            yield self.finding(spec, "It is destructive and has no preview: nobody sees beforehand what it changes.")
        elif _verb(spec) in GONE:
            yield self.finding(
                spec,
                "It destroys and offers no dry run; approval is all that stands before it.",
                severity=Severity.INFO,
            )


class UnknownEffects(Rule):
    """A tool that does not say what a call does to the world."""

    code, name, severity, fixable = "PB402", "unknown-effects", Severity.WARNING, True
    explanation = Explanation(
        why="Policy cannot tell reading from deleting: either everything asks for approval, or nothing does. By the "
        "protocol a tool without hints may destroy.",
        bad='{"name": "delete_paragraph"}',
        good='{"name": "delete_paragraph", "annotations": {"readOnlyHint": false, "destructiveHint": true}}',
        remedy="Add MCP annotations (`@tool(effects=...)` in Python). For a foreign tool: `effects` in its override. "
        "`--fix` writes `destructive` where the verb says so; it never guesses that a tool is harmless.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a tool without a word on its effects."""
        hints = {"readOnlyHint", "destructiveHint"} & spec.annotations.keys()
        if spec.effects is Effects.UNKNOWN and not hints and not is_composite(spec):
            worst, mcp = _verb(spec) in GONE, spec.source.kind in ("mcp", "recorded", "file")
            yield self.finding(
                spec,
                (
                    "It does not say what it does to the world"
                    + (" (no readOnlyHint, no destructiveHint)" if mcp else "")
                )
                + (f", and its name says {_verb(spec)!r}." if worst else "."),
                pointer="/annotations",
                fix={"effects": Effects.DESTRUCTIVE.value} if worst else None,
            )


class DestructiveByDefault(Rule):
    """A tool that says it writes and leaves open whether it destroys, which the protocol reads as yes."""

    code, name, severity = "PB403", "destructive-by-default", Severity.INFO
    explanation = Explanation(
        why="In MCP `destructiveHint` is true where it is not written. Hosts ask before each call of a tool that only "
        "adds.",
        bad='{"name": "create_branch", "annotations": {"readOnlyHint": false}}',
        good='{"name": "create_branch", "annotations": {"readOnlyHint": false, "destructiveHint": false}}',
        remedy="Write `destructiveHint`, true or false.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for `readOnlyHint: false` alone."""
        hints = spec.annotations
        if hints.get("readOnlyHint") is False and "destructiveHint" not in hints:
            yield self.finding(
                spec, "It says that it writes, not whether it destroys; hosts take it for destructive.",
                pointer="/annotations",
            )  # fmt: skip


class Contradicts(Rule):
    """Hints that contradict each other, or the name."""

    code, name, severity = "PB404", "contradictory-hints", Severity.WARNING
    explanation = Explanation(
        why="A tool that says it only reads is called without asking. One that says it destroys is asked about each "
        "time, although it searches.",
        bad='{"name": "post-search", "annotations": {"destructiveHint": true}}',
        good='{"name": "post-search", "annotations": {"readOnlyHint": true}}',
        remedy="Correct the hints. For a foreign tool: `effects` in its override; untrusted hints only tighten anyway.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for the first contradiction."""
        hints, verb = spec.annotations, _verb(spec)
        reads, destroys = hints.get("readOnlyHint") is True, hints.get("destructiveHint") is True
        if reads and destroys:
            yield self.finding(spec, "It says that it only reads, and that it destroys.", pointer="/annotations")
        elif reads and (verb in GONE or _saves(spec)):
            said = f"It says that it only reads; its name says {verb or 'save'!r}."
            yield self.finding(spec, said, pointer="/annotations/readOnlyHint")
        elif destroys and _only_reads(spec):
            said = "It says that it destroys; name and description say that it reads."
            yield self.finding(spec, said, pointer="/annotations/destructiveHint")


class MixedEffects(Rule):
    """One tool that both reads and destroys, by an argument."""

    code, name, severity = "PB409", "mixed-effects", Severity.INFO
    explanation = Explanation(
        why="A tool's hints hold for the whole of it. One that lists and deletes is destructive, so "
        "each listing asks for "
        "approval; or, once it is allowed, each deletion goes through.",
        bad='tabs(action: "list" | "create" | "close")',
        good="list_tabs(), and manage_tab(action)",
        remedy="Take the reading part into a tool of its own, with readOnlyHint.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where the values of one parameter are verbs, some that read and some that write or destroy."""
        for name, node in spec.properties.items():
            values = as_list(as_object(node).get("enum"))
            verbs = {
                value: lemma(name_words(value)[0]) for value in values if isinstance(value, str) and name_words(value)
            }
            reads = [value for value, verb in verbs.items() if verb in READING - {"resolve"}]
            writes = [value for value, verb in verbs.items() if verb in GONE or (verb in WRITING and verb != "open")]
            if (
                reads
                and writes
                and len(verbs) >= 2
                and name in _SWITCHES
                and len(reads) + len(writes) >= len(verbs) - 1
            ):
                some = (", ".join(reads[:3]), ", ".join(writes[:3]))
                said = f"By {name} it reads ({some[0]}) and writes ({some[1]}): one hint for both."
                yield self.finding(spec, said, pointer=f"/inputSchema/properties/{name}")


_SWITCHES = frozenset({"action", "method", "operation", "op", "command", "mode", "verb"})
"""Parameters that make one tool several."""


class TakesSecret(Rule):
    """A tool that wants a secret as an argument."""

    code, name, severity = "PB405", "secret-as-argument", Severity.WARNING
    explanation = Explanation(
        why="The secret passes through the model, its provider and every log of the conversation, and the model may be "
        "talked into passing another's.",
        bad="login(user, password)",
        good="login(user) with the password from `${env:...}` or `${file:...}` in the source's table",
        remedy="Take it from the configuration of the server. Where the tool is about a secret of the user's own (to "
        "protect a document), say `format: password`, so that traces mask it.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for the parameters together."""
        found = [name for name, node in spec.properties.items() if _is_secret(name, node)]
        if found:
            said = f"It takes a secret as an argument ({', '.join(found)}): it passes through model and logs."
            yield self.finding(spec, said, pointer=f"/inputSchema/properties/{found[0]}")


def previews(spec: ToolSpec) -> bool:
    """Whether a tool can show what it would do: a mode for it, or a parameter such as `dryRun`."""
    modes = {Mode.PREVIEW.value, Mode.EXPLORE.value}
    named = any(_is_preview(name, node) for name, node in spec.properties.items())
    return bool(modes & set(spec.modes)) or named


def _is_preview(name: str, node: object) -> bool:
    values = {str(value) for value in as_list(as_object(node).get("enum"))}
    return key(name) in _PREVIEWS or bool(values & {"preview", "dry_run", "dryRun", "dry-run"})


def _destroys(spec: ToolSpec) -> bool:
    hinted = spec.annotations.get("destructiveHint") is True and spec.annotations.get("readOnlyHint") is not True
    return spec.effects is Effects.DESTRUCTIVE or hinted


def _verb(spec: ToolSpec) -> str:
    """The verb of a tool's name; empty where it has none."""
    verb = lemma(verb_of(name_words(spec.name.name)) or "")
    return verb if verb in _ALL else ""


def _saves(spec: ToolSpec) -> bool:
    """Whether the name says that something is written, whatever else it says."""
    words = {lemma(word) for word in name_words(spec.name.name)}
    return bool(words & {"save", "write", "update", "create", "send", "insert", "upsert"}) and not words & READING


def _only_reads(spec: ToolSpec) -> bool:
    """Whether name and description both begin with reading, and neither says anything else."""
    verbs = {lemma(word) for word in name_words(spec.name.name)} - {"post", "put", "patch"}
    first = next((lemma(word) for word in re.findall(r"[A-Za-z]+", spec.description) if lemma(word) in _ALL), "")
    said = verbs & _ALL
    return bool(said) and said <= READING - _WRITES_NOT and first in READING - _WRITES_NOT


_ALL = READING | DESTROYING | WRITING
_SECRET = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|secret|api_?key|access_?token|auth_?token|private_?key|credentials?)$"
)


def _is_secret(name: str, node: object) -> bool:
    """Whether a parameter is a secret by its name, and not marked as one."""
    schema = as_object(node)
    marked = schema.get("format") == "password" or schema.get("writeOnly") is True
    return (
        schema.get("type") in ("string", None) and not marked and _SECRET.search("_".join(name_words(name))) is not None
    )


SAFETY = (NoPreview, UnknownEffects, DestructiveByDefault, Contradicts, TakesSecret, MixedEffects)
