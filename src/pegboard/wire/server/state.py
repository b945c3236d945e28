"""The `requestState` of a call that waits for a reply (MCP 2026-07-28): opaque, sealed, and good for a while."""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_bytes, token_urlsafe
from typing import Literal, TypeAlias

Fate: TypeAlias = Literal["sound", "expired", "foreign"]
"""What a state is that a client sent: one of ours, one of ours that is too old, or none of this process."""


@dataclass(frozen=True)
class Seal:
    """Makes states and tells them from forged ones; its key lives as long as the process.

    Parameters:
        seconds: how long a state is good.
        clock: the time, in seconds since 1970.
    """

    seconds: float = 3600.0
    clock: Callable[[], float] = time.time
    _key: bytes = field(default_factory=lambda: token_bytes(32), repr=False)

    def make(self) -> str:
        """A new state, which says nothing and which nobody can guess."""
        body = f"{token_urlsafe(18)}.{int(self.clock() + self.seconds)}"
        return f"{body}.{self._mark(body)}"

    def fate(self, state: str) -> Fate:
        """What a state is that a client sent back."""
        body, _, mark = state.rpartition(".")
        if not hmac.compare_digest(mark.encode("utf-8", "replace"), self._mark(body).encode()):
            return "foreign"
        return "sound" if int(body.rpartition(".")[2]) > self.clock() else "expired"

    def _mark(self, body: str) -> str:
        return hmac.new(self._key, body.encode("utf-8", "replace"), sha256).hexdigest()[:32]
