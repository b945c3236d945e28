"""Ids of Runtype's tools and models as names of ours, and back."""

import re
from collections.abc import Mapping

from pegboard.config.runtype.finding import Findings, Weight
from pegboard.schema.types import Json

ACCOUNT = re.compile(r"(?:tool|agent|flow|mcp)_(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{6,}")
"""An id of one account; it has a digit, as the name of a tool rarely has."""
_PROVIDERS = (
    (re.compile(r"gpt-|o\d|chatgpt"), "openai"),
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gemini-"), "google-gla"),
    (re.compile(r"mistral-|codestral"), "mistral"),
    (re.compile(r"grok-"), "grok"),
)


def tool_name(id: Json, renamed: Mapping[str, str]) -> str | None:
    """The tool of ours that an id means; None for an id of one account, which means nothing elsewhere.

    Parameters:
        id: `tool:NAME`, `mcp:SERVER:TOOL`, `builtin:NAME`, `agent:NAME`, `flow:NAME`, or a bare name.
        renamed: by id, what stands for it.
    """
    if not isinstance(id, str) or not id.strip():
        return None
    if id in renamed:
        return renamed[id]
    kind, colon, rest = id.partition(":")
    if not colon:
        return None if ACCOUNT.fullmatch(id) else id
    if kind == "mcp":
        server, mark, tool = rest.partition(":")
        return f"{server}.{tool}" if mark else f"{server}.*" if server != "*" else "kind:mcp"
    return rest or None


def selector(id: str, renamed: Mapping[str, str]) -> str | None:
    """The selector of ours that an id or a pattern of ids means; None for an id of one account."""
    if id == "*":
        return "*"
    if id == "mcp:*":
        return id
    found = tool_name(id, renamed)
    return None if found is None else found.replace("kind:mcp", "mcp:*")


def tool_id(name: str, sources: Mapping[str, str]) -> str:
    """The id of a tool of ours.

    Parameters:
        name: its full name, or a selector.
        sources: by namespace, the kind of its source.
    """
    if name == "*" or name.startswith("mcp:"):
        return name
    namespace, dot, rest = name.partition(".")
    if dot and sources.get(namespace) == "mcp":
        return f"mcp:{namespace}:{rest}"
    return f"tool:{name}"


def model_name(given: Json, findings: Findings, at: tuple[str | int, ...]) -> str:
    """A model as `provider:name`."""
    if not isinstance(given, str) or not given.strip():
        findings.refuse("MODEL_MISSING", at, "It names no model.", "Write the model's name.")
        return ""
    if ":" in given:
        return given
    for pattern, provider in _PROVIDERS:
        if pattern.match(given):
            return f"{provider}:{given}"
    findings.say(
        Weight.CHANGED, "MODEL_UNMAPPED", at, f"Whose model {given!r} is, is not known here.", 'Write "provider:name".'
    )
    return given


def bare_model(given: str) -> str:
    """`provider:name` as Runtype writes it, where the name tells the provider."""
    provider, colon, name = given.partition(":")
    known = next((each for pattern, each in _PROVIDERS if pattern.match(name)), None)
    return name if colon and known == provider else given
