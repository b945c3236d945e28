"""Tools made of tools: each is an ordinary tool, and calls its parts through the board's pipeline."""

from pegboard.compose.batch import Batch, Undo, batch
from pegboard.compose.bind import Bound, Composite, bind, bind_strictly
from pegboard.compose.bundle import Bundle
from pegboard.compose.fill import arguments, fill
from pegboard.compose.gather import Branch
from pegboard.compose.merge import Merge, key, rank, union
from pegboard.compose.scatter import Scatter, scatter
from pegboard.compose.script import Step, bundle
from pegboard.compose.succession import Succession, succeeded_by
from pegboard.compose.upstream import UpstreamFunction, UpstreamTool
from pegboard.core.draft import Unbound

__all__ = [
    "Batch",
    "Bound",
    "Branch",
    "Bundle",
    "Composite",
    "Merge",
    "Scatter",
    "Step",
    "Succession",
    "Unbound",
    "Undo",
    "UpstreamFunction",
    "UpstreamTool",
    "arguments",
    "batch",
    "bind",
    "bind_strictly",
    "bundle",
    "fill",
    "key",
    "rank",
    "scatter",
    "succeeded_by",
    "union",
]
