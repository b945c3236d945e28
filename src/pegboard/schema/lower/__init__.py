"""Lowering: from a tool's own schema to what one provider accepts, lossless first, every loss reported."""

from pegboard.schema.lower.dialects import DIALECTS, dialect
from pegboard.schema.lower.kept import lower_once
from pegboard.schema.lower.run import Lowered, lower
from pegboard.schema.lower.work import Loss

__all__ = ["DIALECTS", "Loss", "Lowered", "dialect", "lower", "lower_once"]
