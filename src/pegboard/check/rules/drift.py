"""PB6: what changed since it was locked, and what is on its way out without saying so to machines."""

import re
from collections.abc import Iterator

from pegboard.check.finding import Finding, Fix, Severity
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset
from pegboard.check.words import sentences
from pegboard.core import ToolSpec, definition
from pegboard.schema.diff import Difference, Weight, diff_definitions, verdict

_SUCCESSOR = re.compile(
    r"\b(?:use|call|prefer|see|replaced by|in favou?r of|superseded by)\s+(?:the\s+)?[`'\"]?([A-Za-z]\w*(?:[_.-]\w+)*)",
    re.IGNORECASE,
)
_LEAVING = re.compile(r"\bdeprecated\b|\bobsolete\b|\bno longer (?:maintained|supported)\b", re.IGNORECASE)
_OF_ITSELF = re.compile(
    r"^\W*(?:deprecated|obsolete)\b|[.!\n]\s*\W*(?:deprecated|obsolete)\b|"
    r"\bthis (?:tool|function|endpoint|method|api) is (?:now )?(?:deprecated|obsolete|no longer)",
    re.IGNORECASE,
)


class _Changed(Rule):
    """A tool that changed in place. The subclasses say how heavily."""

    weight: Weight

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a tool whose heaviest difference from the lock is of this weight."""
        locked = (among.lock or {}).get(str(spec.name))
        if locked is None:
            return
        found = diff_definitions(locked, definition(spec))
        if verdict(found) is self.weight:
            first = next(one for one in found if one.weight is self.weight)
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            said = f"Changed in place since it was locked: {first.message}{more}."
            details = {"differences": [_row(difference) for difference in found]}
            yield self.finding(spec, said, pointer=first.pointer, details=details)


class BreakingChange(_Changed):
    """A tool that changed under its old name and version in a way that breaks its callers."""

    code, name, severity, weight = "PB601", "breaking-change-in-place", Severity.ERROR, Weight.BREAKING
    explanation = Explanation(
        why="Prompts, bundles, grants and cached definitions were made for the old tool and fail on the new one, or do "
        "more harm than was agreed to.",
        bad="send_email: `to` becomes a list",
        good="send_email_v2 beside send_email, which is deprecated with a note",
        remedy="Version it: in the name or in `version`; run both for a while. For a foreign tool look at the "
        "differences, then lock it anew (`pegboard check --write-lock`).",
    )


class CompatibleChange(_Changed):
    """A tool that changed under its old name and version without breaking anyone."""

    code, name, severity, weight = "PB602", "change-in-place", Severity.WARNING, Weight.COMPATIBLE
    explanation = Explanation(
        why="Whatever worked goes on working, but what was agreed to is no longer what is there.",
        bad="search: one more optional parameter, lock as before",
        good="the same, locked anew",
        remedy="Look at the differences and lock it anew (`pegboard check --write-lock`).",
    )


class WordsChanged(_Changed):
    """A tool of which only the words changed."""

    code, name, severity, weight = "PB603", "words-changed", Severity.INFO, Weight.DOCS
    explanation = Explanation(
        why="Models choose by the words, and a description is where a server that has turned hostile begins.",
        bad="a description with one more sentence, lock as before",
        good="the same, read and locked anew",
        remedy="Read the new text and lock it anew (`pegboard check --write-lock`).",
    )


class Removed(Rule):
    """A tool that was locked and is gone."""

    code, name, severity = "PB604", "tool-removed", Severity.WARNING
    explanation = Explanation(
        why="Whoever calls it by name fails, without a note on what to call instead.",
        bad="send_email is gone, send_email_v2 is there",
        good="send_email, deprecated with the note: use send_email_v2",
        remedy="Keep it for a while, deprecated; or lock anew (`pegboard check --write-lock`).",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each."""
        here = {str(spec.name) for spec in among.specs}
        for name in among.lock or {}:
            if name not in here:
                yield self.finding(name, "It was locked and is gone.")


class NotLocked(Rule):
    """A tool that is not in the lock file."""

    code, name, severity = "PB605", "tool-not-locked", Severity.INFO
    explanation = Explanation(
        why="Its changes will not be noticed.",
        bad="a new tool, lock as before",
        good="the same, locked",
        remedy="Look at it, then `pegboard check --write-lock`.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where there is a lock without it."""
        if among.lock is not None and str(spec.name) not in among.lock:
            yield self.finding(spec, "It is not in the lock file.")


class DeprecatedInWords(Rule):
    """A tool that is deprecated in its description only."""

    code, name, severity, fixable = "PB606", "deprecated-in-words", Severity.WARNING, True
    explanation = Explanation(
        why="Only a reader learns of it: search still offers the tool, lists still pay for it, and "
        "nothing points to its "
        "successor when it is called.",
        bad='description = "Reads a file. DEPRECATED: use read_text_file."',
        good='deprecated = "Use read_text_file."',
        remedy="`@tool(deprecated=...)`. For a foreign tool: `deprecated` in its override, or `deny` "
        "it. `--fix` writes "
        "the note into the config.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for such a tool."""
        if spec.deprecated is not None or not _OF_ITSELF.search(spec.description):
            return
        start = next(iter(_LEAVING.finditer(spec.description)), None)
        rest = spec.description[start.start() :] if start else spec.description
        found = _SUCCESSOR.search(rest)
        known = found is not None and found[1] in among.names - {*spec.aliases, spec.name.name}
        note = f"Use {found[1]} instead." if found and known else next(iter(sentences(rest)), rest)[:200]
        successor = _full(found[1], spec, among) if found and known else None
        values = {"successor": successor} if successor else {"note": note}
        fix = Fix(str(spec.name), values, "deprecated")
        others = (successor,) if successor else ()
        yield self.finding(spec, f"It is deprecated in words only. {note}", others=others, fix=fix)


def _full(name: str, spec: ToolSpec, among: Toolset) -> str:
    """The full name that a description means by a bare one: its neighbour's first."""
    near = [other for other in among.namespaces[spec.name.namespace] if name in (other.name.name, str(other.name))]
    return str((near or [other for other in among.specs if name in (other.name.name, str(other.name))])[0].name)


def _row(difference: Difference) -> dict[str, object]:
    return {"weight": difference.weight.value, "pointer": difference.pointer, "message": difference.message}


DRIFT = (BreakingChange, CompatibleChange, WordsChanged, Removed, NotLocked, DeprecatedInWords)
