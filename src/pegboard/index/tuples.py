"""Named tuples that are made by the thousand."""

from collections.abc import Callable
from typing import Any

new: Callable[..., Any] = tuple[Any, ...].__new__
"""Makes a named tuple of a class from all its parts, in half the time that the call of the class takes."""
