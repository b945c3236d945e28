"""Asking the person at the caller's end by a form (MCP elicitation, form mode: flat fields only)."""

import json
from collections.abc import Mapping
from typing import Any

from pegboard.approval.decision import Approver, By, Choice, Decision
from pegboard.approval.foreign import SHOWN, plain, shown
from pegboard.approval.request import Item, Kind, Request
from pegboard.core import Call, Effects
from pegboard.schema.types import JsonObject

APPROVAL_KEY = "pegboard/approval"
"""Where the `_meta` of a question says, as data, what it is about."""
LISTED = 20
"""Calls of one request that are written out; the others are counted."""

_WORDS = {
    Choice.ALLOW_ONCE: "Allow once",
    Choice.ALLOW_SESSION: "Allow for this session",
    Choice.ALLOW_ALWAYS: "Allow always",
    Choice.DENY: "Deny",
    Choice.DENY_SESSION: "Deny for this session",
    Choice.DENY_ALWAYS: "Deny always",
}
_MADE = (("version", "version"), ("by", "publisher"), ("from the directory", "directory"))
_EFFECTS = {
    Effects.READ_ONLY: "It only reads.",
    Effects.ADDITIVE: "It adds something.",
    Effects.IDEMPOTENT: "It changes something; twice is as once.",
    Effects.DESTRUCTIVE: "It may change or destroy something for good.",
    Effects.UNKNOWN: "What it does to the world is not known.",
}


def by_elicitation(call: Call) -> list[Approver]:
    """The person at the end of a call's caller, where its client can ask."""
    ask = call.ask
    if ask is None:
        return [_announced(call)]

    async def approve(request: Request) -> Decision | None:
        meta = {**request.tags, APPROVAL_KEY: {"id": request.id, "kind": request.kind.value}, **_suggested(request)}
        reply = await ask(question(request), form(request), meta)
        return None if reply is None else answer_of(request, reply.action, reply.content)

    return [approve]


def _announced(call: Call) -> Approver:
    """Asks nobody, but says over the call's progress what it waits for."""

    async def approve(request: Request) -> None:
        if call.progress is not None:
            await call.progress(0, None, f"Waiting for a person: pegboard approvals allow {request.id}")

    return approve


def question(request: Request) -> str:
    """The request in words. What others wrote stands in quotes, without hidden characters, and capped."""
    first, more = request.items[0], request.items[1:]
    lines = [_asked(request), *_target(request, first)]
    if more:
        lines.append(f"It makes {len(more)} calls that need a yes, and this covers exactly them:")
        lines += [f"- {plain(item.tool, 200)} {shown(item.arguments, 200)}" for item in more[:LISTED]]
        lines += [f"- and {len(more) - LISTED} more, listed by: pegboard approvals show {request.id}"][
            : len(more) > LISTED
        ]
    if request.reason:
        lines.append(f'The model says why (its own words, unchecked): "{request.reason}"')
    lines.append(f"Request {request.id}.")
    return "\n".join(lines)


def _asked(request: Request) -> str:
    who = f'"{request.agent}"' if request.agent else "An agent"
    if request.kind is Kind.TOOL_SUGGESTION:
        action = plain(request.details.get("action_type", "install"), 20)
        return f"{who} suggests to {action} {plain(request.details.get('tool_name') or request.subject, 200)}."
    return f"{who} wants to call {plain(request.subject, 200)}."


def _target(request: Request, item: Item) -> list[str]:
    if request.kind is Kind.TOOL_SUGGESTION:
        return [
            f"Id: {plain(request.subject, 200)}",
            *([f'It says: "{plain(item.description, 200)}"'] * bool(item.description)),
            *_terms(request.details),
        ]
    lines = [f"Arguments: {shown(item.arguments)}", _EFFECTS[item.effects]]
    return [*lines, f'The tool says: "{plain(item.description, 200)}"'] if item.description else lines


def _terms(details: Mapping[str, Any]) -> list[str]:
    """What a suggestion would bring, from whom, and what it may do."""
    made = [f"{word} {plain(details[key], 100)}" for word, key in _MADE if details.get(key)]
    lines = [f"It is {', '.join(made)}."] if made else []
    lines += [f"It {plain(one, 200)}." for one in details.get("permissions", ())[:LISTED]]
    return [*lines, f"It needs a sign-in: {plain(details['auth'], 100)}."] if details.get("auth") else lines


def _suggested(request: Request) -> Mapping[str, Any]:
    """What codex's clients read of a suggestion stands flat beside its tag."""
    return request.details if request.kind is Kind.TOOL_SUGGESTION else {}


def form(request: Request) -> JsonObject:
    """The form: a choice, and where that is possible the arguments as text to edit."""
    options = [{"const": choice.value, "title": _WORDS[choice]} for choice in Choice]
    fields: dict[str, Any] = {
        "decision": {"type": "string", "title": "Decision", "oneOf": options, "default": Choice.ALLOW_ONCE.value}
    }
    text = json.dumps(request.items[0].arguments, ensure_ascii=True, default=str) if request.editable else ""
    if 0 < len(text) <= SHOWN:  # what cannot be read whole cannot be edited
        fields["arguments"] = {
            "type": "string",
            "title": "Arguments",
            "description": "The arguments as JSON; change them to let the call run with others, once.",
            "default": text,
        }
    return {"type": "object", "properties": fields}


def answer_of(request: Request, action: str, content: Mapping[str, Any]) -> Decision:
    """What a reply means. Only an accepted form says yes; one that cannot be read says no."""
    if action != "accept":
        note = "" if action == "decline" else "The question was dismissed."
        return Decision(choice=Choice.DENY, by=By.ELICITATION, note=note)
    chosen = content.get("decision", Choice.ALLOW_ONCE.value)
    if not isinstance(chosen, str) or chosen not in set(Choice):
        return Decision(choice=Choice.DENY, by=By.ELICITATION, note=f"The answer {plain(chosen, 80)!r} is no choice.")
    choice = Choice(chosen)
    edited = _edited(request, content.get("arguments"))
    if edited is not None and choice.allows:
        return Decision(choice=Choice.ALLOW_ONCE, by=By.ELICITATION, arguments=edited)
    return Decision(choice=choice, by=By.ELICITATION)


def _edited(request: Request, text: Any) -> JsonObject | None:
    """The arguments where they were changed; what is no JSON object stands as a text that no schema admits."""
    if not request.editable or not isinstance(text, str) or not text.strip():
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return text  # type: ignore[return-value]
    return None if found == request.items[0].arguments else found
