"""What is worked out for every tool at each request, in numpy: what `native/` does, to the last bit, where that is not
compiled. Functions that give arrays fill in those that they are given last.
"""

from pegboard.index.plain.meaning import compared, exact, spread, summed, whole
from pegboard.index.plain.nearest import nearest
from pegboard.index.plain.sure import chances, evidence, odds, told
from pegboard.index.plain.weighed import fused, ordered, weighed
from pegboard.index.plain.words import close, held, matched

__all__ = [
    "chances",
    "close",
    "compared",
    "evidence",
    "exact",
    "fused",
    "held",
    "matched",
    "nearest",
    "odds",
    "ordered",
    "spread",
    "summed",
    "told",
    "weighed",
    "whole",
]
