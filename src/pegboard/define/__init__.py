"""Define tools from Python functions."""

from pegboard.define.content import Audio, Content, File, Image, Link, Text
from pegboard.define.error import ToolError
from pegboard.define.function import ToolFunction, tool
from pegboard.define.hint import first, instead, then

__all__ = [
    "Audio",
    "Content",
    "File",
    "Image",
    "Link",
    "Text",
    "ToolError",
    "ToolFunction",
    "first",
    "instead",
    "then",
    "tool",
]
