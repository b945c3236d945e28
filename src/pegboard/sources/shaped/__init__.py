"""Tools in another shape than their source gives them: parameters and answers renamed, hidden, fixed, mapped."""

from pegboard.sources.shaped.shape import Shape, Shaping
from pegboard.sources.shaped.source import shaped
from pegboard.sources.shaped.tool import reshape

__all__ = ["Shape", "Shaping", "reshape", "shaped"]
