"""How the pipeline finds what a call is about; the board injects it."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pegboard.core import Tool, ToolName, ToolSpec

ToolOf: TypeAlias = Callable[[ToolName], Tool | None]
"""The tool of a full name in the current catalog."""

SpecOf: TypeAlias = Callable[[ToolName], ToolSpec | None]
"""The spec of a tool that is on the board, by its full name."""

Nearest: TypeAlias = Callable[[ToolName], Sequence[str]]
"""The names that an unknown one most resembles, best first."""
