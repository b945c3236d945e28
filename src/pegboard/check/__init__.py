"""A linter for sets of tools: what a model would choose or call worse than it could, and how to put it right."""

from typing import TYPE_CHECKING

from pegboard.check.finding import Finding, Fix, Severity, statistics

if TYPE_CHECKING:
    from pegboard.check.run import check
    from pegboard.check.toolset import Toolset

__all__ = ["Finding", "Fix", "Severity", "Toolset", "check", "statistics"]


def __getattr__(name: str) -> object:
    if name == "check":
        from pegboard.check.run import check

        return check
    if name == "Toolset":
        from pegboard.check.toolset import Toolset

        return Toolset
    raise AttributeError(name)
