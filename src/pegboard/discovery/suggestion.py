"""What an agent says when it asks for something to be installed or enabled, checked before anybody is bothered."""

import re
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType, Failure, FailureCode
from pegboard.errors import nearest
from pegboard.schema.types import JsonObject

WORDS, LETTERS, WIDE = 3, 12, 6
"""A reason is a sentence from so many words and letters on; in scripts without spaces so many characters are one."""
_WORD = re.compile(r"\w+")
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One request of an agent.

    Parameters:
        type: connector or plugin.
        action: install or enable.
        id: what it asks for (`tool_id`).
        reason: why, in its own words; untrusted text for a person's eyes.
    """

    type: DiscoverableType
    action: DiscoverableAction
    id: str
    reason: str

    def outcome(
        self, one: Discoverable | None, *, completed: bool, confirmed: bool, next_step: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """The result of the request, in the shape that agents know.

        Parameters:
            one: what was asked for.
            completed: whether its tools are there, seen by the board itself.
            confirmed: whether a person said yes.
            next_step: what to do now.
            more: further fields.
        """
        found: dict[str, Any] = {
            "completed": completed,
            "user_confirmed": confirmed,
            "tool_type": self.type.value,
            "action_type": self.action.value,
            "tool_id": self.id,
            "tool_name": one.name if one is not None else self.id,
            "suggest_reason": self.reason,
            **more,
        }
        return {**found, "next_step": next_step} if next_step else found


def read_suggestion(arguments: JsonObject) -> Suggestion | Failure:
    """The request in a call's arguments, or what is wrong with it."""
    type = arguments.get("tool_type")
    action = arguments.get("action_type")
    if type not in set(DiscoverableType):
        return _invalid("/tool_type", "unknown_type", f"There is no type {type!r}.", "Write connector or plugin.")
    if action not in set(DiscoverableAction):
        return _invalid("/action_type", "unknown_action", f"There is no action {action!r}.", "Write install or enable.")
    id = str(arguments.get("tool_id") or "").strip()
    if not id:
        return _invalid("/tool_id", "unknown_id", "tool_id is blank.", "Take it from what tool_search offers.")
    reason = " ".join(str(arguments.get("suggest_reason") or "").split())
    if not is_sentence(reason):
        return _invalid(
            "/suggest_reason",
            "blank_reason" if not reason else "no_sentence",
            "A person decides by the reason, and this is none." if reason else "The reason is blank.",
            "Say in a whole sentence what the user wants to do and why nothing here does it.",
        )
    return Suggestion(DiscoverableType(type), DiscoverableAction(action), id, reason)


def is_sentence(text: str) -> bool:
    """Whether a text says something: words that differ, of letters, in any script."""
    letters = [character for character in text if category(character).startswith("L")]
    if len(set(letters)) < LETTERS // 3:
        return False
    if len([character for character in letters if _SPACELESS.match(character)]) >= WIDE:
        return True
    words = {word.lower() for word in _WORD.findall(text) if any(map(str.isalpha, word))}
    return len(words) >= WORDS and len(letters) >= LETTERS


def unknown_id(asked: Suggestion, known: list[str], other: DiscoverableType | None) -> Failure:
    """Nothing of this type has the id that was asked for.

    Parameters:
        asked: the request.
        known: the ids that there are.
        other: the type that does have it, if one does.
    """
    if other is not None:
        message = f"{asked.id!r} is a {other.value}, not a {asked.type.value}."
        return _invalid("/tool_type", "wrong_type", message, f"Ask again with tool_type {other.value}.")
    near = nearest(asked.id, known) or [id for id in known if id.rpartition("/")[2] == asked.id][:1]
    step = f"Did you mean {' or '.join(near)}?" if near else "Take an id from what tool_search offers; none is made up."
    return _invalid("/tool_id", "unknown_id", f"No directory has a {asked.type.value} {asked.id!r}.", step, near)


def wrong_action(asked: Suggestion, one: Discoverable) -> Failure:
    """What is asked for has to be brought in the other way."""
    state = "is on the board, and switched off" if one.action is DiscoverableAction.ENABLE else "is not on the board"
    message = f"{one.name} {state}."
    return _invalid("/action_type", "wrong_action", message, f"Ask again with action_type {one.action.value}.")


def refused(code: FailureCode, reason: str, message: str, next_step: str, **more: Any) -> Failure:
    """A request that is not put to a person, with the reason as a word for code."""
    return Failure(code, message, next_step=next_step, details={"reason": reason, **more})


def _invalid(where: str, reason: str, message: str, next_step: str, candidates: list[str] | None = None) -> Failure:
    details: dict[str, Any] = {"reason": reason, **({"candidates": candidates} if candidates else {})}
    return Failure(FailureCode.INVALID_ARGUMENTS, message, where, next_step, details=details)
