"""What a person answers, and who can be asked."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from pegboard.approval.request import Request
from pegboard.schema.types import Json, JsonObject


class Choice(StrEnum):
    """The answers that there are."""

    ALLOW_ONCE = "allow_once"
    ALLOW_SESSION = "allow_session"
    ALLOW_ALWAYS = "allow_always"
    DENY = "deny"
    DENY_SESSION = "deny_session"
    DENY_ALWAYS = "deny_always"

    @property
    def allows(self) -> bool:
        """Whether it is a yes."""
        return self in (Choice.ALLOW_ONCE, Choice.ALLOW_SESSION, Choice.ALLOW_ALWAYS)

    @property
    def lasts(self) -> bool:
        """Whether it is remembered beyond the one question."""
        return self not in (Choice.ALLOW_ONCE, Choice.DENY)


class By(StrEnum):
    """Over which channel an answer came."""

    ELICITATION = "elicitation"
    CLI = "cli"
    RESPONSES = "responses"
    CODE = "code"
    CONSOLE = "console"
    GRANT = "grant"
    """Nobody was asked: an earlier answer was remembered."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One answer to one request.

    Parameters:
        choice: what was chosen.
        by: over which channel.
        at: Unix time in seconds; 0 where the desk is to fill it in.
        arguments: edited arguments, to run the call with instead of its own.
        exact: whether a lasting yes holds for these very arguments only.
        expires: when a lasting answer ends, Unix time in seconds; None for never.
        note: what the person said.
        grant: the id of the remembered answer, where it is one.
    """

    choice: Choice
    by: str = By.CODE
    at: float = 0.0
    arguments: JsonObject | None = None
    exact: bool = False
    expires: float | None = None
    note: str = ""
    grant: str | None = None

    @property
    def allows(self) -> bool:
        """Whether it is a yes."""
        return self.choice.allows

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Decision":
        """Read what `to_json` wrote.

        Raises:
            ValueError: it is damaged.
        """
        try:
            found: dict[str, Any] = {**row, "choice": Choice(row["choice"])}
            return cls(**found)
        except (KeyError, TypeError) as problem:
            raise ValueError(f"The stored decision is damaged: {problem}") from problem


Approver: TypeAlias = Callable[[Request], Awaitable[Decision | None]]
"""Asks a person. None: nobody can be asked here, so the next one is tried."""
