"""What changed between two definitions of a tool, and whether its callers will notice."""

from pegboard.schema.diff.definition import diff_definitions, verdict
from pegboard.schema.diff.difference import Difference, Side, Weight
from pegboard.schema.diff.schemas import diff_schemas

__all__ = ["Difference", "Side", "Weight", "diff_definitions", "diff_schemas", "verdict"]
