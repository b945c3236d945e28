"""What one run of code may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run of code may take; the first limit that it meets ends it or refuses the call.

    Parameters:
        timeout_ms: milliseconds from its start, without the time in which a person is asked for a yes.
        max_calls: how many calls of tools it may make; further ones fail in the code.
        at_once: how many of them run at the same time; others wait.
        max_memory_mb: megabytes of the code's own values.
        max_output: bytes of the returned value, and of the arguments of one call, as JSON.
        max_log: characters of what it logs; the rest is dropped.
        log_tail: characters of the log's end that are shown.
        max_reply: bytes of the answer of one call, as JSON; a larger one fails in the code.
    """

    timeout_ms: int = 60_000
    max_calls: int = 1000
    at_once: int = 16
    max_memory_mb: int = 64
    max_output: int = 1_000_000
    max_log: int = 64_000
    log_tail: int = 4_000
    max_reply: int = 8_000_000

    @property
    def seconds(self) -> float:
        """`timeout_ms` in seconds."""
        return self.timeout_ms / 1000
