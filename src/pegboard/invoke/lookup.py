"""How the pipeline finds what a call is about; the board injects it."""

from collections.abc import Callable
from typing import TypeAlias

from pegboard.core import Failure, Tool, ToolName, ToolSpec

ToolOf: TypeAlias = Callable[[ToolName], Tool | None]
"""The tool of a full name in the current catalog."""

SpecOf: TypeAlias = Callable[[ToolName], ToolSpec | None]
"""The spec of a tool that is on the board, by its full name."""

Absent: TypeAlias = Callable[[ToolName], Failure]
"""Why a name means no tool: unknown (with the nearest names), not allowed, its source out of reach."""
