"""PB5 of registries: entries that say what they need and what they are about, and an install tool "
"that gives reasons."""

from collections.abc import Iterator

from pegboard.check.finding import Finding, Severity
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset, is_composite
from pegboard.core import ToolSpec
from pegboard.schema.types import as_list, as_object

_FIELDS = {
    "category": ("category", "categories"),
    "auth": ("auth", "auth_requirements", "authRequirements", "auth_required", "authentication", "requires_auth"),
}
"""What an entry has to say, and the keys under which other registries say it."""


def _has(spec: ToolSpec, field: str) -> bool:
    own = getattr(spec, field) is not None
    return own or any(key in spec.meta and spec.meta[key] not in (None, "") for key in _FIELDS[field])


class NotRegistered(Rule):
    """An entry of the registry without a category, or without what one has to be signed in to."""

    code, name, severity, fixable = "PB509", "registry-entry-incomplete", Severity.INFO, True
    explanation = Explanation(
        why="`list_available_tools(category)` cannot list what has none, and an agent learns of a "
        "missing sign-in from a "
        "failure.",
        bad='{"name": "create_invoice", "description": ...}',
        good='{"name": "create_invoice", "category": "billing", "auth": "oauth:stripe"}',
        remedy="`@tool(category=..., auth=...)`; for a foreign tool `category` and `auth` in its override (`auth = "
        '"none"` where it needs no sign-in). `--fix` writes the namespace as category.',
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for a tool of a board, or of a list in which others have them."""
        lacking = [field for field in _FIELDS if not _has(spec, field) and self._asked(field, among)]
        if lacking and not is_composite(spec) and spec.source.kind != "builtin":
            what = " and ".join({"category": "no category", "auth": "no word on the sign-in"}[one] for one in lacking)
            fix = {"category": spec.name.namespace} if "category" in lacking and spec.name.namespace else None
            yield self.finding(spec, f"Its entry in the registry has {what}.", fix=fix, details={"lacking": lacking})

    @staticmethod
    def _asked(field: str, among: Toolset) -> bool:
        listed = (spec for spec in among.specs if spec.source.kind not in ("openapi", "graphql"))
        return among.board or any(_has(spec, field) for spec in listed)


class NoReason(Rule):
    """A tool that asks for an installation without a reason, or is approved like a command."""

    code, name, severity = "PB510", "install-without-reason", Severity.WARNING
    explanation = Explanation(
        why="Whoever is asked has to know why; without a required reason agents ask for whatever "
        "they come across. Tagged "
        "as a plain command, the request gets the wrong dialog.",
        bad='request_plugin_install: {"required": ["tool_id"]}',
        good='request_plugin_install: {"required": ["tool_type", "action_type", "tool_id", "suggest_reason"]}',
        remedy="Require `suggest_reason`; tag the approval `tool_suggestion`.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each fault of a tool called `request_plugin_install`."""
        if spec.name.name != "request_plugin_install":
            return
        if "suggest_reason" not in as_list(spec.input.get("required")):
            yield self.finding(spec, "It does not require suggest_reason.", pointer="/inputSchema/required")
        tags = [meta.get("codex_approval_kind") for meta in (spec.meta, as_object(spec.meta.get("_meta")))]
        wrong = next((tag for tag in tags if tag not in (None, "tool_suggestion")), None)
        if wrong is not None:
            yield self.finding(spec, f"Its approval is tagged {wrong!r}, not tool_suggestion.", pointer="/_meta")


class ReplacesNothing(Rule):
    """A composed tool that replaces a tool which is not here."""

    code, name, severity = "PB511", "replaces-a-missing-tool", Severity.WARNING
    explanation = Explanation(
        why="The atomic tools stay callable for edge cases and point to the bundle; a name that is nobody's points "
        "nowhere.",
        bad="dm_user replaces search_user (there is search_users)",
        good="dm_user replaces search_users, open_dm, send_message",
        remedy="Correct the name, or put the tool on the board.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each name."""
        for name in spec.replaces:
            if name not in among.names:
                yield self.finding(spec, f"It replaces {name}, which is not among the tools.", others=(name,))


REGISTRY = (NotRegistered, NoReason, ReplacesNothing)
