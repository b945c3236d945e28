"""Tools made of tools: each is an ordinary tool, and calls its parts through the board's pipeline."""

from pegboard.compose.batch import Batch, Undo, batch
from pegboard.compose.bind import Bound, Composite, Unbound, bind, bind_strictly
from pegboard.compose.upstream import UpstreamFunction, UpstreamTool

__all__ = [
    "Batch",
    "Bound",
    "Composite",
    "Unbound",
    "Undo",
    "UpstreamFunction",
    "UpstreamTool",
    "batch",
    "bind",
    "bind_strictly",
]
