"""Pegboard: one tool board for LLM agents. Find, choose, call and trust tools from anywhere."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.core import (
        Call,
        Effects,
        Failure,
        FailureCode,
        Freeform,
        Log,
        Mode,
        Progress,
        Report,
        Result,
        Rung,
        Session,
        Source,
        Tool,
        ToolName,
        ToolSpec,
    )
    from pegboard.define import (
        Audio,
        File,
        Image,
        Link,
        Text,
        ToolError,
        ToolFunction,
        first,
        instead,
        then,
        tool,
    )
    from pegboard.errors import PegboardError

# Where each public name lives: it is imported when it is first used, so that `import pegboard` stays quick.
_HOMES = {
    "Board": "board",
    **dict.fromkeys(("Call", "Effects", "Failure", "FailureCode", "Freeform", "Log", "Mode", "Progress"), "core"),
    **dict.fromkeys(("Report", "Result", "Rung", "Session", "Source", "Tool", "ToolName", "ToolSpec"), "core"),
    **dict.fromkeys(("Audio", "File", "Image", "Link", "Text", "ToolError", "ToolFunction"), "define"),
    **dict.fromkeys(("first", "instead", "then", "tool"), "define"),
    "PegboardError": "errors",
}

__all__ = [
    "Audio",
    "Board",
    "Call",
    "Effects",
    "Failure",
    "FailureCode",
    "File",
    "Freeform",
    "Image",
    "Link",
    "Log",
    "Mode",
    "PegboardError",
    "Progress",
    "Report",
    "Result",
    "Rung",
    "Session",
    "Source",
    "Text",
    "Tool",
    "ToolError",
    "ToolFunction",
    "ToolName",
    "ToolSpec",
    "first",
    "instead",
    "then",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
