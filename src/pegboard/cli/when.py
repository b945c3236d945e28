"""Points in time, as people write them."""

import re
from datetime import UTC, datetime
from time import time

from pegboard.errors import ConfigError

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def moment(text: str | None, *, now: float | None = None) -> float | None:
    """The Unix time that a text means: a span before now (`90m`, `12h`, `7d`, `2w`), or a date or time (ISO 8601).

    A date or time without a zone is local.

    Raises:
        ConfigError: it means none.
    """
    if text is None:
        return None
    found = _SPAN.fullmatch(text.strip().lower())
    if found:
        return (time() if now is None else now) - float(found[1]) * _UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC).timestamp()
    except (ValueError, OverflowError) as problem:
        step = "Write a span such as 90m, 12h or 7d, or a date such as 2026-05-31."
        raise ConfigError(f"{text!r} is no point in time.", where="--since", next_step=step) from problem


def span(text: str, *, where: str) -> float:
    """The seconds that a text means (`90m`, `12h`, `7d`, `2w`).

    Parameters:
        text: the text.
        where: the option that it was given to, for the error.

    Raises:
        ConfigError: it means none.
    """
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        raise ConfigError(f"{text!r} is no span of time.", where=where, next_step="Write for example 90m, 12h or 7d.")
    return float(found[1]) * _UNITS[found[2]]


def clock_time(seconds: float | None) -> str:
    """A Unix time as the clock on the wall shows it."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
