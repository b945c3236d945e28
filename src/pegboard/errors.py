"""Exceptions that a developer or operator can cause. A tool's failure is a value (`core.call.Failure`), not one."""

from collections.abc import Iterable
from difflib import get_close_matches


class PegboardError(Exception):
    """Something was used or configured wrongly.

    Parameters:
        message: what is wrong, in one sentence.
        where: the place: a file, a key, a JSON pointer.
        next_step: what to do about it.
    """

    def __init__(self, message: str, *, where: str | None = None, next_step: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f" {self.next_step}" if self.next_step else ""
        return f"{place}{self.message}{remedy}"


class ConfigError(PegboardError):
    """A `pegboard.toml`, or a file that it names, cannot be used as it stands."""


class DefinitionError(PegboardError):
    """A tool, bundle, chain or selector is defined in a way that cannot work."""


class SourceError(PegboardError):
    """A source could not be opened or listed; the board goes on without it."""


class StoreError(PegboardError):
    """The store could not be read or written."""


class MissingExtraError(PegboardError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, extra: str, *, feature: str) -> None:
        super().__init__(
            f"{feature} needs the extra {extra!r}.",
            next_step=f'Install it with: pip install "pegboard[{extra}]"',
        )
        self.extra = extra


def nearest(name: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """The known names that resemble `name`, best first; for `did you mean` in errors."""
    return get_close_matches(name, sorted(known), n=limit, cutoff=0.6)
