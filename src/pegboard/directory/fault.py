"""What can go wrong when something is installed, and who hears how it goes."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from pegboard.errors import PegboardError


class InstallError(PegboardError):
    """Something could not be installed; whatever had been put down for it is gone again."""


Tell: TypeAlias = Callable[[str], Awaitable[object]]
"""Hears what is being done, for progress."""
